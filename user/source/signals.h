/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Signals as a file descriptor, so that the loop that polls the rings also hears them.
 *
 * What was ignored when we were started (nohup, background jobs) stays ignored and is not heard.
 * SIGPIPE is blocked as well: writes to a reader that has gone return EPIPE instead of ending
 * the trace. To be opened before the first thread is made (threads inherit the mask), and after
 * the command was forked.
 */
#ifndef PEAKPHASE_SOURCE_SIGNALS_H
#define PEAKPHASE_SOURCE_SIGNALS_H

#include <signal.h>
#include <sys/signalfd.h>

struct signals {
	int fd; /* to be polled; -1: closed */
	sigset_t before;
};

/* SIGINT, SIGQUIT, SIGTERM and SIGHUP arrive on s->fd from now on. 0 or -errno. */
int signals_open(struct signals *s);
/* 1 and *si, 0 when none is left, or -errno. */
int signals_next(struct signals *s, struct signalfd_siginfo *si);
/* From now on they do what they did before; what is pending and unread does it at once. */
void signals_close(struct signals *s);

/*
 * For attach: 1 when the tracing is to end, else 0, or -errno; *signo is the signal. A request
 * closes s, so that a second one ends the tracer at once, by the signal itself.
 */
int signals_stop(struct signals *s, int *signo);

#endif
