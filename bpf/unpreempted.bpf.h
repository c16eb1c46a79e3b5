/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Since Linux 7.0 (a46023d5616e, f7d327654b88) a program on a tp_btf tracepoint can be preempted,
 * and while it is, the kernel skips it for everybody else on that CPU: their fork, exec or exit
 * would go unseen. Classic tracepoints run their programs with preemption disabled (16718274ee75),
 * for the price of a record that nobody reads. So there, and only there, beginnings and ends come
 * by these.
 */
#ifndef PEAKPHASE_UNPREEMPTED_BPF_H
#define PEAKPHASE_UNPREEMPTED_BPF_H

#include "kernel.bpf.h"

/* Weak: not on older kernels, where nothing that calls them is loaded. */
extern struct task_struct *bpf_task_from_pid(s32 pid) __weak __ksym;
extern void bpf_task_release(struct task_struct *task) __weak __ksym;

/* fn(parent, child), as tp_btf/sched_process_fork has them. */
static __always_inline int with_child(const struct trace_event_raw_sched_process_fork *ctx,
				      int (*fn)(struct task_struct *parent,
						struct task_struct *child))
{
	struct task_struct *child = bpf_task_from_pid(ctx->child_pid);

	if (child) {
		fn(bpf_get_current_task_btf(), child);
		bpf_task_release(child);
	}
	return PASS;
}

/* fn(task), of exec and exit: always the current one. */
static __always_inline int with_current(int (*fn)(struct task_struct *task))
{
	fn(bpf_get_current_task_btf());
	return PASS;
}

#endif
