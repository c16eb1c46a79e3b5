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
#ifndef PEAKPHASE_RSS_BPF_H
#define PEAKPHASE_RSS_BPF_H

#include "state.bpf.h"

#ifndef NULL
#define NULL ((void *)0)
#endif

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

static __always_inline s64 atomic_count(struct mm_struct *mm_, int member)
{
	struct mm_struct___atomic *mm = (void *)mm_;

	switch (member) {
	case PP_FILE:
		return mm->rss_stat.count[PP_FILE].counter;
	case PP_ANON:
		return mm->rss_stat.count[PP_ANON].counter;
	case PP_SWAP:
		return mm->rss_stat.count[PP_SWAP].counter;
	default:
		return mm->rss_stat.count[PP_SHMEM].counter;
	}
}

static __always_inline s32 read_local(u64 base, u32 cpu)
{
	s32 v = 0;

	bpf_probe_read_kernel(&v, sizeof(v), (void *)(base + percpu_off[cpu & (MAX_CPUS - 1)]));
	return v;
}

static __always_inline u64 read_u64(u64 addr)
{
	u64 v = 0;

	bpf_probe_read_kernel(&v, sizeof(v), (void *)addr);
	return v;
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

static __always_inline void write_co(struct mm_state *st, u64 word, u64 at)
{
	struct co *co = &st->co[word_seq(word) & 1];

	*(volatile u64 *)&co->key = 0;
	co->at_ns = at;
	co->members[PP_FILE] = pages_of(st->value[PP_FILE]);
	co->members[PP_ANON] = pages_of(st->value[PP_ANON]);
	co->members[PP_SWAP] = pages_of(st->value[PP_SWAP]);
	co->members[PP_SHMEM] = pages_of(st->value[PP_SHMEM]);
	*(volatile u64 *)&co->key = word;
}

/* The total has reached `total`: raise the window's maximum, with moment and members. */
static __always_inline void raise_total(struct mm_state *st, u64 total)
{
	for (int i = 0; i < 16; i++) {
		u64 old = *(volatile u64 *)&st->word;
		u64 word;

		if (total <= word_pages(old))
			return;
		word = word_make(word_seq(old), total);
		if (__sync_val_compare_and_swap(&st->word, old, word) == old) {
			write_co(st, word, bpf_ktime_get_ns());
			return;
		}
	}
}

struct settle {
	u64 base; /* of the member's local parts */
	s64 claimed;
	u32 slot;
	int member;
};

static long settle_cpu(u32 cpu, struct settle *s)
{
	struct shadow *sh = shadow_at(s->slot, cpu);
	u32 member = s->member & 3;
	s32 old, now;

	if (!sh)
		return 1;
	old = *(volatile s32 *)&sh->local[member];
	now = read_local(s->base, cpu);
	/* Lost to an event on that CPU: that event has claimed the difference. */
	if (now != old && __sync_val_compare_and_swap(&sh->local[member], old, now) == old)
		s->claimed += now - old;
	return 0;
}

/* Brings one member up to date over all CPUs. Returns what no event had booked yet. */
static __always_inline s64 settle_member(struct mm_state *st, struct mm_struct *mm, u32 slot,
					 int member)
{
	struct settle s = {.slot = slot, .member = member};
	s64 count, seen;

	if (!counters_percpu()) {
		count = atomic_count(mm, member);
		return count - (s64)__sync_lock_test_and_set(&st->value[member], count);
	}
	s.base = local_base(mm, member);
	/* Again when the count moved: a fold between the two reads shows its pages in neither. */
	for (int round = 0; round < 3; round++) {
		count = shared_count(mm, member);
		bpf_loop(cfg_cpus, settle_cpu, &s, 0);
		seen = *(volatile s64 *)&st->counted[member];
		if (count != seen &&
		    __sync_val_compare_and_swap(&st->counted[member], seen, count) == seen)
			s.claimed += count - seen;
		if (shared_count(mm, member) == count)
			break;
	}
	if (s.claimed)
		__sync_fetch_and_add(&st->value[member], s.claimed);
	return s.claimed;
}

#endif
