/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef PEAKPHASE_CMD_NOTE_CGROUP_H
#define PEAKPHASE_CMD_NOTE_CGROUP_H

#include "resolve/cgroup_names.h"
#include "store/store.h"

/* What the cgroup of a process that has begun is called; false: that was told, or is not known. */
bool note_cgroup(struct cgroup *out, struct cgroup_names *n, const struct process *p);

#endif
