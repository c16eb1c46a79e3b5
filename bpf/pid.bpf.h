/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which number a task has for whom.
 *
 * Maps are keyed by the kernel's own tgid, which no two processes share. Records carry the pids of
 * the tracer's pid namespace, which are those of its /proc, and what people give to -p. On the host
 * the two are the same, cfg_nested is a constant 0, and nothing here is left of the rest.
 */
#ifndef PEAKPHASE_PID_BPF_H
#define PEAKPHASE_PID_BPF_H

#include "read.bpf.h"
#include "state.bpf.h"

/* A task's entry of the namespace at one level; the caller knows that there is one. */
static __always_inline u64 upid_at(struct pid *pid, u32 level)
{
	return (u64)pid + bpf_core_field_offset(struct pid, numbers) +
	       (u64)level * bpf_core_type_size(struct upid);
}

static __always_inline u32 nr_of(u64 upid)
{
	return read_s32(upid + bpf_core_field_offset(struct upid, nr));
}

/* Address of the namespace, or 0. */
static __always_inline u64 ns_of(u64 upid)
{
	return read_u64(upid + bpf_core_field_offset(struct upid, ns));
}

/* The id of a thread in its own namespace, the innermost. */
static __always_inline u32 ns_pid_of(struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, thread_pid);

	return nr_of(upid_at(pid, BPF_CORE_READ(pid, level)));
}

/* The id of a thread in the tracer's namespace; 0: it cannot be seen there, as getppid(2) says it.
 */
static __always_inline u32 tid_inside(struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	u32 level = setup.pid_level;
	u64 upid;

	if (!pid || BPF_CORE_READ(pid, level) < level)
		return 0;
	upid = upid_at(pid, level);
	return ns_of(upid) == setup.pid_ns ? nr_of(upid) : 0;
}

/* Of a task that the verifier knows. */
static __always_inline u32 tid_here(struct task_struct *task)
{
	return cfg_nested ? tid_inside(task) : task->pid;
}

static __always_inline u32 pid_here(struct task_struct *task)
{
	return cfg_nested ? tid_inside(BPF_CORE_READ(task, group_leader)) : task->tgid;
}

static __always_inline u32 parent_here(struct task_struct *task)
{
	if (cfg_nested)
		return tid_inside(BPF_CORE_READ(task, real_parent, group_leader));
	return BPF_CORE_READ(task, real_parent, tgid);
}

#endif
