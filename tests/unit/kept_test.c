/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* First and last bytes of what is written: what goes out, what is taken back, and that it adds up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "model/kept.h"

#define ERR (1u << KEPT_STDERR)
#define BOTH (1u << KEPT_STDOUT | 1u << KEPT_STDERR)
#define PIECES 8192
#define SECOND 1000000000ull

/* A recording: pieces by number; len 0: none, or taken back. */
struct shelf {
	struct {
		uint64_t at, time_ns;
		uint32_t stream, len;
		char first, last;
	} p[PIECES];
	uint64_t last_id, given, taken_back;
	struct output_totals totals[3];
};

static void on_piece(void *ctx, const struct output_piece *p)
{
	struct shelf *s = ctx;

	assert_true(p->id > 0 && p->id < PIECES);
	assert_true(p->id > s->last_id); /* the oldest first */
	s->last_id = p->id;
	s->given += p->len;
	s->p[p->id].at = p->at;
	s->p[p->id].time_ns = p->time_ns;
	s->p[p->id].stream = p->stream;
	s->p[p->id].len = p->len;
	s->p[p->id].first = p->bytes[0];
	s->p[p->id].last = p->bytes[p->len - 1];
}

static void on_drop(void *ctx, uint32_t stream, uint64_t from, uint64_t to)
{
	struct shelf *s = ctx;

	assert_true(from <= to && to < PIECES);
	for (uint64_t id = from; id <= to; id++) {
		if (s->p[id].stream != stream)
			continue;
		s->taken_back += s->p[id].len;
		s->p[id].len = 0;
	}
}

static void on_totals(void *ctx, const struct output_totals *t)
{
	((struct shelf *)ctx)->totals[t->stream] = *t;
}

static uint64_t held(const struct shelf *s, uint32_t stream)
{
	uint64_t n = 0;

	for (int i = 0; i < PIECES; i++)
		n += s->p[i].stream == stream ? s->p[i].len : 0;
	return n;
}

static struct kept *begin(struct shelf **s, unsigned int streams, uint64_t first, uint64_t last)
{
	struct kept_sink sink = {.piece = on_piece, .drop = on_drop, .totals = on_totals};
	struct kept *k;

	*s = calloc(1, sizeof(**s));
	assert_non_null(*s);
	sink.ctx = *s;
	k = kept_new(streams, first, last, &sink);
	assert_non_null(k);
	return k;
}

static void end(struct kept **k, struct shelf *s)
{
	kept_free(k);
	assert_null(*k);
	free(s);
}

/* len bytes that say where they were: byte i of the stream is 'a' + i % 26. */
static void put(struct kept *k, uint32_t stream, uint64_t at, uint32_t len, uint64_t ns)
{
	char bytes[PP_OUT_LARGE];
	struct ev_output out = {.time_ns = ns,
				.mm_id = 1,
				.pid = 7,
				.tid = 8,
				.stream = (uint16_t)stream,
				.at = at,
				.len = len,
				.bytes = bytes};

	for (uint32_t i = 0; i < len; i++)
		bytes[i] = (char)('a' + (at + i) % 26);
	assert_int_equal(kept_add(k, &out), 0);
}

static void all_that_is_little(void **state)
{
	struct shelf *s;
	struct kept *k = begin(&s, ERR, 1000, 1000);

	(void)state;
	put(k, KEPT_STDERR, 0, 300, 5);
	put(k, KEPT_STDOUT, 0, 300, 6); /* nobody asked for it */
	put(k, KEPT_STDERR, 300, 0, 7);
	/* At once: a verdict may follow. */
	assert_int_equal(held(s, KEPT_STDERR), 300);
	assert_int_equal(s->p[1].time_ns, 5);
	kept_finish(k);
	assert_int_equal(held(s, KEPT_STDOUT), 0);
	assert_int_equal(s->totals[KEPT_STDERR].written, 300);
	assert_int_equal(s->totals[KEPT_STDERR].dropped, 0);
	assert_int_equal(s->totals[KEPT_STDERR].keep_first, 1000);
	assert_int_equal(s->totals[KEPT_STDOUT].stream, 0);
	end(&k, s);
}

/* The first 1000 bytes, cut in the middle of a piece, and the last 1000 in whole pieces. */
static void first_and_last(void **state)
{
	struct shelf *s;
	struct kept *k = begin(&s, ERR, 1000, 1000);
	uint64_t at = 0;

	(void)state;
	for (int i = 0; i < 20; i++, at += 300) {
		put(k, KEPT_STDERR, at, 300, 1);
		kept_poll(k, SECOND + (uint64_t)i * SECOND);
	}
	kept_finish(k);
	assert_int_equal(s->totals[KEPT_STDERR].written, 6000);
	/* 900 of the last 1000 are whole pieces. */
	assert_int_equal(s->totals[KEPT_STDERR].dropped, 6000 - 1000 - 900);
	assert_int_equal(held(s, KEPT_STDERR), 1900);
	assert_int_equal(s->given - s->taken_back, 1900);
	/* 300, 300, 300 and 100 of the fourth, which ends there; its rest was pushed out. */
	assert_int_equal(s->p[4].len, 100);
	assert_int_equal(s->p[4].last, 'a' + 999 % 26);
	assert_int_equal(s->p[5].len, 0);
	assert_int_equal(s->p[s->last_id].at, 5700);
	assert_int_equal(s->p[s->last_id].first, 'a' + 5700 % 26);
	end(&k, s);
}

static void rest_of_a_cut_piece(void **state)
{
	struct shelf *s;
	struct kept *k = begin(&s, ERR, 100, 1000);

	(void)state;
	put(k, KEPT_STDERR, 0, 300, 1);
	kept_finish(k);
	assert_int_equal(s->p[1].len, 100);
	assert_int_equal(s->p[2].at, 100);
	assert_int_equal(s->p[2].len, 200);
	assert_int_equal(s->p[2].first, 'a' + 100 % 26);
	assert_int_equal(s->totals[KEPT_STDERR].dropped, 0);
	end(&k, s);
}

static void a_flood_on_one_leaves_the_other(void **state)
{
	struct shelf *s;
	struct kept *k = begin(&s, BOTH, 4096, 8192);
	uint64_t at = 0;

	(void)state;
	put(k, KEPT_STDERR, 0, 4096, 1);
	put(k, KEPT_STDERR, 4096, 500, 1);
	for (int i = 0; i < 1000; i++, at += 4096) {
		put(k, KEPT_STDOUT, at, 4096, 2);
		kept_poll(k, SECOND + (uint64_t)i * SECOND);
	}
	kept_finish(k);
	assert_int_equal(held(s, KEPT_STDERR), 4596);
	assert_int_equal(held(s, KEPT_STDOUT), 4096 + 8192);
	assert_int_equal(s->totals[KEPT_STDOUT].dropped, 1000 * 4096 - 4096 - 8192);
	assert_int_equal(s->totals[KEPT_STDERR].dropped, 0);
	end(&k, s);
}

/* 16 MiB in no time, of which 2 MiB are kept: not 16 MiB are written down. */
static void a_flood_is_not_written_down(void **state)
{
	struct shelf *s;
	struct kept *k = begin(&s, ERR, 0, 2 << 20);
	uint64_t at = 0;

	(void)state;
	for (int i = 0; i < 4096; i++, at += 4096) {
		put(k, KEPT_STDERR, at, 4096, 1);
		if (i % 16 == 0)
			kept_poll(k, SECOND + (uint64_t)i);
	}
	assert_true(s->given <= KEPT_BURST + (1 << 16));
	kept_finish(k);
	assert_int_equal(held(s, KEPT_STDERR), 2 << 20);
	assert_int_equal(s->totals[KEPT_STDERR].dropped, (16 << 20) - (2 << 20));
	assert_int_equal(s->p[s->last_id].at, (16 << 20) - 4096);
	assert_true(s->given <= KEPT_BURST + (1 << 16) + (2 << 20));
	end(&k, s);
}

/* Rows have a size too: a flood of single bytes is bounded all the same. */
static void small_pieces_count_more(void **state)
{
	struct shelf *s;
	struct kept *k = begin(&s, ERR, 10 * KEPT_LEAST, 10 * KEPT_LEAST);
	int rows = 0;

	(void)state;
	for (uint64_t at = 0; at < 100; at++)
		put(k, KEPT_STDERR, at, 1, 1);
	kept_finish(k);
	for (int i = 0; i < PIECES; i++)
		rows += s->p[i].len != 0;
	assert_int_equal(rows, 20);
	assert_int_equal(s->totals[KEPT_STDERR].dropped, 80);
	end(&k, s);
}

static void nothing_of_the_first_or_of_the_last(void **state)
{
	struct shelf *s;
	struct kept *k = begin(&s, ERR, 0, 0);

	(void)state;
	put(k, KEPT_STDERR, 0, 100, 1);
	kept_finish(k);
	assert_int_equal(held(s, KEPT_STDERR), 0);
	assert_int_equal(s->totals[KEPT_STDERR].dropped, 100);
	end(&k, s);
	k = begin(&s, ERR, 0, 50);
	put(k, KEPT_STDERR, 0, 100, 1);
	put(k, KEPT_STDERR, 100, 50, 1); /* counts as 64 */
	kept_finish(k);
	assert_int_equal(s->totals[KEPT_STDERR].dropped, 150);
	end(&k, s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(all_that_is_little),
	    cmocka_unit_test(first_and_last),
	    cmocka_unit_test(rest_of_a_cut_piece),
	    cmocka_unit_test(a_flood_on_one_leaves_the_other),
	    cmocka_unit_test(a_flood_is_not_written_down),
	    cmocka_unit_test(small_pieces_count_more),
	    cmocka_unit_test(nothing_of_the_first_or_of_the_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
