/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The probes of one file that are for functions as spans. Private to probe*.c. */
#ifndef PEAKPHASE_SOURCE_PROBE_SPANS_H
#define PEAKPHASE_SOURCE_PROBE_SPANS_H

#include "source/probe.h"

struct probe_spans {
	int *link;
	unsigned int n;
	unsigned int functions;
};

/*
 * Probes what is asked for of an open file, under its name for people; and by which functions it
 * leaves others without a return. 0 or -errno, said.
 */
int probe_spans_attach(const struct probe_programs *prog, enum probe_way way, const char *name,
		       int fd, struct probe_spans *out);

#endif
