/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Checkpoints, and the implied phases between marks, so that nothing hides.
 *
 * A gap is open while no span is; it is handed out as (startup), (between) or (after) at the next
 * begin of a span or at the end. A checkpoint names time that has already gone by: a gap that it
 * covers from its beginning is not handed out, and what was handed out within it is taken back. Of
 * a gap that began before it only that part is handed out.
 */
#include "model/checkpoint.h"

#include <string.h>

#include "model/emit.h"
#include "model/overlap.h"
#include "model/thread.h"

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
static bool empty(const struct mm *p, uint64_t until_win, uint64_t until_ns,
		  const struct maxima *max)
{
	const struct point *g = &p->gap;

	if (until_win == g->win)
		return true;
	return g->time_ns == until_ns && g->win != p->start.win && max->peak.bytes <= g->bytes;
}

enum phase_kind gap_kind(const struct mm *p, bool last)
{
	if (!p->marked)
		return PH_STARTUP;
	return last ? PH_AFTER : PH_BETWEEN;
}

static void handed_out(struct mm *p)
{
	if (!p->implied)
		p->implied_first = p->gap.win;
	p->implied_last = p->gap.win;
	p->implied = true;
}

void gap_end(struct model *m, struct mm *p, bool last, enum phase_ended how)
{
	struct phase ph = {
	    .tid = p->pub.pid,
	    .kind = gap_kind(p, last),
	    .ended_by = how,
	    .exact = true,
	};
	struct maxima max;

	if (!p->gap_open)
		return;
	p->gap_open = false;
	max = maxima_since(p, &p->gap);
	/* A process without any other row gets this one, even if it lived for no time at all. */
	if (!empty(p, p->next - 1, p->last_ns, &max) || (last && !p->pub.phases)) {
		handed_out(p);
		emit_phase(m, p, &p->gap, &p->sum, &ph);
	}
	point_drop(m, &p->gap);
}

/*
 * The gap ends where thread t began, whose first checkpoint covers the rest. Later checkpoints
 * begin where a gap began with them, or a later one than theirs is open.
 */
static void gap_end_at(struct model *m, struct mm *p, const struct thread *t)
{
	struct phase ph = {
	    .tid = p->pub.pid,
	    .kind = gap_kind(p, false),
	    .ended_by = PH_BY_MARK,
	    .exact = true,
	};
	struct point until = t->from;

	p->gap_open = false;
	until.tally = t->cut.sum;
	if (!empty(p, until.win, until.time_ns, &t->cut.max)) {
		handed_out(p);
		emit_part(m, p, &p->gap, &until, &t->cut.max, &ph);
	}
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
	if (p->grown.kind >= PH_STARTUP && p->grown.start_win >= from)
		p->grown = (struct phase){0};
	if (m->sink.implied_covered)
		m->sink.implied_covered(m->sink.ctx, p->id, from, p->next - 1);
}

void checkpoint(struct model *m, struct mm *p, struct thread *t, const struct event *ev)
{
	const struct ev_edge *e = &ev->edge;
	struct phase ph = {
	    .tid = t->tid,
	    .kind = PH_CHECKPOINT,
	    .ended_by = PH_BY_MARK,
	    .origin = origin_of(ev),
	    .label = e->label,
	    .printed_bytes = e->printed,
	    .depth = t->from_depth,
	    .exact = true,
	};

	t->idle = false;
	ph.overlaps = overlap_checkpoint(p, t);
	if (p->gap_open && t->from.win > p->gap.win)
		gap_end_at(m, p, t);
	p->marked = p->checkpoints = true;
	p->last_mark.len = e->label.len;
	p->last_mark.flags = e->label.flags;
	p->last_mark.hash = e->label.hash;
	memcpy(p->last_mark.bytes, e->label.bytes, e->label.len);
	cover(m, p, t->from.win);
	emit_phase(m, p, &t->from, &t->last, &ph);
	thread_restart(m, p, t);
	if (!p->open)
		gap_begin(m, p);
}
