/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Private to live*.c: what the tracer tells the sink's process. */
#ifndef PEAKPHASE_SINK_LIVE_PRIVATE_H
#define PEAKPHASE_SINK_LIVE_PRIVATE_H

#include <stdbool.h>

enum live_message {
	LIVE_RECORDING = 'r', /* and its path: it is there */
	LIVE_FINAL = 'f',     /* it is complete and closed */
};

/*
 * The process. token: an eventfd, of which one is taken while the recording is open: who closes it
 * last takes its log away, and that has to be the tracer.
 */
void __attribute__((noreturn))
live_process(int socket, int token, const char *place, int (*become)(void));

#endif
