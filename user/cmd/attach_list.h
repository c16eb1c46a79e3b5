/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef PEAKPHASE_CMD_ATTACH_LIST_H
#define PEAKPHASE_CMD_ATTACH_LIST_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/* Containers, and processes that have markers, for people or as JSON. Returns an exit status. */
int attach_list(bool json, FILE *f);

/* One of them: a container that runs, or a process. Strings are good until fn returns. */
struct attach_choice {
	const char *container; /* its id; NULL: a process */
	pid_t pid;
	const char *text; /* for people: one line, escaped */
};

/* Calls fn for each; it returns 0 to go on. 0, what fn returned, or -errno. */
int attach_each_choice(int (*fn)(void *, const struct attach_choice *), void *ctx);

#endif
