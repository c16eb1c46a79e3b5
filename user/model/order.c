/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Edges of one mm into the order of their numbers. Two CPUs may cut windows in one order and
 * reserve room in the ring in the other: then the later edge waits here, a little.
 */
#include "model/order.h"

#include <stdlib.h>

#include "model/mm.h"
#include "model/pending.h"

/* Folds the first of the pending. *p is nulled when that ended the process. */
static int fold_first(struct model *m, struct mm **p)
{
	struct pending *e = pending_take(m, *p);
	int err = mm_edge(m, p, &e->ev, e->win);

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
	uint64_t win = p->begun ? number_of_window(p, ev->edge.win.seq) : ev->edge.win.seq;
	bool due = p->begun ? win <= p->next : ev->kind == PP_BASE || !win;
	int err;

	if (due) {
		err = mm_edge(m, &p, ev, win);
		return err ? err : fold_due(m, &p);
	}
	err = pending_hold(m, p, ev, win);
	if (!err && p->npending > PENDING_MAX)
		err = skip(m, &p);
	return err;
}
