/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * --on-cross: a shell command of the user's, run with facts in its environment.
 *
 * A helper process, forked while there are still the privileges to become the user, starts the
 * commands and reaps them, so that tracing never waits for one. Its shell gets the user's own
 * words; what comes from traced programs is in variables only.
 */
#ifndef PEAKPHASE_SOURCE_ONCROSS_H
#define PEAKPHASE_SOURCE_ONCROSS_H

#include <stdbool.h>
#include <stddef.h>

#include "source/command.h"

#define ONCROSS_RUNNING_MAX 8 /* commands at one time; others wait in the socket */
#define ONCROSS_FACTS_MAX 4096

struct oncross;

/*
 * Forks the helper; before the first thread and before privileges are dropped. It runs shell
 * commands as who called sudo, else as we are. inherit: signals and limits of the commands. out:
 * descriptor that they print to. Says errors. 0 or -errno.
 */
int oncross_start(struct oncross **o, const char *command, const struct command_inherit *inherit,
		  int out);

/*
 * facts: strings, a NUL behind each, "NAME=value" or "NAME" to unset it. Never waits. False: too
 * many wait already, or the helper is gone.
 */
bool oncross_run(struct oncross *o, const char *facts, size_t len);

/* Commands that run go on. Nulls *o; NULL is fine. */
void oncross_stop(struct oncross **o);

#endif
