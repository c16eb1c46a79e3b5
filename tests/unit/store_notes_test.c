/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Notes are put together from their pieces, however those lie. */
#include "store_fixture.h"

#include <sqlite3.h>

struct piece {
	uint32_t tid, number, at;
	const char *text;
	uint16_t flags;
};

struct want {
	uint32_t tid;
	const char *text;
	uint32_t flags;
};

struct got {
	struct note notes[16];
	size_t n;
};

static int collect(void *ctx, const struct note *n)
{
	struct got *g = ctx;

	assert_true(g->n < 16);
	g->notes[g->n++] = *n;
	return 0;
}

static void record(const char *file, const struct piece *pieces, size_t n)
{
	struct run_info info = plain_info();
	struct run_end end = {.status = -1};
	struct store *s;

	assert_int_equal(store_create(&s, file, &info), 0);
	for (size_t i = 0; i < n; i++) {
		struct event ev = {.kind = PP_NOTE,
				   .mm_id = 1,
				   .pid = 10,
				   .tid = pieces[i].tid,
				   .time_ns = 100 + i};

		ev.note.number = pieces[i].number;
		ev.note.at = pieces[i].at;
		ev.note.flags = pieces[i].flags;
		ev.note.len = (uint16_t)strlen(pieces[i].text);
		ev.note.token = 5;
		memcpy(ev.note.text, pieces[i].text, ev.note.len);
		assert_int_equal(store_event(s, &ev), 0);
	}
	assert_int_equal(store_close(&s, &end), 0);
}

static void pieces(void **state)
{
	const struct piece in[] = {
	    {10, 1, 0, "one ", 0},
	    {11, 1, 0, "other", PP_NOTE_LAST},
	    {10, 1, 4, "and one", PP_NOTE_LAST},
	    {10, 2, 0, "lost its rest", 0},
	    {10, 3, 0, "", PP_NOTE_LAST | PP_NOTE_UNREADABLE},
	    {12, 1, 0, "a thread", PP_NOTE_LAST},
	    {12, 1, 0, "a later one of that number", 0}, /* the tid was used again */
	    {12, 1, 26, "!", PP_NOTE_LAST | PP_NOTE_CUT},
	};
	const struct want want[] = {
	    {10, "one and one", PP_NOTE_LAST},
	    {10, "lost its rest", 0},
	    {10, "", PP_NOTE_LAST | PP_NOTE_UNREADABLE},
	    {11, "other", PP_NOTE_LAST},
	    {12, "a thread", PP_NOTE_LAST},
	    {12, "a later one of that number!", PP_NOTE_LAST | PP_NOTE_CUT},
	};
	struct got got = {0}, none = {0};
	struct recording *r;
	struct folder f;
	char buf[64];

	(void)state;
	folder_make(&f);
	record(f.file, in, sizeof(in) / sizeof(*in));
	assert_int_equal(recording_open(&r, f.file), 0);
	assert_int_equal(recording_each_note(r, 1, collect, &got), 0);
	assert_int_equal(got.n, sizeof(want) / sizeof(*want));
	for (size_t i = 0; i < got.n; i++) {
		const struct note *n = &got.notes[i];

		assert_int_equal(n->tid, want[i].tid);
		assert_int_equal(n->flags, want[i].flags);
		assert_int_equal(n->bytes, strlen(want[i].text));
		assert_int_equal(n->token, 5);
		assert_int_equal(n->mm_id, 1);
		assert_int_equal(recording_note_text(r, n, buf), 0);
		assert_memory_equal(buf, want[i].text, n->bytes);
	}
	assert_int_equal(got.notes[0].time_ns, 100);
	assert_int_equal(recording_each_note(r, 2, collect, &none), 0);
	assert_int_equal(none.n, 0);
	recording_close(&r);
	folder_remove(&f);
}

/* What no tracer writes is refused, and nothing is written behind a buffer. */
static void damage(void **state)
{
	static const char *const sql[] = {
	    "UPDATE notes SET at = 1048576 WHERE id = 2",
	    "UPDATE notes SET at = -1 WHERE id = 2",
	    "UPDATE notes SET text = zeroblob(513) WHERE id = 2",
	    "UPDATE notes SET text = 'text' WHERE id = 1",
	    "UPDATE notes SET tid = NULL WHERE id = 1",
	    "UPDATE notes SET kind = 1 WHERE id = 1",
	};
	const struct piece in[] = {{10, 1, 0, "one ", 0}, {10, 1, 4, "two", PP_NOTE_LAST}};

	(void)state;
	for (size_t i = 0; i < sizeof(sql) / sizeof(*sql); i++) {
		struct got got = {0};
		struct recording *r;
		struct folder f;
		sqlite3 *db;

		folder_make(&f);
		record(f.file, in, 2);
		assert_int_equal(sqlite3_open(f.file, &db), SQLITE_OK);
		assert_int_equal(sqlite3_exec(db, sql[i], NULL, NULL, NULL), SQLITE_OK);
		sqlite3_close(db);
		assert_int_equal(recording_open(&r, f.file), 0);
		assert_int_equal(recording_each_note(r, 1, collect, &got), -EBADMSG);
		recording_close(&r);
		folder_remove(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(pieces), cmocka_unit_test(damage)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
