/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the memory cgroups of traced processes are called, by number: path and container. Each is
 * looked up once, by a process that is in it; the next one that asks for it may be gone already.
 * One thread.
 */
#ifndef PEAKPHASE_RESOLVE_CGROUP_NAMES_H
#define PEAKPHASE_RESOLVE_CGROUP_NAMES_H

#include <stdint.h>
#include <sys/types.h>

#include "resolve/container.h"

struct cgroup_names;

struct cgroup_named {
	const char *path; /* within its hierarchy; any bytes */
	const struct container
	    *in; /* NULL: in no container that is known; good until the next call */
};

/* root stands in front of every path: "" or a fixture. NULL: no memory. */
struct cgroup_names *cgroup_names_new(const char *root);
void cgroup_names_free(struct cgroup_names **n);

/*
 * Names of cgroup id, which pid is in. 1: filled in, for the first time; 0: as told before, or not
 * to be told, because pid has ended or left it; -ENOMEM.
 */
int cgroup_names_get(struct cgroup_names *n, uint64_t id, pid_t pid, struct cgroup_named *out);

#endif
