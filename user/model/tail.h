/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The last lines of what was written. Pure. */
#ifndef PEAKPHASE_MODEL_TAIL_H
#define PEAKPHASE_MODEL_TAIL_H

#include <stdbool.h>
#include <stddef.h>

#define TAIL_BYTES 4096u /* the lines are in the last so many bytes */
#define TAIL_LINES 10

struct tail {
	size_t len;
	bool cut; /* there was something before it */
	char bytes[TAIL_BYTES];
};

/* Points into the tail; without its end, and without what '\r' made the terminal write over. */
struct tail_line {
	const char *bytes;
	size_t len;
	bool cut; /* its beginning is missing */
};

void tail_append(struct tail *t, const char *bytes, size_t n);
/* What came before. False: there is no room for more. */
bool tail_prepend(struct tail *t, const char *bytes, size_t n);
/* Bytes are missing at the end: what follows is another beginning. */
void tail_gap(struct tail *t);
/* The last lines, the oldest first, the one without an end among them. Returns how many. */
size_t tail_lines(const struct tail *t, struct tail_line lines[static TAIL_LINES]);

#endif
