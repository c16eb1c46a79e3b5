/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "model/printed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "lib/text.h"

/* A process that printed marks, or that has ended while events of it wait. */
struct printer {
	uint64_t mm_id;
	uint64_t step; /* token of its open step; 0: none */
	bool joins;    /* its label grows with each line that joins */
	struct ev_label label;
	uint64_t ended; /* in this round its end came in; 0: not yet */
	UT_hash_handle hh;
};

struct printed {
	struct lines *lines;
	int (*event)(void *ctx, const struct event *ev);
	void *ctx;
	struct printer *printers;
	struct event *queue; /* a ring */
	size_t cap, first, n;
	uint64_t round; /* polls so far, from 1 */
};

struct printed *printed_new(struct patterns *patterns,
			    int (*event)(void *ctx, const struct event *), void *ctx)
{
	struct printed *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->event = event;
	p->ctx = ctx;
	p->round = 1;
	p->lines = lines_new(patterns);
	if (!p->lines)
		printed_free(&p);
	return p;
}

void printed_free(struct printed **pp)
{
	struct printed *p = *pp;
	struct printer *t, *next;

	if (!p)
		return;
	HASH_ITER (hh, p->printers, t, next) {
		HASH_DEL(p->printers, t);
		free(t);
	}
	lines_free(&p->lines);
	free(p->queue);
	free(p);
	*pp = NULL;
}

static struct printer *printer_of(struct printed *p, uint64_t mm_id, bool create)
{
	struct printer *t;

	HASH_FIND(hh, p->printers, &mm_id, sizeof(mm_id), t);
	if (t || !create)
		return t;
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->mm_id = mm_id;
	HASH_ADD(hh, p->printers, mm_id, sizeof(t->mm_id), t);
	if (!t->hh.tbl) {
		free(t);
		return NULL;
	}
	return t;
}

static bool ends_process(enum pp_kind kind)
{
	return kind == PP_EXIT || kind == PP_EXEC || kind == PP_DETACH;
}

/* Tokens of spans that lines began: by label, and not those that the program itself makes. */
static uint64_t token_of(const struct ev_label *l)
{
	uint64_t token = l->hash ^ 0x7072696e74656421ull;

	return token ? token : 1;
}

/* One more mark at the edge ev; the first takes the edge, the others come after it. */
static int send(struct printed *p, struct event *ev, enum pp_kind kind,
		const struct pattern_match *m, uint64_t token)
{
	int err;

	ev->kind = kind;
	ev->flags |= PP_F_OUTPUT;
	ev->edge.token = token;
	ev->edge.printed = m->printed;
	ev->edge.label = m->label;
	err = p->event(p->ctx, ev);
	ev->flags |= PP_F_SAME;
	return err;
}

#define AND " + "
#define AND_LEN 3u

static bool is_before(const struct ev_label *l, const char *name, size_t n)
{
	int c = memcmp(l->bytes, name, l->len < n ? l->len : n);

	return c < 0 || (!c && l->len < n);
}

/* Where in "a + c" the name belongs: behind it, or where a later one begins. */
static size_t place_of(const struct ev_label *in, const struct ev_label *name)
{
	size_t at = 0;

	while (at < in->len) {
		const char *s = in->bytes + at, *end = memmem(s, in->len - at, AND, AND_LEN);
		size_t n = end ? (size_t)(end - s) : in->len - at;

		if (is_before(name, s, n))
			return at;
		at += n + (end ? AND_LEN : 0);
	}
	return in->len;
}

/*
 * "a + b": names of what runs together, as far as a label goes; in the order of the alphabet, for
 * programs name them in any, and runs are compared by label.
 */
static void join(struct ev_label *to, const struct ev_label *more)
{
	char text[2 * PP_LABEL_MAX + AND_LEN];
	size_t at = to->flags & PP_LABEL_CUT ? to->len : place_of(to, more), n = 0;

	memcpy(text, to->bytes, at);
	n = at;
	if (at == to->len)
		n = (size_t)((char *)mempcpy(text + n, AND, AND_LEN) - text);
	n = (size_t)((char *)mempcpy(text + n, more->bytes, more->len) - text);
	if (at < to->len)
		n = (size_t)((char *)mempcpy(text + n, AND, AND_LEN) - text);
	n = (size_t)((char *)mempcpy(text + n, to->bytes + at, to->len - at) - text);
	to->hash = text_hash(text, n) ^ (to->flags & PP_LABEL_CUT ? to->hash : 0);
	to->flags |= more->flags | (n > PP_LABEL_MAX ? PP_LABEL_CUT : 0);
	to->len = (uint16_t)(n > PP_LABEL_MAX ? PP_LABEL_MAX : n);
	memcpy(to->bytes, text, to->len);
}

/* A span that ends gets the label that it has come to. */
static int send_step_end(struct printed *p, struct event *ev, struct printer *t,
			 const struct pattern_match *m)
{
	struct pattern_match end = *m;
	uint64_t token = t->step;
	int err;

	t->step = 0;
	if (!t->joins)
		return send(p, ev, PP_END, m, token);
	end.label = t->label;
	ev->flags |= PP_F_RENAMED;
	err = send(p, ev, PP_END, &end, token);
	ev->flags &= ~PP_F_RENAMED;
	return err;
}

static int send_step(struct printed *p, struct event *ev, const struct pattern_match *m)
{
	struct printer *t = printer_of(p, ev->mm_id, true);
	struct pattern_match end = *m;
	int err = 0;

	if (!t)
		return -ENOMEM;
	if (t->step && t->joins && m->kind == PATTERN_JOIN) {
		join(&t->label, &m->label);
		if (ev->flags & PP_F_SAME)
			return 0;
		/* No mark, but an edge all the same. */
		ev->edge.token = 0;
		err = p->event(p->ctx, ev);
		ev->flags |= PP_F_SAME;
		return err;
	}
	end.printed = EV_NONE;
	if (t->step)
		err = send_step_end(p, ev, t, &end);
	t->step = token_of(&m->label);
	t->joins = m->kind == PATTERN_JOIN;
	t->label = m->label;
	return err ? err : send(p, ev, PP_BEGIN, m, t->step);
}

static int send_end(struct printed *p, struct event *ev, const struct pattern_match *m)
{
	struct printer *t = printer_of(p, ev->mm_id, false);
	uint64_t token = m->labelled ? token_of(&m->label) : 0;

	/* An end without a name ends the step, if one is open. */
	if (t && t->step && (!token || token == t->step))
		return send_step_end(p, ev, t, m);
	return send(p, ev, PP_END, m, token);
}

static int send_mark(struct printed *p, struct event *ev, const struct pattern_match *m)
{
	switch (m->kind) {
	case PATTERN_MARK:
		return send(p, ev, PP_MARK, m, 0);
	case PATTERN_BEGIN:
		return send(p, ev, PP_BEGIN, m, token_of(&m->label));
	case PATTERN_STEP:
	case PATTERN_JOIN:
		return send_step(p, ev, m);
	case PATTERN_END:
		return send_end(p, ev, m);
	case PATTERN_KINDS:
		break;
	}
	return 0;
}

/* The edge of a write, with the marks that its lines are. */
static int send_write(struct printed *p, struct event *ev)
{
	const struct out_mark *m;
	size_t n;
	int err = 0;

	m = lines_take(p->lines, ev, &n);
	ev->edge.route = (struct ev_route){0}; /* is where a mark's label comes */
	if (!n) {
		ev->edge.token = 0;
		return p->event(p->ctx, ev);
	}
	for (size_t i = 0; i < n && !err; i++)
		err = send_mark(p, ev, &m[i].match);
	return err;
}

static int send_other(struct printed *p, const struct event *ev)
{
	struct printer *t;

	if (event_is_edge(ev->kind) && ends_process(ev->kind)) {
		lines_drop(p->lines, ev->mm_id);
		t = printer_of(p, ev->mm_id, false);
		if (t) {
			HASH_DEL(p->printers, t);
			free(t);
		}
	}
	return p->event(p->ctx, ev);
}

/* May this edge of a write go out now? Takes its lines as they stand, if they wait for too long. */
static bool ready(struct printed *p, const struct event *ev, uint64_t now_ns)
{
	const struct printer *t = printer_of(p, ev->mm_id, false);
	bool over = p->n >= PRINTED_QUEUE_MAX || (t && t->ended && t->ended < p->round);

	switch (lines_state(p->lines, ev->edge.token)) {
	case LINES_DONE:
		return true;
	case LINES_UNSEEN:
		if (over)
			lines_force(p->lines, ev->edge.token);
		return over;
	case LINES_OPEN:
		if (!over && (now_ns < ev->time_ns || now_ns - ev->time_ns < PRINTED_LINE_NS))
			return false;
		lines_force(p->lines, ev->edge.token);
		return true;
	}
	return true;
}

static int run(struct printed *p, uint64_t now_ns)
{
	int err = 0;

	while (p->n && !err) {
		struct event *ev = &p->queue[p->first];

		if (ev->kind == PP_WRITE && !ready(p, ev, now_ns))
			break;
		p->first = (p->first + 1) % p->cap;
		p->n--;
		err = ev->kind == PP_WRITE ? send_write(p, ev) : send_other(p, ev);
	}
	return err;
}

static int grow(struct printed *p)
{
	size_t cap = p->cap ? 2 * p->cap : 16;
	struct event *more = calloc(cap, sizeof(*more));

	if (!more)
		return -ENOMEM;
	for (size_t i = 0; i < p->n; i++)
		more[i] = p->queue[(p->first + i) % p->cap];
	free(p->queue);
	p->queue = more;
	p->cap = cap;
	p->first = 0;
	return 0;
}

int printed_event(struct printed *p, const struct event *ev)
{
	struct printer *t;

	/* The timeline tells its windows by number, notes their time: they need not wait. */
	if (ev->kind == PP_SAMPLE || ev->kind == PP_NOTE)
		return p->event(p->ctx, ev);
	if (!p->n && ev->kind != PP_WRITE)
		return send_other(p, ev);
	if (p->n == p->cap && grow(p))
		return -ENOMEM;
	p->queue[(p->first + p->n++) % p->cap] = *ev;
	if (event_is_edge(ev->kind) && ends_process(ev->kind)) {
		t = printer_of(p, ev->mm_id, true);
		if (t)
			t->ended = p->round;
	}
	return run(p, 0);
}

int printed_output(struct printed *p, const struct ev_output *out)
{
	return lines_output(p->lines, out);
}

int printed_poll(struct printed *p, uint64_t now_ns)
{
	int err = run(p, now_ns);

	p->round++;
	return err;
}

int printed_finish(struct printed *p)
{
	int err = 0;

	while (p->n && !err) {
		struct event *ev = &p->queue[p->first];

		if (ev->kind == PP_WRITE)
			lines_force(p->lines, ev->edge.token);
		p->first = (p->first + 1) % p->cap;
		p->n--;
		err = ev->kind == PP_WRITE ? send_write(p, ev) : send_other(p, ev);
	}
	return err;
}

const struct lines_counts *printed_counts(const struct printed *p)
{
	return lines_counts(p->lines);
}
