/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "model/pending.h"

#include <errno.h>
#include <stdlib.h>

#include "model/verdict_private.h"

static void forget(struct model *m, struct mm *p)
{
	if (!p->waiting)
		return;
	DL_DELETE2(m->waiting, p, wprev, wnext);
	p->waiting = false;
}

int pending_hold(struct model *m, struct mm *p, const struct event *ev, uint64_t win)
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

struct pending *pending_take(struct model *m, struct mm *p)
{
	struct pending *e = p->pending;

	DL_DELETE(p->pending, e);
	if (!--p->npending)
		forget(m, p);
	return e;
}

void pending_drop(struct model *m, struct mm *p)
{
	struct pending *e, *next;

	DL_FOREACH_SAFE(p->pending, e, next)
	{
		DL_DELETE(p->pending, e);
		/* A victim that ran ahead of its killer has ended before it was marked. */
		if (e->ev.kind != PP_OOM || !verdict_oom_late(m, &e->ev))
			m->counts.orphans++;
		free(e);
	}
	p->npending = 0;
	forget(m, p);
}
