/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The phase that brought in most memory before a verdict. */
#ifndef PEAKPHASE_VIEW_GROWER_H
#define PEAKPHASE_VIEW_GROWER_H

#include "view/around.h"

struct grower {
	const struct around_row *row; /* whose phase it is */
	struct phase ph;	      /* without where */
	uint64_t bytes;		      /* by the moment of the verdict */
};

/*
 * Of all that were there and share what ran out, the phase with the largest growth until then;
 * within it, the innermost that has at least half of that: an outer span grew by all that its inner
 * ones did. Of one that went on: by how much the RSS was above that at its begin. 1 found, 0 none,
 * -errno.
 */
int grower_find(const struct around *a, const struct verdict *v, struct grower *out);

#endif
