/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Marks, whoever makes them: the program by its markers, or we at its functions. */
#ifndef PEAKPHASE_MARK_BPF_H
#define PEAKPHASE_MARK_BPF_H

#include "adopt.bpf.h"

/* A mark with the thread's label. alive: the task's mm can be settled. */
static __always_inline void send_mark(struct mm_state *st, struct task_struct *task,
				      struct thread_state *ts, u16 kind, u64 token, const u32 room,
				      const bool alive)
{
	const u32 size = sizeof(struct pp_mark) + room;
	struct pp_mark *m = edge_reserve(st, size);

	if (!m)
		return;
	if (alive)
		settle(st);
	fill_edge(&m->edge, kind, size, st, task, ts);
	m->token = token;
	m->label_hash = ts->reading.hash;
	m->label_len = ts->reading.len;
	m->label_flags = ts->reading.flags;
	m->threads = (u32)BPF_CORE_READ(task, signal, nr_threads);
	/* The whole room: what lies behind the label is of an earlier one of this thread. */
	__builtin_memcpy(m->label, ts->label, room);
	edge_submit(m, false);
}

/*
 * Kernels since 6.13 give a program with 64 bytes of stack or more one stack per CPU, also a
 * sleepable uprobe, of which a second one may begin on the CPU while the first sleeps or is
 * preempted: it would write over the first one's pointers, and the kernel would die of it (seen on
 * 7.3). They do not where a program has a tail call, and look for one before they leave out what is
 * never reached: so here is one, for the verifier only, and the stack is the thread's own.
 */
static __always_inline void keep_own_stack(void *ctx)
{
	if (cfg_never)
		bpf_tail_call(ctx, NULL, 0);
}

#endif
