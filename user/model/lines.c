/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "model/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <utlist.h>

#include "lib/plain.h"
#include "lib/text.h"
#include "model/writes.h"

/* Bounds over all processes. */
#define OPEN_LINES_MAX 4096u
#define OPEN_BYTES_MAX (16u << 20)
#define REFS_MAX 512u /* writes with an edge in one line */
#define RELAYS 256u
#define MATCHES 16 /* marks in one line */
#define WRAPS 16   /* times that a pattern goes on in the next line */
#define KEEP_BYTES 512u

/* From this byte of a line on it is of this write. */
struct ref {
	struct out_write *write;
	size_t at;
};

struct line_key {
	uint32_t file, tid;
};

struct line {
	struct line_key key;
	uint64_t mm_id;
	char *buf;
	size_t len, cap;
	size_t joint; /* where it went on after other threads had written; 0: nowhere */
	uint64_t turn;
	struct ref *refs;
	size_t nrefs, caprefs;
	uint64_t writing; /* write with an edge whose end has not come */
	bool matched;	  /* as it stood, before its end */
	bool cut;
	unsigned int wraps; /* lines in it that have their end, as a pattern goes on behind them */
	struct line *prev, *next; /* of the file */
	UT_hash_handle hh;
};

struct out_file {
	uint32_t number;
	uint64_t mm_id, pipe, from;
	uint32_t last_tid;
	uint64_t turn; /* changes of thread */
	struct line *lines;
	UT_hash_handle hh;
};

/* Lines with marks that went into a pipe: whoever reads it may print them again. */
struct relay {
	uint64_t pipe, hash;
};

struct lines {
	struct patterns *patterns;
	struct lines_counts counts;
	struct out_file *files;
	struct line *lines;
	struct writes writes;
	size_t bytes;
	struct relay relay[RELAYS];
	unsigned int next_relay;
	struct pattern_match found[MATCHES];
	char joined[2 * LINE_MAX_BYTES];
	char plain[2 * LINE_MAX_BYTES + 1];
};

struct lines *lines_new(struct patterns *patterns)
{
	struct lines *l = calloc(1, sizeof(*l));

	if (l)
		l->patterns = patterns;
	return l;
}

static void clear_line(struct lines *l, struct line *ln)
{
	while (ln->nrefs)
		writes_put(&l->writes, ln->refs[--ln->nrefs].write);
	l->bytes -= ln->len;
	ln->len = ln->joint = 0;
	ln->matched = ln->cut = false;
	ln->wraps = 0;
	if (ln->cap > KEEP_BYTES) {
		free(ln->buf);
		ln->buf = NULL;
		ln->cap = 0;
	}
	if (ln->caprefs > 8) {
		free(ln->refs);
		ln->refs = NULL;
		ln->caprefs = 0;
	}
}

static struct out_file *find_file(const struct lines *l, uint32_t number)
{
	struct out_file *f;

	HASH_FIND(hh, l->files, &number, sizeof(number), f);
	return f;
}

static void free_line(struct lines *l, struct line *ln)
{
	struct out_file *f = find_file(l, ln->key.file);

	clear_line(l, ln);
	HASH_DEL(l->lines, ln);
	DL_DELETE(f->lines, ln);
	free(ln->buf);
	free(ln->refs);
	free(ln);
	if (f->lines)
		return;
	HASH_DEL(l->files, f);
	free(f);
}

void lines_free(struct lines **lp)
{
	struct lines *l = *lp;
	struct out_file *f, *next;

	if (!l)
		return;
	while (l->lines)
		free_line(l, l->lines);
	HASH_ITER (hh, l->files, f, next) {
		HASH_DEL(l->files, f);
		free(f);
	}
	writes_free(&l->writes);
	free(l);
	*lp = NULL;
}

static struct out_file *get_file(struct lines *l, const struct ev_output *out)
{
	struct out_file *f = find_file(l, out->file);

	if (f)
		return f;
	f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	f->number = out->file;
	f->mm_id = out->mm_id;
	f->pipe = out->pipe;
	f->from = out->from;
	f->last_tid = out->tid;
	HASH_ADD(hh, l->files, number, sizeof(f->number), f);
	if (!f->hh.tbl) {
		free(f);
		return NULL;
	}
	return f;
}

static struct line *get_line(struct lines *l, struct out_file *f, const struct ev_output *out)
{
	struct line_key key = {out->file, out->tid};
	struct line *ln;

	HASH_FIND(hh, l->lines, &key, sizeof(key), ln);
	if (ln)
		return ln;
	ln = calloc(1, sizeof(*ln));
	if (!ln)
		return NULL;
	ln->key = key;
	ln->mm_id = out->mm_id;
	HASH_ADD(hh, l->lines, key, sizeof(key), ln);
	if (!ln->hh.tbl) {
		free(ln);
		return NULL;
	}
	DL_APPEND(f->lines, ln);
	return ln;
}

/* The oldest go when there are too many, or too long ones; not the one in hand. */
static void make_room(struct lines *l, const struct line *keep)
{
	while (HASH_COUNT(l->lines) > OPEN_LINES_MAX || l->bytes > OPEN_BYTES_MAX) {
		struct line *ln = l->lines;

		if (ln == keep)
			ln = ln->hh.next;
		if (!ln)
			return;
		if (ln->len)
			l->counts.torn++;
		free_line(l, ln);
	}
}

static int add_ref(struct line *ln, struct out_write *w)
{
	struct ref *more;

	if (!w || (ln->nrefs && ln->refs[ln->nrefs - 1].write == w) || ln->nrefs == REFS_MAX)
		return 0;
	if (ln->nrefs == ln->caprefs) {
		size_t cap = ln->caprefs ? 2 * ln->caprefs : 4;

		more = realloc(ln->refs, cap * sizeof(*more));
		if (!more)
			return -ENOMEM;
		ln->refs = more;
		ln->caprefs = cap;
	}
	ln->refs[ln->nrefs++] = (struct ref){w, ln->len};
	w->refs++;
	return 0;
}

static int append(struct lines *l, struct line *ln, const char *bytes, size_t n,
		  struct out_write *w)
{
	int err = add_ref(ln, w);
	char *more;

	if (ln->len + n > LINE_MAX_BYTES) {
		n = LINE_MAX_BYTES - ln->len;
		l->counts.cut += !ln->cut;
		ln->cut = true;
	}
	if (err || !n)
		return err;
	if (ln->len + n > ln->cap) {
		size_t cap = ln->cap ? ln->cap : 128;

		while (cap < ln->len + n)
			cap *= 2;
		more = realloc(ln->buf, cap);
		if (!more)
			return -ENOMEM;
		ln->buf = more;
		ln->cap = cap;
	}
	memcpy(ln->buf + ln->len, bytes, n);
	ln->len += n;
	l->bytes += n;
	return 0;
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

/* A line that came in through stdin, from the process that had it first? */
static bool is_relayed(struct lines *l, const struct out_file *f, const struct text *t)
{
	uint64_t h = text_hash(t->s, t->n);

	for (unsigned int i = 0; f->from && i < RELAYS; i++) {
		if (l->relay[i].pipe != f->from || l->relay[i].hash != h)
			continue;
		l->relay[i].pipe = 0;
		l->counts.relayed++;
		/* It may go on to the next one. */
		if (f->pipe)
			l->relay[l->next_relay++ % RELAYS] = (struct relay){f->pipe, h};
		return true;
	}
	if (f->pipe)
		l->relay[l->next_relay++ % RELAYS] = (struct relay){f->pipe, h};
	return false;
}

static bool match(struct lines *l, const struct out_file *f, const struct text *t)
{
	size_t len = plain_copy(l->plain, t->s, t->n);
	int n = patterns_match(l->patterns, l->plain, len, l->found, MATCHES, &l->counts.gave_up);

	if (!n)
		return false;
	if (is_relayed(l, f, t))
		return true;
	for (int i = 0; i < n; i++) {
		size_t end = plain_end(t->s, t->n, l->found[i].end);

		l->counts.marks += writes_mark(&l->writes, write_of(t, end), &l->found[i]);
	}
	return true;
}

/* What another thread has begun, if this is the rest of it. */
static bool match_handed_on(struct lines *l, struct out_file *f, const struct line *ln,
			    const struct text *t)
{
	struct line *o;

	DL_FOREACH (f->lines, o) {
		struct text both;

		if (o == ln || !o->len || o->matched)
			continue;
		both =
		    (struct text){l->joined, o->len + t->n, o->refs, o->nrefs, 0, t->last, o->len};
		if (both.n > sizeof(l->joined))
			continue;
		memcpy(l->joined, o->buf, o->len);
		memcpy(l->joined + o->len, t->s, t->n);
		if (!match(l, f, &both))
			continue;
		clear_line(l, o);
		return true;
	}
	return false;
}

/* A line has its end: in ln, or, when ln is empty, in place. */
static void complete(struct lines *l, struct out_file *f, struct line *ln, const struct text *t,
		     bool first)
{
	struct text rest = *t;

	if (ln->matched || !t->n)
		return;
	l->counts.lines++;
	if (match(l, f, t)) {
		l->counts.interleaved += ln->joint != 0;
		return;
	}
	if (ln->joint) {
		rest.s += ln->joint;
		rest.n -= ln->joint;
		rest.refs_at = ln->joint;
		rest.last_at = t->last_at > ln->joint ? t->last_at - ln->joint : 0;
		if (match(l, f, &rest))
			l->counts.interleaved++;
		else
			l->counts.torn++;
	} else if (first && match_handed_on(l, f, ln, t)) {
		l->counts.interleaved++;
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
	clear_line(l, ln);
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
			err = append(l, ln, s, t.n, w);
			s = nl;
			t = (struct text){ln->buf, ln->len, ln->refs, ln->nrefs, 0, w, ln->len};
		}
		if (!err && *nl == '\n' && goes_on(l, ln, &t)) {
			err = append(l, ln, s, (size_t)(nl + 1 - s), w);
			ln->wraps++;
		} else if (!err) {
			complete(l, f, ln, &t, first);
			clear_line(l, ln);
		}
		first = false;
	}
	if (!err && s < end)
		err = append(l, ln, s, (size_t)(end - s), w);
	if (!err && out->flags & PP_OUT_LAST)
		end_wrapped(l, f, ln, w);
	return err;
}

int lines_output(struct lines *l, const struct ev_output *out)
{
	struct out_write *w = NULL, *old;
	struct out_file *f = get_file(l, out);
	struct line *ln = f ? get_line(l, f, out) : NULL;
	int err;

	if (!ln)
		return -ENOMEM;
	if (out->flags & PP_OUT_GAP) {
		l->counts.torn++;
		clear_line(l, ln);
	}
	if (f->last_tid != out->tid) {
		f->turn++;
		f->last_tid = out->tid;
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
	make_room(l, ln);
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
	ln->matched = match(l, find_file(l, ln->key.file), &t);
}

void lines_force(struct lines *l, uint64_t write)
{
	struct out_write *w = writes_find(&l->writes, write);
	struct line *ln, *next;

	if (!w)
		return;
	HASH_ITER (hh, l->lines, ln, next)
		if (holds(ln, w))
			match_as_it_stands(l, ln);
}

enum lines_state lines_state(const struct lines *l, uint64_t write)
{
	const struct out_write *w = writes_find(&l->writes, write);

	if (!w || !w->seen)
		return LINES_UNSEEN;
	return w->refs ? LINES_OPEN : LINES_DONE;
}

const struct pattern_match *lines_take(struct lines *l, uint64_t write, size_t *n)
{
	const struct pattern_match *m = writes_take(&l->writes, write, n);

	l->counts.dropped = l->writes.dropped;
	return m;
}

void lines_drop(struct lines *l, uint64_t mm_id)
{
	struct line *ln, *next;

	HASH_ITER (hh, l->lines, ln, next)
		if (ln->mm_id == mm_id)
			free_line(l, ln);
	writes_drop(&l->writes, mm_id);
	l->counts.dropped = l->writes.dropped;
}

const struct lines_counts *lines_counts(const struct lines *l)
{
	return &l->counts;
}
