/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The set of traced mms: taking one in, letting it go.
 *
 * Adoption starts from the counters, not from the first event: a counter that does not move sends
 * none. Until `ready`, events leave the shadows alone, and settle() claims what they were about.
 */
#ifndef PEAKPHASE_ADOPT_BPF_H
#define PEAKPHASE_ADOPT_BPF_H

#include "cgroup_id.bpf.h"
#include "code.bpf.h"
#include "death.bpf.h"
#include "std.bpf.h"

/* The mm that a process runs on, or NULL: not exec'ed yet, or let go. */
static __always_inline struct mm_state *state_of_proc(const struct proc_state *p)
{
	struct mm_state *st;

	if (p->slot == NO_SLOT)
		return NULL;
	st = state_at(p->slot);
	if (!st || st->mm_id != p->mm_id)
		return NULL;
	return st;
}

static __always_inline void thread_reset(struct thread_state *ts, struct task_struct *task,
					 struct mm_state *st)
{
	ts->mm_id = st->mm_id;
	ts->grew = ts->shrank = 0;
	ts->min_base = task->min_flt;
	ts->maj_base = task->maj_flt;
	ts->marks = 0;
	if (!is_first(st, task))
		return;
	st->first = 0;
	ts->grew = st->first_grew;
	ts->shrank = st->first_shrank;
	ts->min_base = st->first_min_base;
	ts->maj_base = st->first_maj_base;
}

/*
 * The thread's own counters, from here on, or from when the mm was taken in with it. In its own
 * context, or before it runs. NULL: there is no memory for them.
 */
static __always_inline struct thread_state *thread_adopt(struct task_struct *task,
							 struct mm_state *st)
{
	struct thread_state *ts;

	ts = bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (ts)
		thread_reset(ts, task, st);
	return ts;
}

/* The mm was taken in with this thread: it gets a state when it marks, or is no longer alone. */
static __always_inline void thread_first(struct task_struct *task, struct mm_state *st)
{
	st->first_grew = st->first_shrank = 0;
	st->first_min_base = task->min_flt;
	st->first_maj_base = task->maj_flt;
	st->first = task->pid;
}

static __always_inline void mm_init(struct mm_state *st, struct mm_struct *mm, u32 slot, u32 pid)
{
	st->mm = (u64)mm;
	st->mm_id = __sync_fetch_and_add(&next_mm_id, 1);
	st->mmap_base = mm->mmap_base;
	st->pid = pid;
	st->users = 1;
	st->slot = slot;
	st->lost = 0;
	st->end_kind = st->end_code = st->ended = 0;
	st->end_flags = st->first = 0;
	__builtin_memset(&st->end_sender, 0, sizeof(st->end_sender));
	for (int m = 0; m < PP_NMEMBERS; m++) {
		st->value[m] = st->counted[m] = 0;
		st->member_max[m] = 0;
	}
	st->word = 0;
	st->min = st->peak = 0;
	st->charge_max = st->limiter_max = st->charge_max_at = 0;
	st->grew = st->shrank = st->ext_grew = st->ext_shrank = 0;
	st->solo_grew = st->solo_shrank = 0;
	st->settled_early = st->unowned = 0;
	st->settling = 0;
	st->last_sample = 0;
	st->usage_addr = st->limiter_addr = 0;
	st->limit = PP_NO_LIMIT;
	st->crossed = 0;
	st->wrote[0] = st->wrote[1] = 0;
	st->code = mm->exec_vm;
	st->faults = 0;
	st->next_fault = cfg_where_every;
	st->co[0].key = st->co[1].key = 0;
}

static long clear_shadow(u32 cpu, u32 *slot)
{
	struct shadow *sh = shadow_at(*slot, cpu);

	if (!sh)
		return 1;
	for (int m = 0; m < PP_NMEMBERS; m++)
		sh->local[m] = 0;
	return 0;
}

/*
 * The kernel gives an mm's memory out again at once, and that may be before the end of its owner is
 * told: exec, and exit before 6.16, tear the mm down first. What lay there is gone, also if the
 * kernel skipped the event of it that would have said so.
 */
static __always_inline void outlive(u64 key)
{
	u32 *slot = bpf_map_lookup_elem(&mms, &key);
	struct mm_state *old = slot ? state_at(*slot) : NULL;

	if (old)
		old->ready = 0;
}

/*
 * Takes the mm of process pid (in the tracer's namespace) in, which is new, or not traced yet
 * (state_of()); its state, or NULL: table full (counted). Its events count from the base edge on,
 * which the caller sends.
 */
static __always_inline struct mm_state *mm_adopt(struct mm_struct *mm, u32 pid)
{
	u64 key = (u64)mm;
	struct mm_state *st;
	struct bucket *b;
	u32 slot;

	if (bpf_map_pop_elem(&free_slots, &slot)) {
		count_loss(PP_LOSS_MMS, 1);
		return NULL;
	}
	st = state_at(slot);
	if (!st)
		return NULL;
	outlive(key);
	if (bpf_map_update_elem(&mms, &key, &slot, BPF_ANY)) {
		bpf_map_push_elem(&free_slots, &slot, 0);
		count_loss(PP_LOSS_MMS, 1);
		return NULL;
	}
	mm_init(st, mm, slot, pid);
	if (counters_percpu())
		bpf_loop(cfg_cpus, clear_shadow, &slot, 0);
	settle(st);
	/* What was there before is no growth of ours, and the smallest value is not 0. */
	st->grew = st->shrank = 0;
	st->unowned = 0;
	st->min = st->last_sample = rss_of(st->value);
	b = &buckets[bucket_of(st->mmap_base) & (BUCKETS - 1)];
	b->slot = slot;
	__sync_fetch_and_add(&b->count, 1);
	return st;
}

static __always_inline void mm_release(struct mm_state *st)
{
	struct bucket *b = &buckets[bucket_of(st->mmap_base) & (BUCKETS - 1)];
	u64 key = st->mm;
	u32 slot = st->slot, *in;

	if (!key)
		return;
	st->ready = 0;
	st->mm = 0;
	__sync_fetch_and_add(&b->count, -1);
	/* Unless another mm lies there by now. */
	in = bpf_map_lookup_elem(&mms, &key);
	if (in && *in == slot)
		bpf_map_delete_elem(&mms, &key);
	bpf_map_push_elem(&free_slots, &slot, 0);
}

/* task: the leader, or a thread that outlived it. mm's counters have been settled. */
static __always_inline void put_base(struct mm_state *st, struct task_struct *task,
				     struct mm_struct *mm, u32 reason, u64 parent_mm_id)
{
	struct pp_base *b = edge_reserve(st, sizeof(*b));
	u64 start, len;

	if (!b) {
		/* What has no beginning shall have no end. */
		st->ended = stopped;
		return;
	}
	fill_edge(&b->edge, PP_BASE, sizeof(*b), st, task, NULL);
	b->edge.minflt = b->edge.majflt = 0;
	b->edge.hdr.tid = b->edge.hdr.pid;
	b->parent_mm_id = parent_mm_id;
	b->start_ns = BPF_CORE_READ(task, group_leader, start_time);
	b->start_boot_ns = BPF_CORE_READ(task, group_leader, start_boottime);
	b->cgroup_id = cgroup_id_of(task);
	b->ppid = parent_here(task);
	b->ns_pid = ns_pid_of(BPF_CORE_READ(task, group_leader));
	b->reason = reason;
	b->threads = BPF_CORE_READ(task, signal, nr_threads);
	b->pad = 0;
	b->args_len = 0;
	bpf_probe_read_kernel(b->comm, sizeof(b->comm), task->comm);
	__builtin_memset(b->args, 0, sizeof(b->args));
	/* Just written by exec, so resident; of another process userspace reads /proc. */
	start = mm->arg_start;
	len = mm->arg_end - start;
	if (len > sizeof(b->args))
		len = sizeof(b->args);
	if (reason == PP_BY_EXEC && len && len <= sizeof(b->args) &&
	    !bpf_probe_read_user(b->args, len, (void *)start))
		b->args_len = len;
	edge_submit(b, reason == PP_BY_EXEC && wake_due(&b->edge.hdr));
}

/*
 * The base, and only then the mm's events: one on another CPU that is in the value, and not yet in
 * the growth, would be in both, the base and the growth that follows. What moved meanwhile is found
 * by the next event of that CPU, or the next edge.
 */
static __always_inline void send_base(struct mm_state *st, struct task_struct *task,
				      struct mm_struct *mm, u32 reason, u64 parent_mm_id)
{
	put_base(st, task, mm, reason, parent_mm_id);
	note_std(st, task);
	st->ready = 1;
}

/* By the last that used the mm; with its own counters, but with the pid and the end of the owner.
 */
static __always_inline void send_exit(struct mm_state *st, struct task_struct *task)
{
	struct thread_state *ts = book_current(st);
	struct pp_exit *x = last_edge_reserve(st, sizeof(*x));

	if (!x)
		return;
	fill_edge(&x->edge, st->end_kind == PP_EXEC ? PP_EXEC : PP_EXIT, sizeof(*x), st, task, ts);
	x->edge.hdr.pid = st->pid;
	x->exit_code = st->end_code;
	x->exit_flags = st->end_flags;
	x->sender = st->end_sender;
	edge_submit(x, wake_due(&x->edge.hdr));
}

static __always_inline void send_thread(struct mm_state *st, struct task_struct *task, u16 kind,
					const struct thread_state *ts)
{
	struct pp_edge *e = edge_reserve(st, sizeof(*e));

	if (!e)
		return;
	fill_edge(e, kind, sizeof(*e), st, task, ts);
	edge_submit(e, false);
}

#endif
