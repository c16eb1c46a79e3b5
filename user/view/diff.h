/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Recordings compared, for people and for programs: docs/diff.md, docs/json.md. */
#ifndef PEAKPHASE_VIEW_DIFF_H
#define PEAKPHASE_VIEW_DIFF_H

#include <stdio.h>

#include "view/compare.h"

struct budgets;

struct diff {
	const struct compare *c; /* after compare_end() */
	const struct compare_row *rows;
	size_t n;
	const char *const *files;      /* of the recordings, as they were given */
	const char *const *commands;   /* what ran; members may be NULL */
	const char *version;	       /* of this program */
	const struct budgets *budgets; /* which have been checked; NULL: none */
};

/* 0 or -errno of f. */
int diff_text(const struct diff *d, bool ascii, bool color, FILE *f);
int diff_json(const struct diff *d, FILE *f);

/* "A" for 0. */
static inline char diff_letter(size_t i)
{
	return (char)('A' + i);
}

#endif
