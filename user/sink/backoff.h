/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* When to try again, and when to give up. Pure: the time and the dice are the caller's. */
#ifndef PEAKPHASE_SINK_BACKOFF_H
#define PEAKPHASE_SINK_BACKOFF_H

#include <stdbool.h>
#include <stdint.h>

#define BACKOFF_FIRST_NS 200000000ull /* 0.2 s, twice as long after each failure, up to */
#define BACKOFF_MOST_NS 5000000000ull /* 5 s */

struct backoff {
	unsigned int failures; /* in a row */
	uint64_t next_ns;      /* not before; 0: now */
	uint64_t since_ns;     /* of the last success, or the beginning: for giving up */
};

static inline void backoff_begin(struct backoff *b, uint64_t now_ns)
{
	*b = (struct backoff){.since_ns = now_ns};
}

static inline void backoff_success(struct backoff *b, uint64_t now_ns)
{
	backoff_begin(b, now_ns);
}

/*
 * dice: any random number. The wait is between half and all of its length, so that many that lost
 * one server do not come back to it at one time.
 */
static inline void backoff_failure(struct backoff *b, uint64_t now_ns, uint32_t dice)
{
	unsigned int shift = b->failures < 16 ? b->failures : 16;
	uint64_t most = BACKOFF_FIRST_NS << shift;

	if (most > BACKOFF_MOST_NS)
		most = BACKOFF_MOST_NS;
	b->failures++;
	b->next_ns = now_ns + most / 2 + (most / 2 * dice >> 32);
}

/* How long to wait at now_ns: 0, it may be tried. */
static inline uint64_t backoff_wait(const struct backoff *b, uint64_t now_ns)
{
	return b->next_ns > now_ns ? b->next_ns - now_ns : 0;
}

/* No success for so long. */
static inline bool backoff_over(const struct backoff *b, uint64_t now_ns, uint64_t patience_ns)
{
	return b->failures && now_ns - b->since_ns >= patience_ns;
}

#endif
