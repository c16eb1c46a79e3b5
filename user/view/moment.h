/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The processes that lived at a moment of the job: of its largest sum, of its largest charge. */
#ifndef PEAKPHASE_VIEW_MOMENT_H
#define PEAKPHASE_VIEW_MOMENT_H

#include "view/source.h"

struct moment_row {
	uint64_t mm_id;
	uint64_t bytes;	   /* RSS then; EV_NONE: not known */
	uint64_t start_ns; /* of the process */
	uint32_t pid;
	char comm[17];
};

struct moment {
	uint64_t at_ns;
	struct moment_row *rows; /* by start */
	size_t n, cap;
};

/* What each held when the sum of all was largest; without rows where that is not known. */
int moment_of_sum(struct moment *m, const struct report_source *src);
/* Which lived when the largest charge was seen. */
int moment_of_charge(struct moment *m, const struct report_source *src);
void moment_free(struct moment *m);
/* Those that held most first. */
void moment_sort(struct moment *m);

/* Phases of a row's process open at the moment, outermost first. */
int moment_phases(const struct moment *m, const struct moment_row *row,
		  const struct report_source *src, report_phase_fn fn, void *arg);

/* Are the sum and its bound known: nothing lost that they are made of? */
bool moment_sum_bounded(const struct report_run *run);

#endif
