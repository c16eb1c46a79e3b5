/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Recordings shown: of `report` and `diff`, and of `run` and `attach` when they are done. */
#ifndef PEAKPHASE_CMD_SHOW_H
#define PEAKPHASE_CMD_SHOW_H

#include <stdbool.h>
#include <stdio.h>

#include "view/rank.h"
#include "view/report.h"

struct budgets;

#define SHOW_OUTPUT_MAX 32

struct show_options {
	bool json;
	bool no_color;
	bool notes;		 /* the texts that the program gave to its phases */
	struct budgets *budgets; /* NULL: none */
	enum rank_by rank;	 /* phases by it in the place of the rows; RANK_NONE: no */
	bool output;		 /* what the program wrote, in these phases; none: in all */
	const char *output_of[SHOW_OUTPUT_MAX];
	size_t noutput_of;
	bool why;	       /* explain a peak */
	const char *why_phase; /* of phases of that label; NULL: the largest of all */
	bool members;	       /* anon, file and shmem of every phase */
};

/*
 * Opens, writes, closes; says errors and what is over its budget. A reader that stops reading
 * (EPIPE) is no error. Returns an exit status: STATUS_DONE, STATUS_FAILED, STATUS_OVER_BUDGET.
 */
int show_recording(const char *path, const struct show_options *opt, FILE *f);

/* Colors, width and characters for f. */
struct report_style show_style(bool no_color, FILE *f);
#endif
