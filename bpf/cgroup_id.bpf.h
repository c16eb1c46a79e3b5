/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which cgroup a task is in. A cgroup is named by its hierarchy and its number within it, which is
 * the inode of its folder: so userspace needs no more than stat(2) to name one.
 */
#ifndef PEAKPHASE_CGROUP_ID_BPF_H
#define PEAKPHASE_CGROUP_ID_BPF_H

#include "charge.bpf.h"

static __always_inline u64 id_of_cgroup(u64 cgroup)
{
	u64 kn = cgroup ? read_u64(cgroup + bpf_core_field_offset(struct cgroup, kn)) : 0;

	return kn ? read_u64(kn + bpf_core_field_offset(struct kernfs_node, id)) : 0;
}

/* The number of the cgroup that a task's memory is charged to; without a controller, of its v2 one.
 */
static __always_inline u64 cgroup_id_of(struct task_struct *task)
{
	u64 set = (u64)BPF_CORE_READ(task, cgroups), css;

	if (!set)
		return 0;
	if (!charge_known())
		return id_of_cgroup(
		    read_u64(set + bpf_core_field_offset(struct css_set, dfl_cgrp)));
	css = read_u64(set + bpf_core_field_offset(struct css_set, subsys) +
		       bpf_core_enum_value(enum cgroup_subsys_id, memory_cgrp_id) * 8);
	if (!css)
		return 0;
	return id_of_cgroup(
	    read_u64(css + bpf_core_field_offset(struct cgroup_subsys_state, cgroup)));
}

#endif
