/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The command line of a process that ran before it was traced: its base has none, because the
 * kernel's side would have to touch another process's memory. /proc tells.
 */
#ifndef PEAKPHASE_SOURCE_ARGS_H
#define PEAKPHASE_SOURCE_ARGS_H

#include <sys/types.h>

#include "decode/event.h"

/*
 * Fills in the arguments of a base that attaching made; other events stay as they are. A process
 * that has ended or become another program in the meantime keeps what the base has: its name.
 */
void args_of_attached(const char *proc, struct event *ev);

/* The whole command line with spaces between, for people; to be freed. NULL: gone, none, or no
 * memory. */
char *args_text(const char *proc, pid_t pid);

#endif
