/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A peak of a recording explained (model/why.h): found here, shown by report --why. */
#ifndef PEAKPHASE_VIEW_EXPLAIN_H
#define PEAKPHASE_VIEW_EXPLAIN_H

#include "lib/json.h"
#include "model/why.h"
#include "view/source.h"

#define EXPLAIN_NAMES 8 /* labels that a pattern matched, kept */

struct explained {
	struct process p;
	struct peak peak;
	bool has_phase;
	struct phase phase;  /* whose peak it is; without where */
	const char *pattern; /* NULL: the largest peak of all */
	uint64_t matches;    /* phases */
	struct name names[EXPLAIN_NAMES];
	size_t nnames;
	bool more_names;
	struct why *why;
	const struct why_row *rows; /* largest first; their sum is peak.bytes */
	size_t n;
	bool exact;
};

/*
 * The largest peak of all processes, or the highest of the phases that pattern matches. 0,
 * -ENODATA: nothing was traced, -ENOENT: no phase matches, -errno of the source.
 */
int explain(struct explained *x, const struct report_source *src, const char *pattern);
void explain_free(struct explained *x);

/* The value of "why" in report --json. */
void explain_json(struct jw *j, const struct explained *x);

#endif
