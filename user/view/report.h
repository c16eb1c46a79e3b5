/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The report: which phase set the peak, then phase by phase. Rows are streamed: memory does not
 * depend on their number. Not thread-safe.
 */
#ifndef PEAKPHASE_VIEW_REPORT_H
#define PEAKPHASE_VIEW_REPORT_H

#include <stdio.h>

#include "view/source.h"

struct budgets;
struct explained;
struct ranking;

/* What more was asked for; members may be NULL. The text has them in the place of the rows. */
struct report_asked {
	const struct explained *why;
	const struct ranking *rank;
	const struct budgets *budgets; /* which have been checked; JSON alone has them */
};

struct report_style {
	bool ascii; /* the locale is not UTF-8: "<-" for "◀", every other character escaped */
	bool color;
	bool members;	/* anon, file and shmem at the peak of each phase */
	bool notes;	/* the texts that the program gave to its phases */
	unsigned width; /* columns of the terminal; 0: not a terminal, labels are never cut */
};

/* asked may be NULL. Text. 0, -ENODATA (no process was traced; said in the text), -errno of the
 * source or of f. */
int report_text(const struct report_source *src, const struct report_style *style,
		const struct report_asked *asked, FILE *f);

/* JSON, as docs/json.md describes it. 0 or -errno of the source or of f. */
int report_json(const struct report_source *src, const struct report_asked *asked, FILE *f);

#endif
