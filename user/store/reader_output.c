/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What programs wrote, as far as it was kept. */
#include <errno.h>
#include <string.h>

#include "store/reader.h"

static int read_piece(struct recording *r, sqlite3_stmt *st, struct output_piece *p)
{
	const char *bad;
	int64_t key;

	if (table_read_key(st, 0, &key))
		return reader_bad(r, "output", "id");
	if (table_read_row(&schema_output, st, p, &bad))
		return reader_bad(r, "output", bad);
	p->id = (uint64_t)key;
	return p->at > UINT64_MAX - p->len ? reader_bad(r, "output", "at") : 0;
}

static int each_piece(struct recording *r, sqlite3_stmt *st,
		      int (*fn)(void *, const struct output_piece *), void *ctx)
{
	struct output_piece p;
	int err = 0, more = 0;

	while (!err && (more = reader_step(r, st)) > 0) {
		err = read_piece(r, st, &p);
		if (!err)
			err = fn(ctx, &p);
	}
	sqlite3_finalize(st);
	return err ? err : more;
}

int recording_each_output(struct recording *r, uint64_t mm_id,
			  int (*fn)(void *, const struct output_piece *), void *ctx)
{
	sqlite3_stmt *st = reader_prepare(
	    r, &schema_output, mm_id ? "WHERE mm_id = ? ORDER BY stream, at, id" : "ORDER BY id");

	if (!st)
		return -EBADMSG;
	if (mm_id)
		sqlite3_bind_int64(st, 1, (int64_t)mm_id);
	return each_piece(r, st, fn, ctx);
}

int recording_output_after(struct recording *r, uint64_t after, uint32_t stream,
			   int (*fn)(void *, const struct output_piece *), void *ctx)
{
	sqlite3_stmt *st =
	    reader_prepare(r, &schema_output, "WHERE id > ? AND stream = ? ORDER BY id");

	if (!st)
		return -EBADMSG;
	sqlite3_bind_int64(st, 1, (int64_t)after);
	sqlite3_bind_int64(st, 2, stream);
	return each_piece(r, st, fn, ctx);
}

int recording_each_output_back(struct recording *r, uint64_t mm_id, uint32_t stream,
			       int (*fn)(void *, const struct output_piece *), void *ctx)
{
	sqlite3_stmt *st = reader_prepare(
	    r, &schema_output, "WHERE mm_id = ? AND stream = ? ORDER BY at DESC, id DESC");

	if (!st)
		return -EBADMSG;
	sqlite3_bind_int64(st, 1, (int64_t)mm_id);
	sqlite3_bind_int64(st, 2, stream);
	return each_piece(r, st, fn, ctx);
}

int recording_output(struct recording *r, uint64_t id, struct output_piece *out)
{
	int err;

	if (!r->output)
		r->output = reader_prepare(r, &schema_output, "WHERE id = ?");
	if (!r->output)
		return -EBADMSG;
	sqlite3_bind_int64(r->output, 1, (int64_t)id);
	err = reader_step(r, r->output);
	/* While it is recorded the last ones are pushed out. */
	err = err > 0 ? read_piece(r, r->output, out) : err ? err : -ENOENT;
	sqlite3_reset(r->output);
	return err;
}

int recording_each_output_totals(struct recording *r,
				 int (*fn)(void *, const struct output_totals *), void *ctx)
{
	sqlite3_stmt *st = reader_prepare(r, &schema_output_streams, "ORDER BY stream");
	int err = 0, more = 0;

	if (!st)
		return -EBADMSG;
	while (!err && (more = reader_step(r, st)) > 0) {
		struct output_totals t = {0};
		const char *bad;
		int64_t key;

		if (table_read_key(st, 0, &key) || key < KEPT_STDOUT || key > KEPT_STDERR)
			err = reader_bad(r, "output_streams", "stream");
		else if (table_read_row(&schema_output_streams, st, &t, &bad))
			err = reader_bad(r, "output_streams", bad);
		if (err)
			break;
		t.stream = (uint32_t)key;
		err = fn(ctx, &t);
	}
	sqlite3_finalize(st);
	return err ? err : more;
}
