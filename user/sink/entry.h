/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One sample or phase as one line of JSON. docs/sink.md names the fields. */
#ifndef PEAKPHASE_SINK_ENTRY_H
#define PEAKPHASE_SINK_ENTRY_H

#include <stdio.h>

#include "view/source.h"

struct entry {
	FILE *f;
	char *text; /* of the last row, without a newline */
	size_t len;
	struct report_run run; /* its clocks and options */
};

/* 0 or -ENOMEM. */
int entry_begin(struct entry *r, const struct report_run *run);
void entry_end(struct entry *r);
/* Of CLOCK_MONOTONIC. */
uint64_t entry_wall(const struct entry *r, uint64_t mono_ns);
/* 0 or -ENOMEM. */
int entry_sample(struct entry *r, const struct event *ev);
/* explain: what the program said of it; NULL: nothing. */
int entry_phase(struct entry *r, const struct phase *ph, const char *explain, size_t len);

#endif
