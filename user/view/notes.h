/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The notes of one process at a time, or what it wrote, each with the phase it belongs to. */
#ifndef PEAKPHASE_VIEW_NOTES_H
#define PEAKPHASE_VIEW_NOTES_H

#include "view/source.h"

struct notes {
	int (*text_of)(void *ctx, const struct note *n, char *buf);
	void *ctx;
	struct note *rows; /* by owner */
	size_t n, cap;
	char *text; /* of one note at a time */
};

/* Those of mm_id in the place of what was there; zeroed before the first time. 0 or -errno. */
int notes_load(struct notes *notes, const struct report_source *src, uint64_t mm_id);
/* The same of what it wrote. */
int notes_load_output(struct notes *notes, const struct report_source *src, uint64_t mm_id);
void notes_free(struct notes *notes);

/* fn for each note of a phase, by time, with its text, until it returns something else than 0. */
int notes_each(struct notes *notes, const struct phase *ph,
	       int (*fn)(void *arg, const struct note *n, const char *text), void *arg);

/* Is what was written in this phase asked for? */
bool output_wanted(const struct report_source *src, const struct phase *ph);

/* Nothing of it was cut off, lost or unreadable. */
bool note_whole(const struct note *n);

#endif
