/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whole cgroups: a process that comes into one is traced, whoever its parent is. There are two ways
 * in: being moved (`docker exec`: a monitor's child is put there), and being born there by
 * clone3(CLONE_INTO_CGROUP). Children of processes inside are followed as any others.
 */
#ifndef PEAKPHASE_CGROUP_BPF_H
#define PEAKPHASE_CGROUP_BPF_H

#include "adopt.bpf.h"

#define CGROUP_LEVELS 64

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, struct cgroup_key);
	__type(value, u32);
} cgroups __weak SEC(".maps");

struct climb {
	struct cgroup_key key;
	u64 cgroup;
	u32 found;
};

static long climb_level(u32 level, struct climb *c)
{
	u64 css;

	if (!c->cgroup)
		return 1;
	c->key.id = id_of_cgroup(c->cgroup);
	if (bpf_map_lookup_elem(&cgroups, &c->key)) {
		c->found = 1;
		return 1;
	}
	css = read_u64(c->cgroup + bpf_core_field_offset(struct cgroup, self) +
		       bpf_core_field_offset(struct cgroup_subsys_state, parent));
	c->cgroup =
	    css ? read_u64(css + bpf_core_field_offset(struct cgroup_subsys_state, cgroup)) : 0;
	return 0;
}

/* Is it, or any above it, one that was asked for? */
static __always_inline bool watched(struct cgroup *cgroup)
{
	struct climb c = {.cgroup = (u64)cgroup};

	c.key.hierarchy = BPF_CORE_READ(cgroup, root, hierarchy_id);
	bpf_loop(CGROUP_LEVELS, climb_level, &c, 0);
	return c.found;
}

/* As it comes in; other threads of it are taken in by userspace, which the base edge tells of them.
 */
static __always_inline void take_in(struct task_struct *task, bool borrows)
{
	struct mm_struct *mm = task->mm;
	struct proc_state p = {.slot = NO_SLOT};
	u32 tgid = task->tgid;
	struct mm_state *st;

	if (!mm || bpf_map_lookup_elem(&procs, &tgid))
		return;
	/* A vfork child runs on the memory of its parent, which has not come in: not before exec.
	 */
	if (borrows || BPF_CORE_READ(task, vfork_done)) {
		bpf_map_update_elem(&procs, &tgid, &p, BPF_NOEXIST);
		return;
	}
	st = state_of(mm);
	if (st)
		return;
	st = mm_adopt(mm, pid_here(task));
	if (!st)
		return;
	p.mm_id = st->mm_id;
	p.slot = st->slot;
	bpf_map_update_elem(&procs, &tgid, &p, BPF_ANY);
	thread_first(task, st);
	send_base(st, task, mm, PP_BY_JOIN, 0);
}

/* On v1 a child is born where its parent is: then the parent is followed, and on_fork has it. */
static __always_inline int forked_into(struct task_struct *parent, struct task_struct *child)
{
	u32 tgid = parent->tgid;
	struct cgroup *cgroup;

	if (child->pid != child->tgid || bpf_map_lookup_elem(&procs, &tgid))
		return 0;
	cgroup = BPF_CORE_READ(child, cgroups, dfl_cgrp);
	if (cgroup && watched(cgroup))
		take_in(child, child->mm == parent->mm);
	return 0;
}

#endif
