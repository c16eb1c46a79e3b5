/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rings, and the only code that reserves and submits on them: so loss is always counted.
 *
 * Edges and samples never share a ring: rare, precious records must not be pushed out by many.
 * A window is cut between reserve and submit, so a full ring never resets one.
 */
#ifndef PEAKPHASE_EMIT_BPF_H
#define PEAKPHASE_EMIT_BPF_H

#include "pid.bpf.h"
#include "counters.bpf.h"

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

/*
 * The parts of an edge that are of the mm: ends its window (cut.bpf.h). task: an address. For the
 * verifier as settle_counters().
 */
int cut(struct mm_state *st, struct pp_edge *e, u64 task);

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
