/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Decisions of the BPF side as pure functions, compiled for BPF and for the host, where the unit
 * tests are. No kernel type, no helper, no loop without a bound.
 */
#ifndef PEAKPHASE_LOGIC_H
#define PEAKPHASE_LOGIC_H

#include "peakphase/wire.h"

/*
 * A window's number and its maximum in one word, so that one compare-and-exchange takes the
 * maximum and starts the next window: no raise can fall between. 40 bits of pages are 4 PiB.
 */
#define PP_WORD_PAGES 40

static inline pp_u64 word_make(pp_u64 seq, pp_u64 pages)
{
	return (seq << PP_WORD_PAGES) | (pages & ((1ull << PP_WORD_PAGES) - 1));
}

static inline pp_u64 word_pages(pp_u64 word)
{
	return word & ((1ull << PP_WORD_PAGES) - 1);
}

static inline pp_u64 word_seq(pp_u64 word)
{
	return word >> PP_WORD_PAGES;
}

/* Counters of pages can be seen below zero for a moment while CPUs fold; pages cannot. */
static inline pp_u64 pages_of(pp_s64 v)
{
	pp_s64 negative = v >> 63; /* all ones, or none */

	/* Without a branch, and hidden from the compiler: each would double what the verifier
	 * checks. */
	__asm__ volatile("" : "+r"(negative));
	return (pp_u64)(v & ~negative);
}

/* The larger one; for numbers below 2^63. */
static inline pp_u64 larger(pp_u64 a, pp_u64 b)
{
	return b + pages_of((pp_s64)(a - b));
}

static inline pp_u64 rss_of(const pp_s64 value[PP_NMEMBERS])
{
	return pages_of(value[PP_FILE]) + pages_of(value[PP_ANON]) + pages_of(value[PP_SHMEM]);
}

/*
 * How many pages one event on this CPU folded into the shared count of a percpu_counter.
 *
 * The counter adds to the CPU's local part until that would reach ±batch; then all of it is folded
 * into the shared count and the local part is 0. So a local part other than 0 tells by itself that
 * nothing was folded. At 0, either the local part came back to 0, or it was folded: then the shared
 * count has moved by what we have not accounted yet (`unseen`). Other CPUs may have folded into the
 * count an instant ago as well, their event still to come: single pages fold at exactly batch, so a
 * multiple of it is one page of ours (the shadow lacked one) and the rest of theirs, unless the mm
 * has one thread only (`alone`): then all of it is ours.
 *
 * What the event is about is then what the local part moved by, and the fold.
 */
static inline pp_s64 folded(pp_s64 local, pp_s64 shadow, pp_s64 unseen, pp_s64 batch, int alone)
{
	if (local != 0)
		return 0;
	if (!alone && shadow == batch - 1 && unseen > 0 && unseen % batch == 0)
		return batch;
	if (!alone && shadow == 1 - batch && unseen < 0 && -unseen % batch == 0)
		return -batch;
	return unseen;
}

#define PP_HUGE_PAGES 512 /* of 4 KiB */

/*
 * The pages of an event's amount that its own thread moved. A settling takes a CPU's local part
 * back to 0 a moment before it accounts the shared count that the part was folded into: an event
 * between the two finds no shadow, nothing local, and one or more whole batches. Single pages fold
 * so, and one of them is its own; the rest is of the settling, which has claimed its negative. Huge
 * pages look like it, but are more than some CPUs fold at one time: all of them is its own. (From
 * 256 CPUs on a batch is as large as a huge page of 4-KiB ones: there they are taken for a fold.)
 */
static inline pp_s64 own_amount(pp_s64 amount, pp_s64 local, pp_s64 shadow, pp_s64 batch,
				int settling)
{
	pp_u64 size = amount < 0 ? -amount : amount;

	if (!settling || local != 0 || shadow != 0 || size == 0 || size % (pp_u64)batch != 0)
		return amount;
	if (size >= PP_HUGE_PAGES && batch < PP_HUGE_PAGES)
		return amount;
	return amount > 0 ? 1 : -1;
}

/* A sample is due when the RSS has moved by 1 % or 1 MiB since the last, whichever is larger. */
static inline int sample_due(pp_u64 last, pp_u64 now, pp_u64 pages_per_mib)
{
	pp_u64 moved = now > last ? now - last : last - now;

	return moved >= pages_per_mib && moved >= now / 100;
}

/* FNV-1a, 64 bits: offset basis and prime are those of the published algorithm. */
#define PP_HASH_INIT 0xcbf29ce484222325ull

static inline pp_u64 hash_byte(pp_u64 hash, pp_u8 byte)
{
	return (hash ^ byte) * 0x100000001b3ull;
}

#endif
