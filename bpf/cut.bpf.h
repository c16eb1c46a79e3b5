/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Cutting: what an edge takes of the mm, its window and its charge. Only for rss.bpf.c. */
#ifndef PEAKPHASE_CUT_BPF_H
#define PEAKPHASE_CUT_BPF_H

#include "charge.bpf.h"

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
		s32 held =
		    read_s32(task + m * sizeof(held) +
			     bpf_core_field_offset(struct task_struct___cached, rss_stat.count));

		now->members[m] = pages_of((s64)now->members[m] + held);
		if (m != PP_SWAP)
			sum += held;
	}
	now->total = now->members[PP_FILE] + now->members[PP_ANON] + now->members[PP_SHMEM];
	return sum;
}

/* What can be in the record is there: the stack is short before 6.13. */
struct cutting {
	struct mm_state *st;
	struct pp_edge *e;
	u64 task;
	struct moment now;
};

static long try_cut(u32 i, struct cutting *c)
{
	struct mm_state *st = c->st;
	struct pp_edge *e = c->e;
	u64 old, word;
	s64 held;

	/* Just before: kernels that preempt us may let others go on for long. */
	e->hdr.time_ns = bpf_ktime_get_ns();
	take_moment(&c->now, st);
	held = add_held_back(&c->now, c->task);
	/* Booked by the kernel when the thread hands it over; counters here only ever rise. */
	e->mm_grew = held > 0 ? held : 0;
	e->mm_shrank = held < 0 ? -held : 0;
	old = *(volatile u64 *)&st->word;
	e->win.seq = word_seq(old);
	e->win.max = word_pages(old);
	word = word_make(word_seq(old) + 1, c->now.total);
	/* Of the window to come, before anyone can raise it. */
	write_co(st, word, e->hdr.time_ns, &c->now);
	return __sync_val_compare_and_swap(&st->word, old, word) == old;
}

/* Ends the window: its maxima go into the record, the next one starts from what is now. */
static __always_inline void cut_window(struct mm_state *st, struct pp_edge *e, u64 task)
{
	struct cutting c = {.st = st, .e = e, .task = task};
	struct pp_window *w = &e->win;
	u64 key, least, most;
	struct co *co;

	/* Before the window is taken: what others take after it is no peak of it. */
	e->peak = *(volatile u64 *)&st->peak;
	/* Fails only while others raise the maximum at this very moment, each time anew. */
	bpf_loop(1000, try_cut, &c, 0);
	co = &st->co[w->seq & 1];
	key = *(volatile u64 *)&co->key;
	w->max_at_ns = co->at_ns;
	for (int m = 0; m < PP_NMEMBERS; m++) {
		e->now[m] = c.now.members[m];
		w->max_members[m] = co->members[m];
		most = __sync_lock_test_and_set(&st->member_max[m], e->now[m]);
		w->member_max[m] = larger(most, e->now[m]);
	}
	if (c.now.total > w->max) {
		/* Grown by an event that is about to raise it, on another CPU: in the next window.
		 */
		w->max = c.now.total;
		w->max_at_ns = e->hdr.time_ns;
		for (int m = 0; m < PP_NMEMBERS; m++)
			w->max_members[m] = c.now.members[m];
	} else if (key != word_make(w->seq, w->max)) {
		e->hdr.flags |= PP_F_CO_INEXACT;
	}
	least = __sync_lock_test_and_set(&st->min, c.now.total);
	w->min = least - pages_of((s64)(least - c.now.total));
	raise(&st->peak, w->max);
	e->peak = larger(e->peak, w->max);
	e->thread_grew = e->mm_grew;
	e->thread_shrank = e->mm_shrank;
}

/*
 * Charge and limit now; the addresses are kept for the events until the next edge. The charge's
 * maxima of the window start again from here.
 */
static __always_inline void cut_charge(struct mm_state *st, struct pp_edge *e, u64 task)
{
	struct charge c = {};
	u64 usage, limiter, most;

	charge_find(task, &c);
	usage = c.usage_addr ? read_u64(c.usage_addr) : 0;
	limiter = c.limiter_addr ? read_u64(c.limiter_addr) : 0;
	st->usage_addr = c.usage_addr;
	st->limiter_addr = c.limiter_addr;
	st->limit = c.limit;
	e->charge = c.usage_addr ? usage : PP_NO_LIMIT;
	e->limit = c.limit;
	e->limiter = c.limiter_addr ? limiter : PP_NO_LIMIT;
	e->limit_level = c.level;
	e->win.charge_max_at_ns = st->charge_max_at;
	st->charge_max_at = e->hdr.time_ns;
	most = __sync_lock_test_and_set(&st->charge_max, usage);
	if (usage > most)
		e->win.charge_max_at_ns = e->hdr.time_ns;
	most = larger(most, usage);
	e->win.charge_max = c.usage_addr ? most : PP_NO_LIMIT;
	most = __sync_lock_test_and_set(&st->limiter_max, limiter);
	most = larger(most, limiter);
	e->win.limiter_max = c.limiter_addr ? most : PP_NO_LIMIT;
}

int cut(struct mm_state *st, struct pp_edge *e, u64 task)
{
	if (!st || !e)
		return 0;
	cut_window(st, e, task);
	cut_charge(st, e, task);
	e->mm_grew += st->grew + st->solo_grew;
	e->mm_shrank += st->shrank + st->solo_shrank;
	e->ext_grew = st->ext_grew;
	e->ext_shrank = st->ext_shrank;
	e->lost = __sync_lock_test_and_set(&st->lost, 0);
	return 0;
}

#endif
