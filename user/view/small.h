/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lines of processes that lived for less than a second without a mark: a script starts them by the
 * thousand. A few a second are shown, the rest is counted.
 */
#ifndef PEAKPHASE_VIEW_SMALL_H
#define PEAKPHASE_VIEW_SMALL_H

#include "model/model.h"

#define SMALL_EACH_SECOND 10
#define SMALL_TEXT_MAX 160

struct small {
	uint64_t second_ns; /* when the second began in which `shown` were shown; time of events */
	unsigned int shown;
	uint64_t folded, most_bytes; /* not shown; the largest peak of them */
};

/* Is the line of ph to be left out? It has been counted then. */
bool small_folds(struct small *s, const struct process *p, const struct phase *ph);
/* "812 more processes of less than a second without marks: largest peak 3.3 MB"; folded > 0. */
void small_format(const struct small *s, char out[static SMALL_TEXT_MAX]);

#endif
