/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is around a verdict while the tracing goes on: from the model, nothing else is kept. */
#ifndef PEAKPHASE_CMD_TRACE_AROUND_H
#define PEAKPHASE_CMD_TRACE_AROUND_H

#include "cmd/note_cgroup.h"
#include "view/around.h"

struct trace_around {
	const struct model *model;
	const struct noted_cgroups *cgroups; /* NULL: they go unnamed */
	uint64_t at_ns;			     /* the verdict's moment, which is now */
	struct report_source src;	     /* set by it; good as long as *ta is */
};

/*
 * Of a verdict on p, from within the model's call. The source has what views of one verdict ask:
 * processes that live, of their ended phases the one that grew most, those that are open.
 */
void trace_around_init(struct trace_around *ta, const struct model *m,
		       const struct noted_cgroups *cgroups, const struct verdict *v);

#endif
