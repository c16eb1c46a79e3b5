/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The live view: a thread of its own that reads keys and draws, so that neither waits for tracing,
 * nor tracing for a terminal that is stopped. In batch mode it prints plain frames instead.
 *
 * One thread opens, asks and closes. To be opened when signals that others want are blocked.
 */
#ifndef PEAKPHASE_VIEW_TOP_SCREEN_H
#define PEAKPHASE_VIEW_TOP_SCREEN_H

#include "view/top/board.h"

struct screen_options {
	struct board *board;
	bool batch, ascii, mono;
	bool recording;	   /* what is shown has its time in it, not the clock's */
	uint64_t delay_ns; /* between frames */
	uint64_t frames;   /* in batch mode; 0: until the end */
	int rows, cols;	   /* in batch mode */
};

struct screen;

/* Can it be drawn here? Says why not: no terminal, or one that cannot move its cursor. */
int screen_check(void);
/* Says errors: no terminal, or one that cannot move its cursor. 0 or -errno. */
int screen_open(struct screen **s, const struct screen_options *opt);
/* Readable when the user has had enough, or all frames are printed. */
int screen_fd(const struct screen *s);
bool screen_done(const struct screen *s);
/* Everything is known now: of a batch, the last frame may be printed. */
void screen_complete(struct screen *s);
/* Ends the thread, restores the terminal, prints what was said meanwhile. Nulls *s. */
void screen_close(struct screen **s);

#endif
