/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a person wants traced, as they name it: processes, programs by name, containers, cgroups. A
 * target is looked up by name, and then gives the processes that are in it at the moment.
 */
#ifndef PEAKPHASE_SOURCE_TARGET_H
#define PEAKPHASE_SOURCE_TARGET_H

#include "resolve/cgroup_place.h"

enum target_kind { TARGET_PID, TARGET_COMM, TARGET_CONTAINER, TARGET_CGROUP };

struct target {
	enum target_kind kind;
	const char *text; /* as it was given; TARGET_PID: pid */
	pid_t pid;  /* TARGET_PID; of a container without a cgroup of its own: its first process */
	bool found; /* it is there, and what follows holds */
	bool whole; /* place is a cgroup that all of the target is in */
	struct cgroup_place place;
	char id[65];	/* of a container, also of one that does not run; "": not known */
	char name[128]; /* for people, not escaped: "docker web-1" */
};

/*
 * Looks for it, once more if it was found before: a container that was started again is in another
 * cgroup. wait: what is not there now may come; then found is false, and 0 is returned. 0, or
 * -ENOENT, -ESRCH, -EINVAL, …, which are said together with what could have been meant.
 */
int target_find(struct target *t, bool wait);

/*
 * Has the session watch its cgroup as soon as that is made: nothing of what then runs in it is
 * missed. What cannot be known beforehand is left to target_find(). 0 or -errno.
 */
struct session;
int target_await(const struct target *t, struct session *s);

/* Its processes now. fn returns 0 to go on. 0, what fn returned, -ENOENT: it is gone. */
int target_each_process(const struct target *t, int (*fn)(void *, pid_t), void *ctx);

#endif
