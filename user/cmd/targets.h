/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What `attach` is to trace: looked for, taken in, and with --wait looked for again. One thread. */
#ifndef PEAKPHASE_CMD_TARGETS_H
#define PEAKPHASE_CMD_TARGETS_H

#include "cmd/trace.h"

struct targets;

/* Looks for all of them. 0, or -errno: said, with what could have been meant. */
int targets_open(struct targets **t, const struct trace_options *opt);
void targets_close(struct targets **t);

/* The first one, for the name of a recording: "web-1", "pid-4242". */
const char *targets_name(const struct targets *t);
/* Is one of them a cgroup? */
bool targets_in_cgroups(const struct trace_options *opt);

/*
 * Takes in every process that is there, its markers first, without a gap to those that come later.
 * Says errors.
 */
int targets_take_in(struct targets *t, struct session *s);
/* Nothing could be taken in: says why. */
int targets_say_none(const struct targets *t);
/*
 * One round: with --wait, looks for what has gone or has not come yet; where the kernel does not
 * tell who comes into a cgroup, looks into it. Takes in what is new. Cheap while there is nothing
 * to do. 0 or -errno (said).
 */
int targets_poll(struct targets *t, struct session *s);

#endif
