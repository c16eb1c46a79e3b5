/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lines from what programs write, and the marks among them. Pure; one thread.
 *
 * Lines are put together for each open file and thread, since fragments of threads interleave.
 * Where a line does not match, but other threads wrote in between, what came after the last of them
 * is tried alone, and what another thread had begun together with it (stdio hands a buffer's rest
 * to whoever flushes it). What is still no line of a pattern then is counted.
 *
 * A mark belongs to a write: to the last one with an edge that begins before the end of its match.
 */
#ifndef PEAKPHASE_MODEL_LINES_H
#define PEAKPHASE_MODEL_LINES_H

#include "model/writes.h"

#define LINE_MAX_BYTES 16384u /* the rest of a longer line is not looked at */

struct lines;

struct lines_counts {
	uint64_t lines;	      /* that were matched against the patterns */
	uint64_t marks;	      /* matches */
	uint64_t interleaved; /* lines put together across other threads' fragments */
	uint64_t torn;	      /* lines in pieces that could not be put together, or lost in part */
	uint64_t relayed;     /* of the marks, those that another process had before: none here */
	uint64_t together;    /* of the marks, those that came at the instant of one before */
	uint64_t cut;	      /* lines longer than LINE_MAX_BYTES */
	uint64_t gave_up;     /* matches that took too long */
	uint64_t dropped;     /* marks without an edge, or for which there was no room */
};

/* patterns stay the caller's. NULL: no memory. */
struct lines *lines_new(struct patterns *patterns);
void lines_free(struct lines **l);

/* 0, -ENOMEM. */
int lines_output(struct lines *l, const struct ev_output *out);

enum lines_state {
	LINES_UNSEEN, /* not all of the write has come */
	LINES_OPEN,   /* a line with bytes of it has no end yet */
	LINES_DONE,
};
enum lines_state lines_state(const struct lines *l, uint64_t write);
/* Takes the open lines with bytes of this write as they stand. */
void lines_force(struct lines *l, uint64_t write);
/*
 * The marks of the write whose edge this is, in their order, but those that it only passes on;
 * valid until the next call. The write is settled by that.
 */
const struct out_mark *lines_take(struct lines *l, const struct event *ev, size_t *n);
/* The process ended: forgets all of it. */
void lines_drop(struct lines *l, uint64_t mm_id);

const struct lines_counts *lines_counts(const struct lines *l);

#endif
