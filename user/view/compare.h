/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Recordings label by label: numbers of all phases of a label, in each of them. Labels are those of
 * all processes together; memory grows with the number of phases. Not thread-safe.
 */
#ifndef PEAKPHASE_VIEW_COMPARE_H
#define PEAKPHASE_VIEW_COMPARE_H

#include "model/name.h"
#include "view/answer.h"

#define COMPARE_MAX 26 /* recordings: A to Z */

enum measure { OF_PEAK, OF_GREW, OF_KEPT, OF_TIME, MEASURES };

#define MEASURE_NONE INT64_MIN /* not known: how much a phase that is open grew by */

/* The median of an even number is the mean of the two in the middle, rounded down. */
struct spread {
	int64_t min, median, max; /* bytes; OF_TIME: ns; of those that are known, or MEASURE_NONE */
};

struct compared {
	uint64_t count; /* 0: this recording has no such phase */
	bool exact;	/* all of them */
	struct spread of[MEASURES];
};

struct compare_row {
	const struct name *name;
	const struct compared *in; /* one for each recording */
};

int64_t measure_of(const struct phase *ph, enum measure m);

struct compare;

int compare_new(struct compare **c, size_t recordings);
void compare_free(struct compare **c);
/* All phases of recording i, from 0. 0 or -errno. */
int compare_read(struct compare *c, size_t i, const struct report_source *src);
/*
 * Rows in the order in which their labels first came, those of the first recording before those
 * that only later ones have. 0 or -ENOMEM.
 */
int compare_end(struct compare *c, const struct compare_row **rows, size_t *n);

size_t compare_recordings(const struct compare *c);
const struct answer *compare_answer(const struct compare *c, size_t i);
/* The row with the name of ph; NULL: there is none. After compare_end(). */
const struct compare_row *compare_find(const struct compare *c, const struct phase *ph);

/* to − from in tenths of a percent of from, rounded; false: from is 0 or less. */
bool compare_permille(int64_t from, int64_t to, int64_t *out);

#endif
