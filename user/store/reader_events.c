/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Raw events: three tables, merged by their common numbers. */
#include <errno.h>
#include <string.h>

#include "store/reader.h"

enum { MORE_BASE, MORE_DEATH, MORE_OOM, NMORE };

struct more {
	const struct table *table;
	bool always; /* each such edge has a row there */
	sqlite3_stmt *st;
};

struct cursor {
	const struct table *table;
	sqlite3_stmt *st;
	bool more;
	int64_t id;
	struct event ev;
};

/* The next row of a table into cursor; numbers only rise, or its pages lead in circles. */
static int advance(struct recording *r, struct cursor *c)
{
	const char *bad;
	int64_t id;
	int n = reader_step(r, c->st);

	c->more = n > 0;
	if (n <= 0)
		return n;
	if (table_read_key(c->st, 0, &id) || id <= c->id)
		return reader_bad(r, c->table->name, c->table->keys[0]);
	c->id = id;
	memset(&c->ev, 0, sizeof(c->ev));
	if (table_read_row(c->table, c->st, &c->ev, &bad))
		return reader_bad(r, c->table->name, bad);
	/* Rows of two other tables have numbers between those of edges. */
	if (c->table == &schema_edges && (c->ev.kind == PP_SAMPLE || c->ev.kind == PP_FAULT))
		return reader_bad(r, c->table->name, "kind");
	return 0;
}

static int open_cursor(struct recording *r, struct cursor *c, const struct table *t,
		       const char *rest)
{
	*c = (struct cursor){.table = t, .id = INT64_MIN};
	c->st = reader_prepare(r, t, rest);
	return c->st ? 0 : -EBADMSG;
}

/* What only some kinds of edges have, from the table that has it. */
static int add_more(struct recording *r, const struct more *more, struct cursor *c)
{
	sqlite3_stmt *st = more->st;
	const char *bad;
	int n;

	sqlite3_reset(st);
	sqlite3_bind_int64(st, 1, c->id);
	n = reader_step(r, st);
	if (n < 0)
		return n;
	if (!n)
		return more->always ? reader_bad(r, more->table->name, "edge_id") : 0;
	if (table_read_row(more->table, st, &c->ev, &bad))
		return reader_bad(r, more->table->name, bad);
	return 0;
}

static const struct more *more_of(const struct more more[NMORE], enum pp_kind kind)
{
	if (kind == PP_BASE)
		return &more[MORE_BASE];
	if (kind == PP_EXIT)
		return &more[MORE_DEATH];
	return kind == PP_OOM || kind == PP_OOM_OTHER ? &more[MORE_OOM] : NULL;
}

static int merge(struct recording *r, struct cursor c[3], const struct more more[NMORE],
		 int (*fn)(void *, const struct event *), void *ctx)
{
	int err = 0;

	while (!err) {
		struct cursor *first = NULL;
		const struct more *with;

		for (int i = 0; i < 3; i++)
			if (c[i].more && (!first || c[i].id < first->id))
				first = &c[i];
		if (!first)
			return 0;
		with = more_of(more, first->ev.kind);
		if (first == &c[0] && (first->ev.kind == PP_SAMPLE || first->ev.kind == PP_FAULT))
			err = reader_bad(r, "edges", "kind");
		else if (with)
			err = add_more(r, with, first);
		if (!err)
			err = fn(ctx, &first->ev);
		if (!err)
			err = advance(r, first);
	}
	return err;
}

int recording_each_event(struct recording *r, int (*fn)(void *, const struct event *), void *ctx)
{
	const struct table *const tables[3] = {&schema_edges, &schema_samples, &schema_faults};
	struct cursor c[3] = {0};
	struct more more[NMORE] = {
	    [MORE_BASE] = {&schema_bases, true, NULL},
	    [MORE_DEATH] = {&schema_deaths, false, NULL},
	    [MORE_OOM] = {&schema_ooms, true, NULL},
	};
	int err = 0;

	for (int i = 0; i < NMORE && !err; i++) {
		more[i].st = reader_prepare(r, more[i].table, "WHERE edge_id = ?");
		err = more[i].st ? 0 : -EBADMSG;
	}
	for (int i = 0; i < 3 && !err; i++) {
		err = open_cursor(r, &c[i], tables[i], "ORDER BY id");
		if (!err)
			err = advance(r, &c[i]);
	}
	if (!err)
		err = merge(r, c, more, fn, ctx);
	for (int i = 0; i < 3; i++)
		sqlite3_finalize(c[i].st);
	for (int i = 0; i < NMORE; i++)
		sqlite3_finalize(more[i].st);
	return err;
}

int recording_each_sample(struct recording *r, uint64_t mm_id,
			  int (*fn)(void *, const struct event *), void *ctx)
{
	struct cursor c;
	int err = open_cursor(r, &c, &schema_samples, "WHERE mm_id = ? ORDER BY id");

	if (!err) {
		sqlite3_bind_int64(c.st, 1, (int64_t)mm_id);
		err = advance(r, &c);
	}
	while (!err && c.more) {
		err = fn(ctx, &c.ev);
		if (!err)
			err = advance(r, &c);
	}
	sqlite3_finalize(c.st);
	return err;
}

/* Those of one mm follow each other in time. Found by halves: only their numbers are in the index.
 */
int recording_last_sample(struct recording *r, uint64_t mm_id, uint64_t from_ns, uint64_t to_ns,
			  struct event *out)
{
	sqlite3_stmt *st =
	    reader_prepare(r, &schema_samples, "WHERE mm_id = ?1 AND id >= ?2 ORDER BY id LIMIT 1");
	int64_t low = 0, high = INT64_MAX, middle, id;
	int n = 0, found = 0;
	struct event ev;
	const char *bad;

	if (!st)
		return -EBADMSG;
	sqlite3_bind_int64(st, 1, (int64_t)mm_id);
	while (low < high && n >= 0) {
		middle = low + (high - low) / 2 + 1;
		sqlite3_bind_int64(st, 2, middle);
		n = reader_step(r, st);
		memset(&ev, 0, sizeof(ev));
		if (n > 0 && (table_read_key(st, 0, &id) || id < middle))
			n = reader_bad(r, "samples", "id");
		else if (n > 0 && table_read_row(&schema_samples, st, &ev, &bad))
			n = reader_bad(r, "samples", bad);
		if (n > 0 && ev.time_ns <= to_ns) {
			low = id;
			found = ev.time_ns > from_ns;
			*out = ev;
		} else {
			high = middle - 1;
		}
		sqlite3_reset(st);
	}
	sqlite3_finalize(st);
	return n < 0 ? n : found;
}
