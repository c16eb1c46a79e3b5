/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Cgroups of any hierarchy, as a person names them: the folder, or the path within a hierarchy. 0
 * or -errno, thread-safe, no state; proc and sysroot as in cgroup.h.
 */
#ifndef PEAKPHASE_RESOLVE_CGROUP_PLACE_H
#define PEAKPHASE_RESOLVE_CGROUP_PLACE_H

#include "resolve/cgroup.h"

#define CGROUP_DEPTH_MAX 64

struct cgroup_place {
	char dir[PATH_MAX];  /* its folder, sysroot in front */
	char path[PATH_MAX]; /* within the hierarchy: "/docker/3f2a…" */
	uint32_t hierarchy;  /* the kernel's number of it; 0: v2 */
	uint64_t id;	     /* inode of the folder: the kernel's number of the cgroup */
};

/*
 * text: "/sys/fs/cgroup/memory/docker/3f2a" (a folder), "/docker/3f2a" or "docker/3f2a" (in the
 * hierarchy of the memory controller, else in any that has it: v2 first). -ENOENT: there is none.
 */
int cgroup_place_find(const char *proc, const char *sysroot, const char *text,
		      struct cgroup_place *out);

/* The same for one that need not be there yet: where it would be. Its id is 0. */
int cgroup_place_expect(const char *proc, const char *sysroot, const char *text,
			struct cgroup_place *out);

/*
 * Every process in it and in the cgroups below, by number in the namespace of this /proc; a process
 * that is on its way from one to another may come twice, or not. fn returns 0 to go on. -ENOENT: it
 * is gone.
 */
int cgroup_each_process(const char *proc, const char *dir, int (*fn)(void *, pid_t), void *ctx);

#endif
