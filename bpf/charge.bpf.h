/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the memory cgroup is charged, and the smallest limit on the way to the root.
 * struct mem_cgroup.memory is the same on cgroup v1 and v2, so one way serves both.
 */
#ifndef PEAKPHASE_CHARGE_BPF_H
#define PEAKPHASE_CHARGE_BPF_H

#include "counters.bpf.h"

#define MAX_LEVELS 32
/* "No limit" is PAGE_COUNTER_MAX, LONG_MAX / PAGE_SIZE; v1 rounds it down to whole pages. */
#define NO_LIMIT_PAGES (1ull << 50)

struct charge {
	u64 usage_addr, limiter_addr;
	u64 limit;
	u32 level;
	u64 css;
};

static long charge_level(u32 level, struct charge *c)
{
	u64 max;

	if (!c->css)
		return 1;
	/* css is mem_cgroup's first member; CO-RE would say otherwise. */
	max = read_u64(c->css + bpf_core_field_offset(struct mem_cgroup, memory) +
		       bpf_core_field_offset(struct page_counter, max));
	if (max < c->limit) {
		c->limit = max;
		c->level = level;
		c->limiter_addr = c->css + bpf_core_field_offset(struct mem_cgroup, memory) +
				  bpf_core_field_offset(struct page_counter, usage);
	}
	c->css = read_u64(c->css + bpf_core_field_offset(struct cgroup_subsys_state, parent));
	return 0;
}

static __always_inline bool charge_known(void)
{
	return bpf_core_type_exists(struct mem_cgroup) &&
	       bpf_core_enum_value_exists(enum cgroup_subsys_id, memory_cgrp_id);
}

/* The memory cgroup (address) of a task (address). 0: no memory controller. */
static __always_inline u64 memcg_of(u64 task)
{
	u64 cgroups;

	if (!charge_known())
		return 0;
	cgroups = read_u64(task + bpf_core_field_offset(struct task_struct, cgroups));
	return read_u64(cgroups + bpf_core_field_offset(struct css_set, subsys) +
			bpf_core_enum_value(enum cgroup_subsys_id, memory_cgrp_id) * 8);
}

/*
 * Where the charge of a task (its address) is counted, and its smallest limit. 0 addresses: no
 * memory controller. Costs a walk up the hierarchy: at edges only.
 */
static __always_inline void charge_find(u64 task, struct charge *c)
{
	c->usage_addr = c->limiter_addr = 0;
	c->limit = PP_NO_LIMIT;
	c->level = 0;
	c->css = memcg_of(task);
	if (!c->css)
		return;
	c->usage_addr = c->css + bpf_core_field_offset(struct mem_cgroup, memory) +
			bpf_core_field_offset(struct page_counter, usage);
	c->limit = NO_LIMIT_PAGES;
	bpf_loop(MAX_LEVELS, charge_level, c, 0);
	if (!c->limiter_addr)
		c->limit = PP_NO_LIMIT;
}

/* Two reads for each growth of a traced mm; one where the task's own cgroup has the limit. */
static __always_inline void raise_charge(struct mm_state *st)
{
	u64 usage;

	if (!st->usage_addr)
		return;
	usage = read_u64(st->usage_addr);
	/* The kernel charges pages by the batch (64 since 5.16): most events raise nothing. */
	if (usage > st->charge_max) {
		raise(&st->charge_max, usage);
		st->charge_max_at = bpf_ktime_get_ns();
	}
	if (!st->limiter_addr)
		return;
	if (st->limiter_addr != st->usage_addr)
		usage = read_u64(st->limiter_addr);
	if (usage > st->limiter_max)
		raise(&st->limiter_max, usage);
}

#endif
