/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Asks the kernel itself: each program is loaded alone, nothing is attached, nothing stays. For
 * doctor; needs the capabilities of tracing.
 */
#ifndef PEAKPHASE_SOURCE_TRY_LOAD_H
#define PEAKPHASE_SOURCE_TRY_LOAD_H

#include <stdbool.h>

#include "source/probe.h"

struct try_program {
	const char *name;    /* of the function */
	const char *section; /* what it hangs on: "tp_btf/rss_stat" */
	bool optional;	     /* loaded on demand only (--where) */
	int error;	     /* 0, or -errno */
	const char *why;     /* the verifier's last words, "" if it had none; one line */
};

/* fn returns 0 to go on. 0, -errno where nothing could be tried, or what fn returned. */
int try_load(int (*fn)(void *ctx, const struct try_program *p), void *ctx);

/* Which site of the marker this kernel probes best. 0 or -errno. */
int try_calibrate(struct probe_calibration *out);

#endif
