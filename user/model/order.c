/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Edges of one mm into the order of their numbers. Two CPUs may cut windows in one order and
 * reserve room in the ring in the other: then the later edge waits here, a little.
 */
#include "model/mm.h"

#include <errno.h>
#include <stdlib.h>

#define SEQ_MASK 0xffffffull
#define SEQ_HALF 0x800000ull

/* The number nearest to the one that is due. */
uint64_t order_extend(const struct mm *p, uint64_t seq)
{
	uint64_t ahead = (seq + p->shift - p->next) & SEQ_MASK;
	uint64_t behind = (SEQ_MASK + 1) - ahead;

	if (ahead < SEQ_HALF)
		return p->next + ahead;
	return minus(p->next, behind);
}

static void forget(struct model *m, struct mm *p)
{
	if (!p->waiting)
		return;
	DL_DELETE2(m->waiting, p, wprev, wnext);
	p->waiting = false;
}

static int hold(struct model *m, struct mm *p, const struct event *ev, uint64_t win)
{
	struct pending *e = malloc(sizeof(*e)), *at;

	if (!e)
		return -ENOMEM;
	e->win = win;
	e->ev = *ev;
	DL_FOREACH (p->pending, at)
		if (at->win > win)
			break;
	if (at)
		DL_PREPEND_ELEM(p->pending, at, e);
	else
		DL_APPEND(p->pending, e);
	p->npending++;
	m->counts.reordered++;
	if (!p->waiting) {
		p->waiting = true;
		p->pending_since = ev->time_ns;
		DL_APPEND2(m->waiting, p, wprev, wnext);
	}
	return 0;
}

/* Folds the first of the pending. *p is nulled when that ended the process. */
static int fold_first(struct model *m, struct mm **p)
{
	struct pending *e = (*p)->pending;
	int err;

	DL_DELETE((*p)->pending, e);
	if (!--(*p)->npending)
		forget(m, *p);
	err = mm_edge(m, p, &e->ev, e->win);
	free(e);
	return err;
}

static int fold_due(struct model *m, struct mm **p)
{
	int err = 0;

	while (!err && *p && (*p)->pending && (*p)->pending->win <= (*p)->next)
		err = fold_first(m, p);
	return err;
}

/* The edge due never came: go on with the next there is. */
static int skip(struct model *m, struct mm **p)
{
	int err = fold_first(m, p);

	return err ? err : fold_due(m, p);
}

int order_force(struct model *m, struct mm **p)
{
	int err = 0;

	while (!err && *p && (*p)->pending)
		err = skip(m, p);
	return err;
}

int order_timeouts(struct model *m, uint64_t now_ns)
{
	while (m->waiting && minus(now_ns, m->waiting->pending_since) > PENDING_NS) {
		struct mm *p = m->waiting;
		int err = order_force(m, &p);

		if (err)
			return err;
	}
	return 0;
}

int order_edge(struct model *m, struct mm *p, const struct event *ev)
{
	uint64_t win = p->begun ? order_extend(p, ev->edge.win.seq) : ev->edge.win.seq;
	bool due = p->begun ? win <= p->next : ev->kind == PP_BASE || !win;
	int err;

	if (due) {
		err = mm_edge(m, &p, ev, win);
		return err ? err : fold_due(m, &p);
	}
	err = hold(m, p, ev, win);
	if (!err && p->npending > PENDING_MAX)
		err = skip(m, &p);
	return err;
}

/* The process ended: what is still pending came after its end. */
void order_drop(struct model *m, struct mm *p)
{
	struct pending *e, *next;

	DL_FOREACH_SAFE(p->pending, e, next)
	{
		DL_DELETE(p->pending, e);
		m->counts.orphans++;
		free(e);
	}
	p->npending = 0;
	forget(m, p);
}
