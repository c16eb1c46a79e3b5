/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fork, exec and exit of what is traced, whichever kind of tracepoint tells of them.
 *
 * A process is followed by tgid (`procs`), its memory by mm (`mms`): a vfork child runs on its
 * parent's mm, and exec gives a process a new one.
 */
#ifndef PEAKPHASE_LIFECYCLE_BPF_H
#define PEAKPHASE_LIFECYCLE_BPF_H

#include "adopt.bpf.h"

/* A thread begins to run on an mm that is traced already. */
static __always_inline void join(struct mm_state *st, struct task_struct *task)
{
	struct thread_state *ts = thread_adopt(task, st);

	settle(st);
	send_thread(st, task, PP_THREAD, ts);
}

/*
 * One more process on an mm (vfork, CLONE_VM): to the mm, its threads are threads like others. Also
 * where fork is not followed: what it does there is the mm's story, until it execs.
 */
static __always_inline void share_mm(struct mm_state *st, struct task_struct *task, u32 tgid)
{
	struct proc_state p = {.mm_id = st->mm_id, .slot = st->slot, .shares = 1};

	if (!bpf_map_update_elem(&procs, &tgid, &p, BPF_ANY))
		__sync_fetch_and_add(&st->users, 1);
	else
		count_loss(PP_LOSS_MMS, 1); /* what it becomes, and that it still uses the mm */
	join(st, task);
}

static __always_inline int forked(struct task_struct *parent, struct task_struct *child)
{
	struct proc_state *pp, cp = {};
	struct mm_struct *mm = child->mm;
	struct mm_state *st, *pst;
	u32 tgid = parent->tgid, ctgid = child->tgid;

	pp = bpf_map_lookup_elem(&procs, &tgid);
	if (!pp || !mm)
		return 0;
	pst = state_of_proc(pp);
	if (!pst)
		return 0;
	book_current(pst);
	if (ctgid == tgid) {
		join(pst, child);
		return 0;
	}
	if ((u64)mm == pst->mm) {
		share_mm(pst, child, ctgid);
		return 0;
	}
	if (!cfg_follow)
		return 0;
	/* Its counters were filled before this, in the parent's context: the base has them. */
	st = mm_adopt(mm, pid_here(child));
	if (!st)
		return 0;
	cp = (struct proc_state){.mm_id = st->mm_id, .slot = st->slot};
	if (bpf_map_update_elem(&procs, &ctgid, &cp, BPF_ANY)) {
		mm_release(st);
		count_loss(PP_LOSS_MMS, 1);
		return 0;
	}
	/* What its parent has mapped and not begun to use is told of by whoever begins. */
	st->code = pst->code;
	thread_first(child, st);
	send_base(st, child, mm, PP_BY_FORK, pst->mm_id);
	return 0;
}

/*
 * A process leaves its mm. The story of the mm ends with its last user, as the process ended that
 * it belongs to: a vfork child that outlives its parent, and what it still does to the mm, is told.
 */
static __always_inline void leave_mm(struct mm_state *st, struct task_struct *task, bool shares,
				     u16 kind, u32 code)
{
	if (!shares) {
		st->end_code = code;
		st->end_kind = kind;
		keep_death(st, task, kind);
	}
	/* Before it lets go: afterwards the slot may be another mm's. */
	if (st->users > 1)
		send_thread(st, task, PP_THREAD_EXIT, book_current(st));
	if (__sync_fetch_and_add(&st->users, -1) > 1)
		return;
	send_exit(st, task);
	mm_release(st);
}

static __always_inline int execed(struct task_struct *task)
{
	u32 tgid = task->tgid;
	struct proc_state *p = bpf_map_lookup_elem(&procs, &tgid);
	struct mm_struct *mm = task->mm;
	struct mm_state *st = NULL;
	u64 parent_mm_id = 0;
	bool follow;

	if (!p || !mm)
		return 0;
	follow = cfg_follow || !p->shares;
	/* The old mm is gone, torn down before this tracepoint; its state froze at that. */
	st = state_of_proc(p);
	if (st) {
		parent_mm_id = st->mm_id;
		leave_mm(st, task, p->shares, PP_EXEC, 0);
	}
	st = follow ? mm_adopt(mm, pid_here(task)) : NULL;
	if (!st) {
		bpf_map_delete_elem(&procs, &tgid);
		return 0;
	}
	p->mm_id = st->mm_id;
	p->slot = st->slot;
	p->shares = 0;
	thread_first(task, st);
	send_base(st, task, mm, PP_BY_EXEC, parent_mm_id);
	tell_code();
	return 0;
}

/* As wait(2) gives it: the group's code when it was ended as one, else the leader's. */
static __always_inline u32 exit_code_of(struct task_struct *task)
{
	if (BPF_CORE_READ(task, signal, flags) & SIGNAL_GROUP_EXIT)
		return BPF_CORE_READ(task, signal, group_exit_code);
	return BPF_CORE_READ(task, group_leader, exit_code);
}

static __always_inline int exited(struct task_struct *task)
{
	u32 tgid = task->tgid;
	struct proc_state *p = bpf_map_lookup_elem(&procs, &tgid);
	struct mm_struct *mm = task->mm; /* NULL where exit_mm comes first (before 6.16) */
	bool last = BPF_CORE_READ(task, signal, live.counter) <= 0;
	struct thread_state *ts;
	struct mm_state *st;
	u32 pid;

	if (!p)
		return 0;
	st = state_of_proc(p);
	if (st) {
		if (mm && (u64)mm == st->mm && st->ready)
			settle(st);
		if (last) {
			leave_mm(st, task, p->shares, PP_EXIT, exit_code_of(task));
		} else {
			ts = book_current(st);
			if (ts && ts->marks && ts->mm_id == st->mm_id)
				send_thread(st, task, PP_THREAD_EXIT, ts);
			/* Its number may be another's soon. */
			if (is_first(st, task))
				st->first = 0;
		}
	}
	if (last) {
		pid = pid_here(task);
		left[pid & (LEFT - 1)] = pid;
		bpf_map_delete_elem(&procs, &tgid);
		bpf_map_delete_elem(&senders, &tgid);
	}
	return 0;
}

#endif
