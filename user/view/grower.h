/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The phase of a process that brought in most memory. */
#ifndef PEAKPHASE_VIEW_GROWER_H
#define PEAKPHASE_VIEW_GROWER_H

#include "view/source.h"

/*
 * The one with the largest growth; within it, the innermost that has at least half of that: an
 * outer span grew by all that its inner ones did. Without where. 1 found, 0 none, -errno.
 */
int grower_find(const struct report_source *src, uint64_t mm_id, struct phase *out);

#endif
