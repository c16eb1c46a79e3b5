/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where cgroup hierarchies are mounted. Private to user/resolve/cgroup*.c. */
#ifndef PEAKPHASE_RESOLVE_CGROUP_MOUNTS_H
#define PEAKPHASE_RESOLVE_CGROUP_MOUNTS_H

#include <stddef.h>

#include "resolve/cgroup.h"

#define CGROUP_NUMBER_UNKNOWN UINT32_MAX

struct cgroup_hierarchy {
	bool v2, memory;
	uint32_t number;    /* the kernel's own, as in /proc/PID/cgroup; 0: v2 */
	char dir[PATH_MAX]; /* mount point, sysroot in front */
	char top[PATH_MAX]; /* the cgroup that is mounted there: "/" unless in a container */
};

/* Every one that is mounted, in the order of the mounts. fn returns 0 to go on. */
int cgroup_hierarchies(const char *proc, const char *sysroot,
		       int (*fn)(void *, const struct cgroup_hierarchy *), void *ctx);

/* Is name one of the comma-separated words of list? */
bool cgroup_has_word(const char *list, size_t len, const char *name);

#endif
