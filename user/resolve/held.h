/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a memory cgroup is charged for that shows in no process's RSS. Thread-safe, no state. */
#ifndef PEAKPHASE_RESOLVE_HELD_H
#define PEAKPHASE_RESOLVE_HELD_H

#include "resolve/cgroup.h"

#define CGROUP_UNKNOWN UINT64_MAX

/* Bytes, of the cgroup and all below it; CGROUP_UNKNOWN where this kernel does not tell. */
struct cgroup_held {
	uint64_t cache;	 /* of files, shared memory included */
	uint64_t mapped; /* the part that some process has mapped: in an RSS after all */
	uint64_t shmem;	 /* the part that is shared memory or tmpfs */
	uint64_t kernel; /* page tables, stacks, slab */
};

/* 0; -ENOENT: gone, or outside what is mounted here; -errno. */
int cgroup_held(const struct cgroup_mount *m, const char *path, struct cgroup_held *out);

#endif
