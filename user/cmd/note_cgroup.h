/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the memory cgroups of the traced processes are called, kept while a tracing lasts. */
#ifndef PEAKPHASE_CMD_NOTE_CGROUP_H
#define PEAKPHASE_CMD_NOTE_CGROUP_H

#include "model/cgroup.h"
#include "model/phase.h"

#define NOTED_CGROUPS_MAX 1024u /* of 2 KiB each; those beyond go unnamed in messages */

struct noted_cgroups;

/* NULL: no memory. */
struct noted_cgroups *noted_cgroups_new(void);
void noted_cgroups_free(struct noted_cgroups **n);

/* That of a process that has just come in: true where its names are told for the first time. */
bool note_cgroup(struct cgroup *out, struct noted_cgroups *n, const struct process *p);

/* NULL: its names are not known. */
const struct cgroup *noted_cgroup(const struct noted_cgroups *n, uint64_t id);

#endif
