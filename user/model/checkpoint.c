/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Checkpoints, and the implied phases between marks, so that nothing hides.
 *
 * A gap is open while no span is; it is handed out as (startup), (between) or (after) at the next
 * begin of a span or at the end. A checkpoint names time that has already gone by: a gap that it
 * covers from its beginning is not handed out, and what was handed out within it is taken back.
 */
#include "model/mm.h"

void gap_begin(struct model *m, struct mm *p)
{
	point_drop(m, &p->gap);
	p->gap = point_now(m, p, &p->sum);
	p->gap_open = true;
}

/*
 * No time, and nothing in it that the phase before it does not show. The first gap has no phase
 * before it.
 */
static bool empty(const struct mm *p)
{
	const struct point *g = &p->gap;
	struct stack_key key;

	if (!stack_max(&p->rss, g->win, &key, NULL))
		return true;
	return g->time_ns == p->last_ns && g->win != p->start.win && key.value <= g->bytes;
}

static enum phase_kind kind_of(const struct mm *p, bool last)
{
	if (!p->marked)
		return PH_STARTUP;
	return last ? PH_AFTER : PH_BETWEEN;
}

void gap_end(struct model *m, struct mm *p, bool last, enum phase_ended how)
{
	struct phase ph = {
	    .tid = p->pub.pid,
	    .kind = kind_of(p, last),
	    .ended_by = how,
	    .exact = true,
	};

	if (!p->gap_open)
		return;
	p->gap_open = false;
	/* A process without any other row gets this one, even if it lived for no time at all. */
	if (empty(p) && !(last && !p->pub.phases)) {
		point_drop(m, &p->gap);
		return;
	}
	if (!p->implied)
		p->implied_first = p->gap.win;
	p->implied_last = p->gap.win;
	p->implied = true;
	emit_phase(m, p, &p->gap, &p->sum, &ph);
	point_drop(m, &p->gap);
}

/* What remains after this began before `from`: its latest start is bounded, not known. */
static void cover(struct model *m, struct mm *p, uint64_t from)
{
	if (!p->implied || p->implied_last < from)
		return;
	if (p->implied_first >= from)
		p->implied = false;
	else
		p->implied_last = from - 1;
	if (m->sink.implied_covered)
		m->sink.implied_covered(m->sink.ctx, p->id, from, p->next - 1);
}

void checkpoint(struct model *m, struct mm *p, struct thread *t, const struct ev_edge *e)
{
	struct phase ph = {
	    .tid = t->tid,
	    .kind = PH_CHECKPOINT,
	    .ended_by = PH_BY_MARK,
	    .label = e->label,
	    .depth = t->from_depth,
	    .exact = true,
	};

	t->idle = false;
	ph.overlaps = overlap_checkpoint(p, t);
	/* A gap that began before this checkpoint has time of its own: it is handed out whole. */
	if (p->gap_open && t->from.win > p->gap.win)
		gap_end(m, p, false, PH_BY_MARK);
	p->marked = true;
	cover(m, p, t->from.win);
	emit_phase(m, p, &t->from, &t->last, &ph);
	thread_restart(m, p, t);
	if (!p->open)
		gap_begin(m, p);
}
