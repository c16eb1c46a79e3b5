/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Notes that wait for the phase they belong to, as both come. */
#ifndef PEAKPHASE_SINK_TOLD_H
#define PEAKPHASE_SINK_TOLD_H

#include "model/phase.h"

#define TOLD_MAX 4096		  /* notes that wait; of more the oldest are forgotten */
#define TOLD_NOTE_MAX (8u << 10)  /* bytes of a note that are sent */
#define TOLD_TEXT_MAX (32u << 10) /* of all notes of a phase */

struct told_note;

struct told {
	struct told_note *notes; /* by arrival */
	size_t n, cap;
};

void told_free(struct told *t);
/* A piece of a note. 0 or -ENOMEM. */
int told_add(struct told *t, const struct event *ev);
/*
 * What was told of a phase, a line for each note; they wait no longer. Phases come in the order of
 * their ends: a note is that of the span with its token, else of the phase of its thread that ends
 * first. Returns the bytes in out.
 */
size_t told_take(struct told *t, const struct phase *ph, char out[static TOLD_TEXT_MAX]);

#endif
