/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Settling: all counters of an mm up to date, over all CPUs, at edges. Only for rss.bpf.c. */
#ifndef PEAKPHASE_SETTLE_BPF_H
#define PEAKPHASE_SETTLE_BPF_H

#include "counters.bpf.h"

/* Addresses as numbers: this runs in callbacks, where the verifier has no mm pointer to offer. */
struct settle {
	u64 at;		       /* of the four counters */
	u64 base[PP_NMEMBERS]; /* of their local parts */
	s64 claimed[PP_NMEMBERS];
	s64 was[PP_NMEMBERS];  /* what was accounted of the shared counts before they were read */
	s64 seen[PP_NMEMBERS]; /* shared counts as read before the local parts */
	u32 slot;
};

static __always_inline u64 count_at(const struct settle *s, u32 m)
{
	return s->at + m * bpf_core_type_size(struct percpu_counter) +
	       bpf_core_field_offset(struct percpu_counter, count);
}

static __always_inline u64 base_at(const struct settle *s, u32 m)
{
	return s->at + m * bpf_core_type_size(struct percpu_counter) +
	       bpf_core_field_offset(struct percpu_counter, counters);
}

/* Has any of the counts moved since they were read? Not 0: yes. */
static __always_inline u64 shared_moved(const struct settle *s)
{
	u64 moved = 0;

	for (int m = 0; m < PP_NMEMBERS; m++)
		moved |= read_u64(count_at(s, m)) ^ s->seen[m];
	return moved;
}

/*
 * What was claimed, into the value at once: an event on another CPU that sees the claim but not the
 * value would raise the maximum by a whole batch. Its event, still to come, finds whose it is.
 */
static __always_inline void add_value(u32 slot, u32 m, s64 amount)
{
	struct mm_state *st = state_at(slot);

	if (!st)
		return;
	__sync_fetch_and_add(&st->value[m & 3], amount);
	if (m != PP_SWAP)
		__sync_fetch_and_add(&st->unowned, amount);
}

/*
 * i: CPU and member in one, so that the verifier has one body to check, not four in a row. The
 * shadow is read before the local part: an event between the two then fails our exchange.
 */
static long settle_cpu(u32 i, struct settle *s)
{
	u32 cpu = i / PP_NMEMBERS, m = i % PP_NMEMBERS;
	struct shadow *sh = shadow_at(s->slot, cpu);
	s32 old, now;

	if (!sh)
		return 1;
	old = *(volatile s32 *)&sh->local[m];
	now = read_local(s->base[m], cpu);
	/* Lost to an event on that CPU: that event has claimed the difference. */
	if (now != old && __sync_val_compare_and_swap(&sh->local[m], old, now) == old) {
		s->claimed[m] += now - old;
		add_value(s->slot, m, now - old);
	}
	return 0;
}

/* A count that an event has accounted since is that event's. */
static long settle_count(u32 m, struct settle *s)
{
	struct mm_state *st = state_at(s->slot);
	s64 amount;

	if (!st || m >= PP_NMEMBERS)
		return 1;
	amount = s->seen[m] - s->was[m];
	if (amount &&
	    __sync_val_compare_and_swap(&st->counted[m], s->was[m], s->seen[m]) == s->was[m]) {
		s->claimed[m] += amount;
		add_value(s->slot, m, amount);
	}
	return 0;
}

/*
 * Ends when no count moved meanwhile: a fold between two reads shows its pages in neither. What is
 * accounted is read before what is there: else a fold in between, accounted by its event, would be
 * taken back.
 */
static long settle_round(u32 round, struct settle *s)
{
	struct mm_state *st = state_at(s->slot);

	if (!st)
		return 1;
	for (int m = 0; m < PP_NMEMBERS; m++)
		s->was[m] = *(volatile s64 *)&st->counted[m];
	for (int m = 0; m < PP_NMEMBERS; m++) {
		s->seen[m] = read_u64(count_at(s, m));
		s->base[m] = read_u64(base_at(s, m));
	}
	bpf_loop(cfg_cpus * PP_NMEMBERS, settle_cpu, s, 0);
	return shared_moved(s) == 0;
}

static __always_inline void settle_percpu(u32 slot, u64 mm, struct settle *s)
{
	s->slot = slot;
	s->at = mm + bpf_core_field_offset(struct mm_struct, rss_stat[0]);
	bpf_loop(3, settle_round, s, 0);
	bpf_loop(PP_NMEMBERS, settle_count, s, 0);
}

static __always_inline void settle_atomic(struct mm_state *st, u64 mm, s64 amount[PP_NMEMBERS])
{
	for (int m = 0; m < PP_NMEMBERS; m++) {
		s64 count = atomic_count(mm, m);

		amount[m] = count - (s64)__sync_lock_test_and_set(&st->value[m], count);
		if (m != PP_SWAP && amount[m])
			__sync_fetch_and_add(&st->unowned, amount[m]);
	}
}

int settle_counters(struct mm_state *st, u64 *grew, u64 *shrank)
{
	struct settle s = {};
	struct moment now;
	s64 amount;
	u64 mm;

	if (!st || !grew || !shrank)
		return 0;
	mm = st->mm;
	if (!mm)
		return 0;
	__sync_fetch_and_add(&st->settling, 1);
	if (counters_percpu())
		settle_percpu(st->slot, mm, &s);
	else if (counters_atomic())
		settle_atomic(st, mm, s.claimed);
	__sync_fetch_and_add(&st->settling, -1);
	amount = __sync_lock_test_and_set(&st->settled_early, 0);
	amount += s.claimed[PP_FILE] + s.claimed[PP_ANON] + s.claimed[PP_SHMEM];
	if (amount > 0)
		__sync_fetch_and_add(grew, amount);
	else
		__sync_fetch_and_add(shrank, -amount);
	take_moment(&now, st);
	if (now.total > word_pages(st->word))
		raise_total(st, &now);
	return 0;
}

#endif
