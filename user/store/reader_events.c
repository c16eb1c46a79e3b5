/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Raw events: three tables, merged by their common numbers. */
#include <errno.h>
#include <string.h>

#include "store/reader.h"

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
	return 0;
}

static int open_cursor(struct recording *r, struct cursor *c, const struct table *t,
		       const char *rest)
{
	*c = (struct cursor){.table = t, .id = INT64_MIN};
	c->st = reader_prepare(r, t, rest);
	return c->st ? 0 : -EBADMSG;
}

static int add_base(struct recording *r, sqlite3_stmt *st, struct cursor *c)
{
	const char *bad;
	int n;

	sqlite3_reset(st);
	sqlite3_bind_int64(st, 1, c->id);
	n = reader_step(r, st);
	if (n < 0)
		return n;
	if (!n)
		return reader_bad(r, "bases", "edge_id");
	if (table_read_row(&schema_bases, st, &c->ev, &bad))
		return reader_bad(r, "bases", bad);
	return 0;
}

static int merge(struct recording *r, struct cursor c[3], sqlite3_stmt *base,
		 int (*fn)(void *, const struct event *), void *ctx)
{
	int err = 0;

	while (!err) {
		struct cursor *first = NULL;

		for (int i = 0; i < 3; i++)
			if (c[i].more && (!first || c[i].id < first->id))
				first = &c[i];
		if (!first)
			return 0;
		if (first->ev.kind == PP_BASE)
			err = add_base(r, base, first);
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
	sqlite3_stmt *base = reader_prepare(r, &schema_bases, "WHERE edge_id = ?");
	int err = base ? 0 : -EBADMSG;

	for (int i = 0; i < 3 && !err; i++) {
		err = open_cursor(r, &c[i], tables[i], "ORDER BY id");
		if (!err)
			err = advance(r, &c[i]);
	}
	if (!err)
		err = merge(r, c, base, fn, ctx);
	for (int i = 0; i < 3; i++)
		sqlite3_finalize(c[i].st);
	sqlite3_finalize(base);
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
