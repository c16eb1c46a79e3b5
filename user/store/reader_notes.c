/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Notes, put together from their pieces. Those of several threads may lie among each other. */
#include <errno.h>
#include <string.h>

#include "store/reader.h"

/* The current row of st into *ev. */
static int read_piece(struct recording *r, sqlite3_stmt *st, struct event *ev, uint64_t *id)
{
	const char *bad;
	int64_t key;

	memset(ev, 0, sizeof(*ev));
	if (table_read_key(st, 0, &key))
		return reader_bad(r, "notes", "id");
	if (table_read_row(&schema_notes, st, ev, &bad))
		return reader_bad(r, "notes", bad);
	*id = (uint64_t)key;
	return ev->note.at + ev->note.len <= PP_NOTE_MAX ? 0 : reader_bad(r, "notes", "at");
}

/* A thread's number may be used again: a piece that does not go on where the last one ended begins
 * another note. */
static bool goes_on(const struct note *n, const struct event *ev)
{
	return ev->note.at && ev->tid == n->tid && ev->note.number == n->number &&
	       ev->note.at == n->bytes && !(n->flags & PP_NOTE_LAST);
}

int recording_each_note(struct recording *r, uint64_t mm_id, int (*fn)(void *, const struct note *),
			void *ctx)
{
	sqlite3_stmt *st =
	    reader_prepare(r, &schema_notes, "WHERE mm_id = ? ORDER BY tid, number, id");
	struct note n = {0};
	struct event ev;
	uint64_t id;
	int err = 0, more = 0;

	if (!st)
		return -EBADMSG;
	sqlite3_bind_int64(st, 1, (int64_t)mm_id);
	while (!err && (more = reader_step(r, st)) > 0) {
		err = read_piece(r, st, &ev, &id);
		if (err)
			break;
		if (n.first_id && !goes_on(&n, &ev)) {
			err = fn(ctx, &n);
			n.first_id = 0;
		}
		if (!n.first_id)
			n = (struct note){
			    .mm_id = mm_id,
			    .pid = ev.pid,
			    .tid = ev.tid,
			    .time_ns = ev.time_ns,
			    .token = ev.note.token,
			    .number = ev.note.number,
			    .first_id = id,
			};
		n.last_id = id;
		n.bytes += ev.note.len;
		n.flags |= ev.note.flags;
	}
	sqlite3_finalize(st);
	if (err || more < 0)
		return err ? err : more;
	return n.first_id ? fn(ctx, &n) : 0;
}

int recording_note_text(struct recording *r, const struct note *n, char *buf)
{
	sqlite3_stmt *st = reader_prepare(
	    r, &schema_notes,
	    "WHERE mm_id = ? AND tid = ? AND number = ? AND id BETWEEN ? AND ? ORDER BY id");
	struct event ev;
	size_t len = 0;
	uint64_t id;
	int err = 0, more = 0;

	if (!st)
		return -EBADMSG;
	sqlite3_bind_int64(st, 1, (int64_t)n->mm_id);
	sqlite3_bind_int64(st, 2, n->tid);
	sqlite3_bind_int64(st, 3, n->number);
	sqlite3_bind_int64(st, 4, (int64_t)n->first_id);
	sqlite3_bind_int64(st, 5, (int64_t)n->last_id);
	while (!err && (more = reader_step(r, st)) > 0) {
		err = read_piece(r, st, &ev, &id);
		if (!err && len + ev.note.len > n->bytes)
			err = reader_bad(r, "notes", "text");
		if (err)
			break;
		memcpy(buf + len, ev.note.text, ev.note.len);
		len += ev.note.len;
	}
	sqlite3_finalize(st);
	if (!err && !more && len != n->bytes)
		err = reader_bad(r, "notes", "text");
	return err ? err : more;
}
