/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fork, exec and exit where tp_btf programs are preempted. */
#include "cgroup.bpf.h"
#include "lifecycle.bpf.h"
#include "unpreempted.bpf.h"

SEC("tp/sched/sched_process_fork")
int on_fork_unpreempted(struct trace_event_raw_sched_process_fork *ctx)
{
	u32 tgid = bpf_get_current_pid_tgid() >> 32;

	/* As a rule nobody's: to find the child is not for free. */
	return bpf_map_lookup_elem(&procs, &tgid) ? with_child(ctx, forked) : PASS;
}

SEC("tp/sched/sched_process_exec")
int on_exec_unpreempted(void *ctx)
{
	return with_current(execed);
}

SEC("tp/sched/sched_process_exit")
int on_exit_unpreempted(void *ctx)
{
	return with_current(exited);
}

SEC("tp/sched/sched_process_fork")
int on_fork_into_unpreempted(struct trace_event_raw_sched_process_fork *ctx)
{
	return with_child(ctx, forked_into);
}
