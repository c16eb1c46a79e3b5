/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/verdict_facts.h"

#include <string.h>
#include <time.h>

#include "resolve/held.h"

/* A process that crossed a limit lives on; an OOM kill's record names the cgroup itself. */
static void find_owner(struct verdict *v, const struct cgroup_mount *m)
{
	char own[PATH_MAX], owner[PATH_MAX];
	size_t len;

	if (v->cgroup_len || v->kind == VD_OOM)
		return;
	if (cgroup_of("/proc", (pid_t)v->pid, m, own) ||
	    cgroup_ancestor(own, v->limit_level, owner))
		return;
	len = strlen(owner);
	if (len > EV_CGROUP_MAX)
		return;
	memcpy(v->cgroup, owner, len);
	v->cgroup_len = (uint32_t)len;
}

static void read_held(struct verdict *v, const struct cgroup_mount *m)
{
	char path[EV_CGROUP_MAX + 1];
	struct cgroup_held held;
	struct timespec now;

	memcpy(path, v->cgroup, v->cgroup_len);
	path[v->cgroup_len] = '\0';
	/* One that was cut does not begin with a slash. */
	if (path[0] != '/' || cgroup_held(m, path, &held))
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	v->held = (struct verdict_held){
	    .read_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec,
	    .cache = held.cache,
	    .mapped = held.mapped,
	    .shmem = held.shmem,
	    .kernel = held.kernel,
	};
}

void verdict_facts(struct verdict *v)
{
	struct cgroup_mount m;

	if (v->kind == VD_SIGNAL || v->cgroup_len > EV_CGROUP_MAX)
		return;
	if (cgroup_mount_find("/proc", "", &m))
		return;
	find_owner(v, &m);
	if (v->kind != VD_CEILING)
		read_held(v, &m);
}
