/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Spans: open from the edge of their begin to the edge of their end, told apart by token.
 *
 * A program may begin spans without end. There is room for SPANS_MAX of them and LABELS_MAX bytes
 * of labels in all processes; past that, the oldest of the process that has most are closed at its
 * last edge, as inexact, and counted (cut_open).
 */
#include "model/span.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/checkpoint.h"
#include "model/emit.h"
#include "model/overlap.h"
#include "model/thread.h"

static unsigned int hash_token(const struct model *m, uint64_t token)
{
	uint64_t h = (token ^ m->seed) * 0xff51afd7ed558ccdull;

	h = (h ^ (h >> 32)) * 0xc4ceb9fe1a85ec53ull;
	return (unsigned int)(h >> 32);
}

static struct span *find(const struct model *m, struct mm *p, uint64_t token)
{
	struct span *s;

	HASH_FIND_BYHASHVALUE(hh, p->tokens, &token, sizeof(token), hash_token(m, token), s);
	return s;
}

static void table_add(const struct model *m, struct mm *p, struct span *s)
{
	HASH_ADD_BYHASHVALUE(hh, p->tokens, token, sizeof(s->token), hash_token(m, s->token), s);
}

static void table_del(struct mm *p, struct span *s)
{
	if (s->hh.tbl)
		HASH_DEL(p->tokens, s);
	s->hh.tbl = NULL;
}

/* The newest of a token is in the table: an end closes that one. The older ones hang on it. */
static int token_add(const struct model *m, struct mm *p, struct span *s)
{
	struct span *old = find(m, p, s->token);

	table_add(m, p, s);
	if (!s->hh.tbl)
		return -ENOMEM;
	s->older = old;
	if (old) {
		old->newer = s;
		table_del(p, old);
	}
	return 0;
}

static void token_del(const struct model *m, struct mm *p, struct span *s)
{
	if (s->older)
		s->older->newer = s->newer;
	if (s->newer)
		s->newer->older = s->older;
	else if (s->older)
		table_add(m, p, s->older);
	table_del(p, s);
}

static void free_span(struct model *m, struct mm *p, struct span *s)
{
	struct thread *t = s->thread;

	token_del(m, p, s);
	DL_DELETE2(p->spans, s, prev, next);
	DL_DELETE2(t->spans, s, tprev, tnext);
	p->open--;
	m->nspans--;
	m->label_bytes -= s->label_len;
	if (!--t->open) {
		if (t->ends)
			stack_free(t->ends);
		free(t->ends);
		t->ends = NULL;
		if (t->dead)
			thread_put(m, t);
	}
	point_drop(m, &s->from);
	free(s);
}

/* label: another one than it began with; NULL: that one. */
static void close_span_as(struct model *m, struct mm *p, struct span *s, enum phase_ended how,
			  bool cut, const struct ev_label *label)
{
	struct phase ph = {
	    .tid = s->thread->tid,
	    .kind = PH_SPAN,
	    .ended_by = how,
	    .origin = s->origin,
	    .printed_bytes = s->printed,
	    .token = s->token,
	    .depth = s->depth,
	    .exact = !cut,
	};

	ph.overlaps = overlap_ended(p, s, cut);
	ph.label.len = s->label_len;
	ph.label.flags = s->label_flags;
	ph.label.hash = s->label_hash;
	memcpy(ph.label.bytes, s->label, s->label_len);
	if (label)
		ph.label = *label;
	emit_phase(m, p, &s->from, &s->thread->last, &ph);
	free_span(m, p, s);
}

static void close_span(struct model *m, struct mm *p, struct span *s, enum phase_ended how,
		       bool cut)
{
	close_span_as(m, p, s, how, cut, NULL);
}

static struct mm *crowded(struct model *m, struct mm *p)
{
	struct mm *most = p, *q;

	if (p->open >= m->nspans / 2)
		return p;
	for (q = m->mms; q; q = q->hh.next)
		if (q->open > most->open)
			most = q;
	return most;
}

/* A batch at a time, so that looking for the process is paid once in many. */
static void cut(struct model *m, struct mm *p)
{
	struct mm *q = crowded(m, p);
	uint32_t n = q->open / 64 + 1;

	while (n-- && q->open) {
		m->counts.cut_open++;
		close_span(m, q, q->spans, PH_BY_TRACE, true);
	}
	if (!q->open)
		gap_begin(m, q);
}

int span_begin(struct model *m, struct mm *p, struct thread *t, const struct event *ev)
{
	const struct ev_edge *e = &ev->edge;
	uint16_t len = e->label.len < PP_LABEL_MAX ? e->label.len : PP_LABEL_MAX;
	struct span *s = malloc(sizeof(*s) + len);
	int err;

	if (!s)
		return -ENOMEM;
	*s = (struct span){
	    .token = e->token,
	    .thread = t,
	    .depth = t->open,
	    .origin = origin_of(ev),
	    .printed = e->printed,
	    .label_len = len,
	    .label_flags = e->label.flags,
	    .label_hash = e->label.hash,
	};
	memcpy(s->label, e->label.bytes, len);
	err = token_add(m, p, s);
	if (err) {
		free(s);
		return err;
	}
	gap_end(m, p, false, PH_BY_MARK);
	p->marked = true;
	t->idle = false;
	s->from = point_now(m, p, &t->last);
	overlap_begun(p, s);
	DL_APPEND2(p->spans, s, prev, next);
	DL_APPEND2(t->spans, s, tprev, tnext);
	p->open++;
	t->open++;
	m->nspans++;
	m->label_bytes += len;
	if (m->nspans > SPANS_MAX || m->label_bytes > LABELS_MAX)
		cut(m, p);
	return 0;
}

/* Lines that name no span end the one that a line began last. */
static struct span *last_printed(const struct mm *p)
{
	struct span *s = p->spans ? p->spans->prev : NULL;

	while (s && s->origin != PH_FROM_OUTPUT)
		s = s == p->spans ? NULL : s->prev;
	return s;
}

int span_end(struct model *m, struct mm *p, const struct event *ev)
{
	bool printed = ev->flags & PP_F_OUTPUT;
	uint64_t token = ev->edge.token;
	struct span *s = printed && !token ? last_printed(p) : find(m, p, token);

	if (!s) {
		m->counts.bad_ends++;
		p->pub.bad_ends++;
		return 0;
	}
	if (printed && ev->edge.printed != EV_NONE)
		s->printed = ev->edge.printed;
	close_span_as(m, p, s, PH_BY_END, false,
		      printed && ev->flags & PP_F_RENAMED ? &ev->edge.label : NULL);
	if (!p->open)
		gap_begin(m, p);
	return 0;
}

/* Innermost first: the list is by begin. */
void span_close_all(struct model *m, struct mm *p, enum phase_ended how)
{
	while (p->spans)
		close_span(m, p, p->spans->prev, how, false);
}

void span_free_all(struct model *m, struct mm *p)
{
	while (p->spans)
		free_span(m, p, p->spans);
}
