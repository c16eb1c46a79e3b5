/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The phases that needed most memory of a kind, of all processes. */
#ifndef PEAKPHASE_VIEW_RANK_H
#define PEAKPHASE_VIEW_RANK_H

#include "lib/json.h"
#include "view/source.h"

#define RANK_MAX 50

enum rank_by { RANK_NONE, RANK_TOTAL, RANK_ANON, RANK_FILE };

struct ranking {
	enum rank_by by;
	struct phase rows[RANK_MAX]; /* largest first; without where */
	size_t n;
	uint64_t more; /* phases that are not in rows */
};

/* "anon", "file", "total"; else RANK_NONE. */
enum rank_by rank_named(const char *name);
uint64_t rank_bytes(const struct phase *ph, enum rank_by by);
/* For the caller to free(). 0 or -errno. */
int rank_phases(struct ranking **out, const struct report_source *src, enum rank_by by);

/* The value of "rank" in report --json. */
void rank_json(struct jw *j, const struct ranking *r);

#endif
