/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Following a recording as it grows: what came after a row that is known. */
#include <errno.h>
#include <string.h>

#include "store/reader.h"

/* Rows of t behind `after` into *ev, by their numbers. */
static int each_event(struct recording *r, const struct table *t, uint64_t after,
		      int (*fn)(void *, uint64_t id, const struct event *), void *ctx)
{
	sqlite3_stmt *st = reader_prepare(r, t, "WHERE id > ? ORDER BY id");
	const char *bad;
	struct event ev;
	int64_t id, last = (int64_t)after;
	int err = 0, n = 0;

	if (!st)
		return -EBADMSG;
	sqlite3_bind_int64(st, 1, (int64_t)after);
	while (!err && (n = reader_step(r, st)) > 0) {
		memset(&ev, 0, sizeof(ev));
		if (table_read_key(st, 0, &id) || id <= last)
			err = reader_bad(r, t->name, t->keys[0]);
		else if (table_read_row(t, st, &ev, &bad))
			err = reader_bad(r, t->name, bad);
		else
			err = fn(ctx, (uint64_t)id, &ev);
		last = id;
	}
	sqlite3_finalize(st);
	return err ? err : n;
}

int recording_samples_after(struct recording *r, uint64_t after,
			    int (*fn)(void *, uint64_t id, const struct event *), void *ctx)
{
	return each_event(r, &schema_samples, after, fn, ctx);
}

int recording_note_pieces_after(struct recording *r, uint64_t after,
				int (*fn)(void *, uint64_t id, const struct event *), void *ctx)
{
	return each_event(r, &schema_notes, after, fn, ctx);
}

int recording_phases_after(struct recording *r, uint64_t after, bool implied,
			   int (*fn)(void *, const struct phase *), void *ctx)
{
	sqlite3_stmt *st = reader_prepare(r, &schema_phases,
					  implied ? "WHERE id > ? AND kind >= 3 ORDER BY id"
						  : "WHERE id > ? AND kind < 3 ORDER BY id");
	struct phase ph;
	uint64_t last = after;
	int err = 0, n = 0;

	if (!st)
		return -EBADMSG;
	sqlite3_bind_int64(st, 1, (int64_t)after);
	while (!err && (n = reader_step(r, st)) > 0) {
		err = reader_phase(r, st, &ph);
		if (!err && ph.id <= last)
			err = reader_bad(r, "phases", "id");
		last = ph.id;
		if (!err)
			err = fn(ctx, &ph);
	}
	sqlite3_finalize(st);
	return err ? err : n;
}
