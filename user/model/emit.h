/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Private to user/model: points, and phases from them. */
#ifndef PEAKPHASE_MODEL_EMIT_H
#define PEAKPHASE_MODEL_EMIT_H

#include "model/state.h"

struct point point_now(struct model *m, const struct mm *p, const struct tally *tally);
void point_drop(struct model *m, struct point *pt);
struct maxima maxima_since(const struct mm *p, const struct point *from);
/* Of the gap that is open. */
struct gap_cut gap_so_far(const struct mm *p);
void emit_phase(struct model *m, struct mm *p, const struct point *from, const struct tally *now,
		struct phase *ph);
void emit_part(struct model *m, struct mm *p, const struct point *from, const struct point *until,
	       const struct maxima *max, struct phase *ph);
/* It is open (phase_open()): where nothing is known of a count, that is not 0. */
void leave_open(struct phase *ph);
void compact(struct mm *p);

#endif
