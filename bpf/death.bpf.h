/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who sent the signal that ends a process: kept from the signal to the exit. */
#ifndef PEAKPHASE_DEATH_BPF_H
#define PEAKPHASE_DEATH_BPF_H

#include "emit.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC); /* few processes are killed */
	__uint(max_entries, 4096);
	__type(key, u32); /* thread group */
	__type(value, struct pp_sender);
} senders __weak SEC(".maps");

static __always_inline void fill_sender(struct pp_sender *to, u32 tgid)
{
	const struct pp_sender *from = bpf_map_lookup_elem(&senders, &tgid);

	if (from)
		*to = *from;
	else
		__builtin_memset(to, 0, sizeof(*to));
}

/*
 * The OOM killer leaves its mark in the victim whatever else happens: no record that was lost, and
 * no attach that came late, can hide it.
 */
static __always_inline bool chosen_by_oom(struct task_struct *task)
{
	return BPF_CORE_READ(task, signal, oom_mm) != NULL;
}

/* Of the process that the mm belongs to, as it ends; the last user of the mm tells it. */
static __always_inline void keep_death(struct mm_state *st, struct task_struct *task, u16 kind)
{
	if (kind != PP_EXIT)
		return;
	st->end_flags = chosen_by_oom(task) ? PP_EXIT_OOM : 0;
	fill_sender(&st->end_sender, task->tgid);
}

#endif
