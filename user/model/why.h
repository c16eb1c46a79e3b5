/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A peak explained: what the process began with, what each phase had kept by then, and what was
 * brought in within the one that is explained. Rows add up to the peak, to the byte.
 *
 * RSS is known at every edge. The stretch between two boundaries of phases is booked on the
 * innermost phase that was open in it (of phases of several threads the one that began last), so no
 * byte is booked twice. A phase that ended before the peak takes what lies within it on its thread:
 * its row is its `kept` then, unless another thread's phase lay in the same time. What no recorded
 * phase was open for is WHY_UNKNOWN, never spread over the others.
 *
 * Memory: one entry for each phase open at a time, one row for each name, at most WHY_ROWS_MAX.
 */
#ifndef PEAKPHASE_MODEL_WHY_H
#define PEAKPHASE_MODEL_WHY_H

#include "model/name.h"

#define WHY_ROWS_MAX 65536u

enum why_part {
	WHY_INSIDE,  /* the explained phase itself, without what lies within it */
	WHY_INNER,   /* phases within it */
	WHY_SIBLING, /* ended; of its thread, and within the same outer phase, or both in none */
	WHY_EARLIER, /* any other that had ended */
	WHY_OUTER,   /* open, encloses it on its thread */
	WHY_BESIDE,  /* any other that was open */
	WHY_START,   /* RSS that the process began with */
	WHY_OTHERS,  /* of names beyond the first WHY_ROWS_MAX */
	WHY_UNKNOWN, /* no phase is recorded for it: lost, or still open */
	WHY_PARTS,
};

struct why_row {
	enum why_part part;
	uint64_t phases;    /* of that name; 0: it is not about phases */
	int64_t bytes;	    /* less than 0: it gave back what others had brought in */
	unsigned int order; /* of the first of them */
	bool overlaps, exact;
	const struct name *name; /* NULL where phases is 0; valid until why_free() */
};

struct why;

/*
 * peak of p, or of explained, which was open then (NULL: no recorded phase was). Those two are
 * copied. 0 or -ENOMEM.
 */
int why_begin(struct why **w, const struct process *p, const struct peak *peak,
	      const struct phase *explained);
/* Its phases by start, outer before inner. 0, 1: no later one matters, -ENOMEM. */
int why_phase(struct why *w, const struct phase *ph);
/* Rows, largest first; those of 0 bytes are left out, but not the explained phase's. 0 or -ENOMEM.
 */
int why_end(struct why *w, const struct why_row **rows, size_t *n);
/* Sum of the rows of a part. */
int64_t why_sum(const struct why *w, enum why_part part);
void why_free(struct why **w);

#endif
