/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lives of processes: begun by a base, told by edges, ended by exec, exit, or the end of tracing.
 */
#include "model/mm.h"

#include <errno.h>
#include <stdlib.h>

#include "model/checkpoint.h"
#include "model/emit.h"
#include "model/fold.h"
#include "model/mms.h"
#include "model/span.h"
#include "model/thread.h"
#include "model/verdict_private.h"
#include "model/where.h"

static enum phase_ended ended_by(enum process_exit how)
{
	switch (how) {
	case PX_EXIT:
		return PH_BY_EXIT;
	case PX_SIGNAL:
		return PH_BY_SIGNAL;
	case PX_OOM:
		return PH_BY_OOM;
	case PX_EXEC:
		return PH_BY_EXEC;
	case PX_RUNNING:
		break;
	}
	return PH_BY_TRACE;
}

int mm_end(struct model *m, struct mm **pp, enum process_exit how, uint32_t status)
{
	struct mm *p = *pp;
	enum phase_ended by = ended_by(how);

	span_close_all(m, p, by);
	gap_end(m, p, true, by);
	p->pub.exit = how;
	p->pub.status = status;
	p->pub.end_ns = how == PX_RUNNING ? 0 : p->last_ns;
	verdict_ended(m, p);
	if (m->sink.process_ended)
		m->sink.process_ended(m->sink.ctx, &p->pub);
	m->ended[m->nended++ % (sizeof(m->ended) / sizeof(*m->ended))] = p->id;
	mm_free(m, pp);
	return 0;
}

/* The status word of wait(2): low seven bits are the signal, the core flag above them. */
static int end_by_exit(struct model *m, struct mm **p, const struct event *ev)
{
	enum process_exit how = verdict_killed(m, *p, ev);
	uint32_t code = ev->edge.exit_code;

	return mm_end(m, p, how, how == PX_EXIT ? code >> 8 & 0xff : code & 0x7f);
}

static int dispatch(struct model *m, struct mm **pp, const struct event *ev)
{
	const struct ev_edge *e = &ev->edge;
	struct tally now = {e->thread_grew, e->thread_shrank, e->minflt, e->majflt};
	struct mm *p = *pp;
	struct thread *t;

	/* Nothing that a thread did. */
	if (ev->kind == PP_BASE)
		return 0;
	if (ev->kind == PP_OOM) {
		verdict_oom(m, p, ev);
		return 0;
	}
	t = ev->kind == PP_THREAD ? thread_begin(m, p, ev->tid, &now)
				  : thread_get(m, p, ev->tid, &now);
	if (!t)
		return -ENOMEM;
	thread_count(p, t, &now);
	switch (ev->kind) {
	case PP_MARK:
		checkpoint(m, p, t, ev);
		return 0;
	case PP_BEGIN:
		return span_begin(m, p, t, ev);
	case PP_END:
		return span_end(m, p, ev);
	case PP_THREAD_EXIT:
		thread_exit(m, p, t);
		return 0;
	case PP_EXEC:
		return mm_end(m, pp, PX_EXEC, 0);
	case PP_EXIT:
		return end_by_exit(m, pp, ev);
	case PP_DETACH:
		/* It goes on without us, and we know all of it so far: this edge ends its last
		 * window. */
		return mm_end(m, pp, PX_RUNNING, 0);
	case PP_BASE:
	case PP_THREAD:
	case PP_OOM:
	case PP_OOM_OTHER:
	case PP_CROSS:
	case PP_SAMPLE:
	case PP_FAULT:
	case PP_NOTE:
	case PP_WRITE:
	case PP_OUTPUT:
	case PP_KIND_MAX:
		break;
	}
	return 0;
}

void mm_doubt(struct mm *p)
{
	p->doubts++;
	p->pub.exact = false;
}

/* The base was lost. Its window went on, so the first edge after it has the base's number, 0. */
static int begin_orphan(struct model *m, struct mm *p, const struct event *ev, uint64_t *win)
{
	struct pending *e;

	if (!*win) {
		p->shift = *win = 1;
		DL_FOREACH (p->pending, e)
			e->win++;
	}
	return fold_orphan(m, p, ev, *win);
}

/* What happened in the window that this edge ends, in the phases that are open. */
static void look_at(struct model *m, struct mm *p, const struct event *ev)
{
	verdict_note(p, p->last_ns, p->now_bytes);
	if (m->opt.ceiling || m->opt.headroom)
		verdict_cross(m, p, ev);
}

static bool is_same(const struct event *ev)
{
	return ev->flags & PP_F_SAME &&
	       (ev->kind == PP_MARK || ev->kind == PP_BEGIN || ev->kind == PP_END);
}

int mm_edge(struct model *m, struct mm **pp, const struct event *ev, uint64_t win)
{
	struct mm *p = *pp;
	int err;

	if (!p->begun && ev->kind == PP_BASE) {
		err = fold_base(m, p, ev, win);
		if (!err)
			look_at(m, p, ev);
		return err;
	}
	if (!p->begun) {
		if (is_same(ev)) {
			m->counts.orphans++;
			return 0;
		}
		err = begin_orphan(m, p, ev, &win);
		if (err)
			return err;
	}
	/* One more mark at the edge that has just been folded. */
	if (is_same(ev))
		return dispatch(m, pp, ev);
	if (win < p->next)
		m->counts.reordered++;
	if (win != p->next)
		mm_doubt(p);
	err = fold_window(m, p, ev, win);
	if (!err) {
		look_at(m, p, ev);
		err = dispatch(m, pp, ev);
	}
	p = *pp;
	if (!err && p) {
		where_window(p);
		compact(p);
	}
	return err;
}
