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

/* Before 6.2. By address: the verifier of 6.1 cannot walk into an array of atomic_long_t. */
static __always_inline s64 atomic_count(u64 mm, int member)
{
	return read_u64(mm + bpf_core_field_offset(struct mm_struct___atomic, rss_stat.count) +
			member * sizeof(u64));
}

/* The verifier keeps pointers from becoming numbers; a read of the stack slot does not. */
static __always_inline u64 number_of(const void *p)
{
	u64 n = 0;

	bpf_probe_read_kernel(&n, sizeof(n), &p);
	return n;
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
 * Room for two percpu_counters of an mm: 80 bytes, without lock debugging. For all four, the stack
 * of 512 bytes that kernels before 6.13 allow would not be enough.
 */
#define COUNTERS_ROOM 80

/* Addresses as numbers: this runs in callbacks, where the verifier has no mm pointer to offer. */
struct settle {
	u64 at;		       /* of the four counters */
	u64 base[PP_NMEMBERS]; /* of their local parts */
	s64 claimed[PP_NMEMBERS];
	s64 was[PP_NMEMBERS];	/* what was accounted of the shared counts before they were read */
	s64 seen[PP_NMEMBERS];	/* shared counts as read before the local parts */
	struct shadow old;	/* of one CPU */
	s32 local[PP_NMEMBERS]; /* of the same */
	u64 count;		/* one of them, read again */
	u32 slot;
	u64 apart; /* 0: the local parts of a CPU lie side by side (since 6.6) */
};

/* The four counters lie side by side in the mm: two reads for all that is shared of them. */
static __always_inline void read_shared(u64 at, s64 count[PP_NMEMBERS], u64 base[PP_NMEMBERS])
{
	const u32 one = bpf_core_type_size(struct percpu_counter);
	const u32 of_count = bpf_core_field_offset(struct percpu_counter, count);
	const u32 of_base = bpf_core_field_offset(struct percpu_counter, counters);
	char room[COUNTERS_ROOM];

	if (2 * one > sizeof(room)) {
		for (int m = 0; m < PP_NMEMBERS; m++) {
			count[m] = read_u64(at + m * one + of_count);
			base[m] = read_u64(at + m * one + of_base);
		}
		return;
	}
	for (int m = 0; m < PP_NMEMBERS; m += 2) {
		bpf_probe_read_kernel(room, 2 * one, (void *)(at + m * one));
		count[m] = *(s64 *)(room + of_count);
		base[m] = *(u64 *)(room + of_base);
		count[m + 1] = *(s64 *)(room + one + of_count);
		base[m + 1] = *(u64 *)(room + one + of_base);
	}
}

/* Has any of the counts moved since they were read? Not 0: yes. */
static __always_inline u64 shared_moved(struct settle *s)
{
	const u32 one = bpf_core_type_size(struct percpu_counter);
	const u32 of_count = bpf_core_field_offset(struct percpu_counter, count);
	u64 moved = 0;

	for (int m = 0; m < PP_NMEMBERS; m++) {
		bpf_probe_read_kernel(&s->count, sizeof(s->count),
				      (void *)(s->at + m * one + of_count));
		moved |= s->count ^ s->seen[m];
	}
	return moved;
}

/*
 * What was claimed, into the value at once: an event on another CPU that sees the claim but not the
 * value would raise the maximum by a whole batch.
 */
static __always_inline void add_value(u32 slot, u32 m, s64 amount)
{
	struct mm_state *st = state_at(slot);

	if (st)
		__sync_fetch_and_add(&st->value[m & 3], amount);
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
	if (s->apart) {
		s->old.local[m] = *(volatile s32 *)&sh->local[m];
		s->local[m] = read_local(s->base[m], cpu);
	} else if (m == 0) {
		s->old = *sh;
		barrier();
		bpf_probe_read_kernel(s->local, sizeof(s->local),
				      (void *)(s->base[0] + percpu_off[cpu & (MAX_CPUS - 1)]));
	}
	old = s->old.local[m];
	now = s->local[m];
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
	read_shared(s->at, s->seen, s->base);
	/* Without branches: each would double what the verifier looks at. */
	s->apart = (s->base[1] - s->base[0] - 4) | (s->base[2] - s->base[0] - 8) |
		   (s->base[3] - s->base[0] - 12);
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
	}
}

/*
 * Before 6.2 a thread counts up to 64 faults by itself before the mm's counter moves: what that
 * thread (its address) holds back, added to the moment. Returns the pages of RSS. Other threads
 * hold back as much, unseen: the bound that reports carry.
 */
static __always_inline s64 add_held_back(struct moment *now, u64 task)
{
	s64 sum = 0;

	if (!counters_atomic())
		return 0;
	for (int m = 0; m < PP_NMEMBERS; m++) {
		s32 held = 0;

		bpf_probe_read_kernel(
		    &held, sizeof(held),
		    (void *)(task + m * sizeof(held) +
			     bpf_core_field_offset(struct task_struct___cached, rss_stat.count)));
		now->members[m] = pages_of((s64)now->members[m] + held);
		if (m != PP_SWAP)
			sum += held;
	}
	now->total = now->members[PP_FILE] + now->members[PP_ANON] + now->members[PP_SHMEM];
	return sum;
}

/*
 * Brings all counters up to date, over all CPUs; what no event had booked yet goes to grew and
 * shrank. Its mm must be alive. A function of its own for the verifier: that checks
 * it once for each program, not once for each call.
 */
__weak int settle_counters(struct mm_state *st, u64 *grew, u64 *shrank)
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
