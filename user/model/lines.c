/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "model/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <utlist.h>

#include "lib/plain.h"
#include "model/lines_private.h"

#define WRAPS 16     /* times that a pattern goes on in the next line */
#define HANDED_ON 16 /* open lines of other threads that an end is tried with */

struct lines *lines_new(struct patterns *patterns)
{
	struct lines *l = calloc(1, sizeof(*l));

	if (l)
		l->patterns = patterns;
	return l;
}

void lines_free(struct lines **lp)
{
	struct lines *l = *lp;
	struct out_file *f, *next;

	if (!l)
		return;
	while (l->lines)
		lines_remove(l, l->lines);
	HASH_ITER (hh, l->files, f, next) {
		HASH_DEL(l->files, f);
		free(f);
	}
	writes_free(&l->writes);
	relays_free(&l->relays);
	free(l);
	*lp = NULL;
}

/* Text that is to be matched, and the writes that it is of. */
struct text {
	const char *s;
	size_t n;
	const struct ref *refs;
	size_t nrefs;
	size_t refs_at;		/* where the text begins in the bytes that refs count */
	struct out_write *last; /* of what came last, from last_at on; NULL: without an edge */
	size_t last_at;
};

/* The last write that begins before the match ends; if its edge has gone by, one after it. */
static struct out_write *write_of(const struct text *t, size_t end)
{
	struct out_write *w = NULL;

	for (size_t i = 0; i < t->nrefs; i++) {
		size_t at = t->refs[i].at < t->refs_at ? 0 : t->refs[i].at - t->refs_at;

		if (!t->refs[i].write->taken && (at < end || !w))
			w = t->refs[i].write;
	}
	if (t->last && !t->last->taken && (t->last_at < end || !w))
		w = t->last;
	return w;
}

static bool match(struct lines *l, const struct text *t)
{
	size_t len = plain_copy(l->plain, t->s, t->n);
	int n = patterns_match(l->patterns, l->plain, len, l->found, MATCHES, &l->counts.gave_up);

	if (!n)
		return false;
	for (int i = 0; i < n; i++) {
		size_t end = plain_end(t->s, t->n, l->found[i].end);

		l->counts.marks +=
		    writes_mark(&l->writes, write_of(t, end), &l->found[i], l->plain, len);
	}
	return true;
}

/* How an end that another thread may have begun came out. */
enum handed { HANDED_NOT, HANDED_FOUND, HANDED_TOO_MANY };

/*
 * What another thread has begun, if this is the rest of it: the latest ones, for a program can
 * leave thousands of lines open, and would have us look at all of them at each end.
 */
static enum handed match_handed_on(struct lines *l, struct out_file *f, const struct line *ln,
				   const struct text *t)
{
	struct line *o = f->lines;
	unsigned int tries = 0;

	do {
		struct text both;

		o = o->prev; /* of the first: the last */
		if (o == ln || !o->len || o->matched)
			continue;
		if (tries++ == HANDED_ON)
			return HANDED_TOO_MANY;
		both =
		    (struct text){l->joined, o->len + t->n, o->refs, o->nrefs, 0, t->last, o->len};
		if (both.n > sizeof(l->joined))
			continue;
		memcpy(l->joined, o->buf, o->len);
		memcpy(l->joined + o->len, t->s, t->n);
		if (!match(l, &both))
			continue;
		lines_clear(l, o);
		return HANDED_FOUND;
	} while (o != f->lines);
	return HANDED_NOT;
}

/* A line has its end: in ln, or, when ln is empty, in place. */
static void complete(struct lines *l, struct out_file *f, struct line *ln, const struct text *t,
		     bool first)
{
	struct text rest = *t;

	if (ln->matched || !t->n)
		return;
	l->counts.lines++;
	if (match(l, t)) {
		l->counts.interleaved += ln->joint != 0;
		return;
	}
	if (ln->joint) {
		rest.s += ln->joint;
		rest.n -= ln->joint;
		rest.refs_at = ln->joint;
		rest.last_at = t->last_at > ln->joint ? t->last_at - ln->joint : 0;
		if (match(l, &rest))
			l->counts.interleaved++;
		else
			l->counts.torn++;
	} else if (first) {
		enum handed handed = match_handed_on(l, f, ln, t);

		l->counts.interleaved += handed == HANDED_FOUND;
		l->counts.torn += handed == HANDED_TOO_MANY;
	}
}

static const char *line_end(const char *s, size_t n)
{
	const char *lf = memchr(s, '\n', n), *cr = memchr(s, '\r', lf ? (size_t)(lf - s) : n);

	return cr ? cr : lf;
}

/* A pattern goes on in the line behind this one: programs that wrap a line write it at once. */
static bool goes_on(struct lines *l, const struct line *ln, const struct text *t)
{
	size_t n;

	if (ln->matched || ln->wraps == WRAPS || !patterns_span_lines(l->patterns))
		return false;
	n = plain_copy(l->plain, t->s, t->n);
	l->plain[n++] = '\n';
	return patterns_go_on(l->patterns, l->plain, n);
}

/* Of a write that is over no line comes any more. */
static void end_wrapped(struct lines *l, struct out_file *f, struct line *ln, struct out_write *w)
{
	struct text t = {ln->buf, ln->len, ln->refs, ln->nrefs, 0, w, ln->len};

	if (!ln->wraps || ln->buf[ln->len - 1] != '\n')
		return;
	complete(l, f, ln, &t, false);
	lines_clear(l, ln);
}

static int take(struct lines *l, struct out_file *f, struct line *ln, const struct ev_output *out,
		struct out_write *w)
{
	const char *s = out->bytes, *end = s + out->len, *nl;
	bool first = !ln->len;
	int err = 0;

	for (; !err && s < end && (nl = line_end(s, (size_t)(end - s))); s = nl + 1) {
		struct text t = {.s = s, .n = (size_t)(nl - s), .last = w};

		if (ln->len || t.n > LINE_MAX_BYTES) {
			err = lines_append(l, ln, s, t.n, w);
			s = nl;
			t = (struct text){ln->buf, ln->len, ln->refs, ln->nrefs, 0, w, ln->len};
		}
		if (!err && *nl == '\n' && goes_on(l, ln, &t)) {
			err = lines_append(l, ln, s, (size_t)(nl + 1 - s), w);
			ln->wraps++;
		} else if (!err) {
			complete(l, f, ln, &t, first);
			lines_clear(l, ln);
		}
		first = false;
	}
	if (!err && s < end)
		err = lines_append(l, ln, s, (size_t)(end - s), w);
	if (!err && out->flags & PP_OUT_LAST)
		end_wrapped(l, f, ln, w);
	return err;
}

int lines_output(struct lines *l, const struct ev_output *out)
{
	struct out_write *w = NULL, *old;
	struct out_file *f = lines_get_file(l, out);
	struct line *ln = f ? lines_get(l, f, out) : NULL;
	int err;

	if (!ln)
		return -ENOMEM;
	if (out->flags & PP_OUT_GAP) {
		l->counts.torn++;
		lines_clear(l, ln);
	}
	if (f->last_tid != out->tid) {
		f->turn++;
		f->last_tid = out->tid;
		/* The latest are at the end. */
		DL_DELETE(f->lines, ln);
		DL_APPEND(f->lines, ln);
	}
	if (ln->len && ln->turn != f->turn)
		ln->joint = ln->len;
	ln->turn = f->turn;
	/* A thread writes one thing after the other: the end of an earlier one was lost. */
	old =
	    ln->writing && ln->writing != out->write ? writes_find(&l->writes, ln->writing) : NULL;
	if (old)
		old->seen = true;
	ln->writing = 0;
	if (out->flags & PP_OUT_EDGE) {
		w = writes_get(&l->writes, out->write, out->mm_id);
		if (!w)
			return -ENOMEM;
		w->file = ln->key.file;
		w->tid = ln->key.tid;
		w->refs++;
	}
	err = take(l, f, ln, out, w);
	if (w) {
		if (out->flags & PP_OUT_LAST)
			w->seen = true;
		else
			ln->writing = out->write;
		writes_put(&l->writes, w);
	}
	lines_make_room(l, ln);
	return err;
}

static bool holds(const struct line *ln, const struct out_write *w)
{
	for (size_t i = 0; i < ln->nrefs; i++)
		if (ln->refs[i].write == w)
			return true;
	return false;
}

static void match_as_it_stands(struct lines *l, struct line *ln)
{
	struct text t = {.s = ln->buf, .n = ln->len, .refs = ln->refs, .nrefs = ln->nrefs};

	if (ln->matched || !ln->len)
		return;
	l->counts.lines++;
	ln->matched = match(l, &t);
}

void lines_force(struct lines *l, uint64_t write)
{
	struct out_write *w = writes_find(&l->writes, write);
	struct line_key key;
	struct line *ln;

	if (!w)
		return;
	key = (struct line_key){w->file, w->tid};
	HASH_FIND(hh, l->lines, &key, sizeof(key), ln);
	if (ln && holds(ln, w))
		match_as_it_stands(l, ln);
}

enum lines_state lines_state(const struct lines *l, uint64_t write)
{
	const struct out_write *w = writes_find(&l->writes, write);

	if (!w || !w->seen)
		return LINES_UNSEEN;
	return w->refs ? LINES_OPEN : LINES_DONE;
}

#define BEGUN_BACK 64 /* marks before an end among which its beginning is looked for */

/*
 * Checkpoints and steps after the first of a write, spans that begin and end in it: they have no
 * time. So comes what a program keeps back and writes in blocks.
 */
static uint64_t together(const struct out_mark *m, size_t n)
{
	uint64_t kinds[PATTERN_KINDS] = {0}, ended = 0;

	for (size_t i = 0; i < n; i++) {
		const struct pattern_match *end = &m[i].match;

		kinds[end->kind]++;
		for (size_t k = i; end->kind == PATTERN_END && k > 0 && i - k < BEGUN_BACK; k--) {
			const struct pattern_match *begin = &m[k - 1].match;

			if (begin->kind == PATTERN_BEGIN && begin->label.hash == end->label.hash) {
				ended++;
				break;
			}
		}
	}
	return ended + (kinds[PATTERN_MARK] > 1 ? kinds[PATTERN_MARK] - 1 : 0) +
	       (kinds[PATTERN_STEP] > 1 ? kinds[PATTERN_STEP] - 1 : 0);
}

const struct out_mark *lines_take(struct lines *l, const struct event *ev, size_t *n)
{
	size_t all;
	struct out_mark *m = writes_take(&l->writes, ev->edge.token, &all);

	*n = 0;
	for (size_t i = 0; i < all; i++) {
		bool relayed = relays_pass(&l->relays, ev, &m[i]);

		writes_forget(&l->writes, &m[i]);
		l->counts.relayed += relayed;
		if (!relayed)
			m[(*n)++] = m[i];
	}
	l->counts.together += together(m, *n);
	l->counts.dropped = l->writes.dropped;
	return m;
}

void lines_drop(struct lines *l, uint64_t mm_id)
{
	struct line *ln, *next;

	HASH_ITER (hh, l->lines, ln, next)
		if (ln->mm_id == mm_id)
			lines_remove(l, ln);
	writes_drop(&l->writes, mm_id);
	l->counts.dropped = l->writes.dropped;
}

const struct lines_counts *lines_counts(const struct lines *l)
{
	return &l->counts;
}
