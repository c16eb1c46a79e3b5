/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A shell script starts processes by the dozen that do nothing of note: they would bury those with
 * phases. Those that marked nothing and have ended by themselves within a second are one row, if
 * there are several; never the first of all, nor the one with the largest peak.
 */
#include "view/top/view.h"

#define SHORT_NS 1000000000ull
#define SEVERAL 4

/* A process without marks has one phase. */
static bool is_small(const struct board *b, const struct board_process *bp)
{
	const struct process *p = &bp->p;

	if (p->mm_id == b->peak.mm_id || p->start_ns == b->first_ns)
		return false;
	if (p->phases != 1 || p->exit != PX_EXIT || p->end_ns - p->start_ns >= SHORT_NS)
		return false;
	return !bp->phases || bp->phases->ph.kind >= PH_STARTUP;
}

void top_roll_up(struct top_view *v)
{
	const struct board_process *top = board_largest(v->b);
	bool applies = !v->s->flat && !v->s->filter[0];
	struct top_list *l = v->list;

	l->small = 0;
	l->small_peak = 0;
	for (struct board_process *bp = v->b->processes; bp; bp = bp->hh.next) {
		bp->small = applies && bp != top && bp->last_ns <= v->at && is_small(v->b, bp);
		if (!bp->small)
			continue;
		l->small++;
		if (bp->p.peak.bytes > l->small_peak)
			l->small_peak = bp->p.peak.bytes;
	}
	if (l->small >= SEVERAL)
		return;
	l->small = 0;
	for (struct board_process *bp = v->b->processes; bp; bp = bp->hh.next)
		bp->small = false;
}
