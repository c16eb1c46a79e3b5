/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The counters of one mm: reading them exactly, and raising the window's maxima.
 *
 * percpu_counter = a shared count + a local part per CPU. We keep a shadow of each local part and
 * of the count as far as we have accounted them, so `value` = counted + sum of the shadows, at all
 * times. An event on a CPU was caused by a change on that CPU: it brings only that CPU's shadow
 * up to date, O(1) whatever their number. settle() brings all of them up to date, at edges.
 * Every difference is claimed by one atomic, so no change is booked twice, whoever sees it first.
 */
#ifndef PEAKPHASE_COUNTERS_BPF_H
#define PEAKPHASE_COUNTERS_BPF_H

#include "read.bpf.h"
#include "state.bpf.h"

static __always_inline struct shadow *shadow_at(u32 slot, u32 cpu)
{
	u32 row = slot * cfg_cpus + cpu;

	return bpf_map_lookup_elem(&shadows, &row);
}

/* The offset must be a constant for the verifier, hence no indexing by member. */
static __always_inline s64 shared_count(struct mm_struct *mm, int member)
{
	switch (member) {
	case PP_FILE:
		return mm->rss_stat[PP_FILE].count;
	case PP_ANON:
		return mm->rss_stat[PP_ANON].count;
	case PP_SWAP:
		return mm->rss_stat[PP_SWAP].count;
	default:
		return mm->rss_stat[PP_SHMEM].count;
	}
}

static __always_inline u64 local_base(struct mm_struct *mm, int member)
{
	switch (member) {
	case PP_FILE:
		return (u64)mm->rss_stat[PP_FILE].counters;
	case PP_ANON:
		return (u64)mm->rss_stat[PP_ANON].counters;
	case PP_SWAP:
		return (u64)mm->rss_stat[PP_SWAP].counters;
	default:
		return (u64)mm->rss_stat[PP_SHMEM].counters;
	}
}

static __always_inline s32 read_local(u64 base, u32 cpu)
{
	return read_s32(base + percpu_off[cpu & (MAX_CPUS - 1)]);
}

/* Before 6.2. By address: the verifier of 6.1 cannot walk into an array of atomic_long_t. */
static __always_inline s64 atomic_count(u64 mm, int member)
{
	return read_u64(mm + bpf_core_field_offset(struct mm_struct___atomic, rss_stat.count) +
			member * sizeof(u64));
}

static __always_inline void raise(u64 *max, u64 v)
{
	for (int i = 0; i < 8; i++) {
		u64 old = *(volatile u64 *)max;

		if (v <= old || __sync_val_compare_and_swap(max, old, v) == old)
			return;
	}
}

static __always_inline void lower(u64 *min, u64 v)
{
	for (int i = 0; i < 8; i++) {
		u64 old = *(volatile u64 *)min;

		if (v >= old || __sync_val_compare_and_swap(min, old, v) == old)
			return;
	}
}

/* Pages of each member at one moment, as far as there is one while other CPUs go on. */
struct moment {
	u64 members[PP_NMEMBERS];
	u64 total;
};

static __always_inline void take_moment(struct moment *now, const struct mm_state *st)
{
	for (int m = 0; m < PP_NMEMBERS; m++)
		now->members[m] = pages_of(*(volatile s64 *)&st->value[m]);
	now->total = now->members[PP_FILE] + now->members[PP_ANON] + now->members[PP_SHMEM];
}

static __always_inline void write_co(struct mm_state *st, u64 word, u64 at,
				     const struct moment *now)
{
	struct co *co = &st->co[word_seq(word) & 1];

	*(volatile u64 *)&co->key = 0;
	co->at_ns = at;
	for (int m = 0; m < PP_NMEMBERS; m++)
		co->members[m] = now->members[m];
	*(volatile u64 *)&co->key = word;
}

/*
 * The RSS has grown: raise the window's maximum, with moment and members. Nothing that takes time
 * lies between the exchange and the write: who is held up there writes over a later raise's.
 */
static __always_inline void raise_total(struct mm_state *st, const struct moment *now)
{
	u64 at_ns = bpf_ktime_get_ns();

	for (int i = 0; i < 16; i++) {
		u64 old = *(volatile u64 *)&st->word;
		u64 word;

		if (now->total <= word_pages(old))
			return;
		word = word_make(word_seq(old), now->total);
		if (__sync_val_compare_and_swap(&st->word, old, word) == old) {
			write_co(st, word, at_ns, now);
			return;
		}
	}
}

/*
 * Brings all counters up to date, over all CPUs; what no event had booked yet goes to grew and
 * shrank. Its mm must be alive. A function of its own for the verifier: that checks it once, not
 * once for each program (settle.bpf.h).
 */
int settle_counters(struct mm_state *st, u64 *grew, u64 *shrank);

#endif
