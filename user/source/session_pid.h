/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The pid namespace of the tracer. Private to session.
 *
 * All pids of a session are those of the tracer's own namespace; the kernel's programs keep
 * processes by the numbers of the first one.
 */
#ifndef PEAKPHASE_SOURCE_SESSION_PID_H
#define PEAKPHASE_SOURCE_SESSION_PID_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Is our pid namespace another one than the first? -ENOTSUP (said): the /proc that is mounted shows
 * the pids of another namespace than ours, so that no pid can be told from another.
 */
int session_pid_nested(const char *proc, bool *nested);

struct peakphase;

/* The kernel's own tgid of process pid. -ESRCH: not to be seen from here. */
int session_pid_global(struct peakphase *skel, pid_t pid, uint32_t *tgid);

#endif
