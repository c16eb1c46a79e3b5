/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What was around a verdict: the processes that were there, and those of them that share what ran
 * out. Live and of a recording alike, from a report's source.
 */
#ifndef PEAKPHASE_VIEW_AROUND_H
#define PEAKPHASE_VIEW_AROUND_H

#include "view/source.h"
#include "view/verdict.h"

#define AROUND_CGROUPS_MAX 256u /* by name; of those beyond the number alone is compared */

struct around_row {
	uint64_t mm_id, start_ns, end_ns; /* end 0: it goes on */
	uint64_t cgroup_id;
	uint64_t grew_most; /* no phase of it grew by more */
	uint32_t pid, ns_pid;
	char comm[17];
};

struct around {
	const struct report_source *src;
	struct around_row *rows; /* by mm_id */
	size_t n, cap;
	struct cgroup *cgroups;
	size_t ncgroups;
};

/* Of all processes of the source. 0 or -errno; to be freed anyway. */
int around_load(struct around *a, const struct report_source *src);
/* Of p, and with `all` of all others that the source has. */
int around_load_of(struct around *a, const struct report_source *src, const struct process *p,
		   bool all);
void around_free(struct around *a);

/* NULL: it is not among them. */
const struct around_row *around_find(const struct around *a, uint64_t mm_id);
/* Good as long as the rows are. */
struct verdict_who around_who(const struct around *a, const struct verdict *v);

/* Each other process that was there and shares what ran out: its memory cgroup's, else all. */
int around_each_other(const struct around *a, const struct verdict *v,
		      int (*fn)(void *, const struct around_row *), void *arg);

#endif
