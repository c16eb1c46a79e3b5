/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A value over time in bounded memory: buckets of equal width that hold its smallest, largest and
 * last value. When they run out, pairs are merged and the width doubles, so that no extreme is
 * ever lost, only its moment blurs. Values are kept in KiB, up to 4 TiB.
 *
 * The value stays what it was last until it changes. Not thread-safe.
 */
#ifndef PEAKPHASE_VIEW_TOP_SERIES_H
#define PEAKPHASE_VIEW_TOP_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SERIES_WIDTH_NS 250000u /* of a bucket, at first */

struct series_bucket {
	uint32_t min, max, last; /* KiB; min > max: nothing here but what was before */
};

struct series {
	uint64_t t0, width; /* ns */
	uint64_t last_ns, last;
	size_t n, room, cap;
	struct series_bucket *b;
};

/* cap: buckets at most, even, at least 2. Nothing is allocated before the first value. */
void series_init(struct series *s, uint64_t t0_ns, size_t cap);
void series_free(struct series *s);

/* The value is bytes from ns on. An earlier ns than the last counts as series_touch(). 0, -ENOMEM.
 */
int series_put(struct series *s, uint64_t ns, uint64_t bytes);
/* It was bytes at ns, for a moment. */
int series_touch(struct series *s, uint64_t ns, uint64_t bytes);

/* Smallest and largest value in [from, to). False: before the first value. */
bool series_range(const struct series *s, uint64_t from, uint64_t to, uint64_t *min, uint64_t *max);
/* The last value not after ns: to a bucket. 0 before the first. */
uint64_t series_at(const struct series *s, uint64_t ns);

#endif
