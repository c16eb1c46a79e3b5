/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rings, and the only code that reserves and submits on them: so loss is always counted.
 *
 * Edges and samples never share a ring: rare, precious records must not be pushed out by many.
 * A window is cut between reserve and submit, so a full ring never resets one.
 */
#ifndef PEAKPHASE_EMIT_BPF_H
#define PEAKPHASE_EMIT_BPF_H

#include "charge.bpf.h"
#include "pid.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16 << 20);
} ring_edges __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} ring_samples __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} ring_faults __weak SEC(".maps");

/* Holds a few notes of the largest size: they are read by the program's thread, faster than anyone
 * writes them down. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20);
} ring_notes __weak SEC(".maps");

/* What programs print (--mark-output and the like, --output): a flood of it harms nothing else. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} ring_output __weak SEC(".maps");

/* st: NULL for a record of no traced mm. */
static __always_inline void *reserve(struct mm_state *st, u64 size)
{
	void *rec = bpf_ringbuf_reserve(&ring_edges, size, 0);

	if (!rec) {
		if (st)
			__sync_fetch_and_add(&st->lost, 1);
		count_loss(PP_LOSS_EDGES, 1);
	}
	return rec;
}

/* Room on the edge ring, or NULL; then the loss has been counted, on the mm too. */
static __always_inline void *edge_reserve(struct mm_state *st, u64 size)
{
	return stopped ? NULL : reserve(st, size);
}

/*
 * The same for what ends an mm, which goes out after the stop too: whoever comes first of the
 * process, which may end by itself, and the loader, which takes its leave.
 */
static __always_inline void *last_edge_reserve(struct mm_state *st, u64 size)
{
	if (stopped && __sync_lock_test_and_set(&st->ended, 1))
		return NULL;
	return reserve(st, size);
}

#define WAKE_EVERY_NS 10000000ull

/*
 * Processes begin and end by the thousand: the first of a while wakes the reader, the others it
 * finds when it looks.
 */
static __always_inline bool wake_due(const struct pp_hdr *h)
{
	u64 last = last_wake;

	return h->time_ns - last > WAKE_EVERY_NS &&
	       __sync_val_compare_and_swap(&last_wake, last, h->time_ns) == last;
}

/*
 * Waking the reader costs more than a record: it is an interrupt. It looks at the rings by itself
 * often enough; ends are told at once, and a ring that fills, as it passes the mark.
 */
static __always_inline void edge_submit(void *rec, bool urgent)
{
	u64 past = bpf_ringbuf_query(&ring_edges, BPF_RB_AVAIL_DATA) - cfg_wake_edges;
	/* This record took it past the mark, or one of a few other CPUs did at this moment. */
	bool passes = past < 2 * sizeof(struct pp_mark) + 2 * PP_LABEL_MAX;

	bpf_ringbuf_submit(rec, urgent || passes ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
}

/* Room for a piece of output, in a record of this (constant) size, or NULL. */
static __always_inline struct pp_output *output_reserve(const u32 room)
{
	return bpf_ringbuf_reserve(&ring_output, sizeof(struct pp_output) + room, 0);
}

static __always_inline void output_submit(struct pp_output *o)
{
	bool full = bpf_ringbuf_query(&ring_output, BPF_RB_AVAIL_DATA) > cfg_wake_output;

	bpf_ringbuf_submit(o, full ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
}

static __always_inline void fill_header(struct pp_hdr *h, u16 kind, u32 size,
					const struct mm_state *st, struct task_struct *task)
{
	h->kind = kind;
	h->flags = 0;
	h->size = size;
	h->time_ns = bpf_ktime_get_ns();
	h->mm_id = st->mm_id;
	h->pid = pid_here(task);
	h->tid = tid_here(task);
}

/* What is pending of the current thread; edges carry it. */
static __always_inline struct thread_state *book_current(struct mm_state *st)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread_state *ts = bpf_task_storage_get(&threads, task, 0, 0);

	book_solo(st, task, ts);
	return ts;
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

/* The parts of an edge that are of the mm. For the verifier as settle_counters(). */
__weak int cut(struct mm_state *st, struct pp_edge *e, u64 task)
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

/* Its mm must be alive. */
static __always_inline void settle(struct mm_state *st)
{
	settle_counters(st, &st->grew, &st->shrank);
}

/* Everything of an edge but what its kind adds. The counters have been settled. */
static __always_inline void fill_edge(struct pp_edge *e, u16 kind, u32 size, struct mm_state *st,
				      struct task_struct *task, const struct thread_state *ts)
{
	fill_header(&e->hdr, kind, size, st, task);
	cut(st, e, number_of(task));
	e->minflt = task->min_flt;
	e->majflt = task->maj_flt;
	if (ts && ts->mm_id == st->mm_id) {
		e->thread_grew += ts->grew;
		e->thread_shrank += ts->shrank;
		e->minflt -= ts->min_base;
		e->majflt -= ts->maj_base;
	} else if (is_first(st, task)) {
		e->thread_grew += st->first_grew;
		e->thread_shrank += st->first_shrank;
		e->minflt -= st->first_min_base;
		e->majflt -= st->first_maj_base;
	}
}

static __always_inline void emit_sample(struct mm_state *st, struct task_struct *task,
					const struct moment *now)
{
	u64 last = st->last_sample;
	struct pp_sample *s;

	if (stopped)
		return;
	/* One of the CPUs that see it due sends it. */
	if (__sync_val_compare_and_swap(&st->last_sample, last, now->total) != last)
		return;
	s = bpf_ringbuf_reserve(&ring_samples, sizeof(*s), 0);
	if (!s) {
		count_loss(PP_LOSS_SAMPLES, 1);
		return;
	}
	fill_header(&s->hdr, PP_SAMPLE, sizeof(*s), st, task);
	s->threads = s->hdr.pid == st->pid ? (u32)BPF_CORE_READ(task, signal, nr_threads) : 0;
	s->pad = 0;
	s->hdr.pid = st->pid;
	s->seq = word_seq(st->word);
	for (int m = 0; m < PP_NMEMBERS; m++)
		s->now[m] = now->members[m];
	s->max = word_pages(st->word);
	s->min = st->min;
	s->charge = st->usage_addr ? read_u64(st->usage_addr) : PP_NO_LIMIT;
	bpf_ringbuf_submit(s, BPF_RB_NO_WAKEUP);
}

#endif
