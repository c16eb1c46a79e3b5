/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Keys → state. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "view/top/state.h"

#define S 1000000000ull

static struct top_facts facts(void)
{
	return (struct top_facts){.first_ns = 10 * S,
				  .last_ns = 110 * S,
				  .step_ns = S,
				  .peak_ns = 42 * S,
				  .before_ns = 30 * S,
				  .after_ns = TOP_NOW,
				  .rows = 30,
				  .page_rows = 10,
				  .ncolumns = 3,
				  .selected = {.mm_id = 7, .start_win = TOP_NOW}};
}

static void type(struct top_state *s, const struct top_facts *f, const char *keys)
{
	for (; *keys; keys++)
		top_state_key(s, f, (uint32_t)(unsigned char)*keys);
}

static void moves_in_the_list(void **state)
{
	struct top_facts f = facts();
	struct top_state s;

	(void)state;
	top_state_init(&s);
	top_state_key(&s, &f, TOP_KEY_UP);
	assert_int_equal(top_place(&s)->row, 0);
	top_state_key(&s, &f, TOP_KEY_DOWN);
	top_state_key(&s, &f, TOP_KEY_PAGE_DOWN);
	assert_int_equal(top_place(&s)->row, 10);
	top_state_key(&s, &f, TOP_KEY_END);
	assert_int_equal(top_place(&s)->row, 29);
	top_state_key(&s, &f, TOP_KEY_DOWN);
	assert_int_equal(top_place(&s)->row, 29);
	top_state_key(&s, &f, TOP_KEY_HOME);
	assert_int_equal(top_place(&s)->row, 0);
	f.rows = 0;
	top_state_key(&s, &f, TOP_KEY_DOWN);
	assert_int_equal(top_place(&s)->row, 0);
}

static void into_and_back(void **state)
{
	struct top_facts f = facts();
	struct top_state s;

	(void)state;
	top_state_init(&s);
	top_state_key(&s, &f, TOP_KEY_ENTER);
	assert_int_equal(top_place(&s)->page, TOP_PROCESS);
	assert_int_equal(top_place(&s)->of.mm_id, 7);
	f.selected = (struct top_item){.mm_id = 7, .start_win = 3};
	top_state_key(&s, &f, TOP_KEY_ENTER);
	assert_int_equal(top_place(&s)->page, TOP_PHASE);
	top_state_key(&s, &f, TOP_KEY_ENTER); /* no further */
	assert_int_equal(s.depth, 2);
	type(&s, &f, "?");
	assert_int_equal(top_place(&s)->page, TOP_HELP);
	type(&s, &f, "x");
	assert_int_equal(top_place(&s)->page, TOP_PHASE);
	top_state_key(&s, &f, TOP_KEY_ESCAPE);
	top_state_key(&s, &f, TOP_KEY_ESCAPE);
	assert_int_equal(top_place(&s)->page, TOP_TREE);
	type(&s, &f, "f");
	assert_int_equal(top_place(&s)->page, TOP_DONE);
	type(&s, &f, "f");
	assert_int_equal(top_place(&s)->page, TOP_TREE);
	/* However deep one goes there is an end to it. */
	f.selected.start_win = TOP_NOW;
	for (int i = 0; i < 100; i++)
		top_state_key(&s, &f, TOP_KEY_ENTER);
	assert_true(s.depth < TOP_PAGES_MAX);
	assert_false(s.quit);
	type(&s, &f, "q");
	assert_true(s.quit);
}

static void filters(void **state)
{
	struct top_facts f = facts();
	struct top_state s;

	(void)state;
	top_state_init(&s);
	type(&s, &f, "/qs?");
	assert_string_equal(s.filter, "qs?");
	assert_false(s.quit);
	top_state_key(&s, &f, 0x65e5);
	assert_string_equal(s.filter, "qs?日");
	top_state_key(&s, &f, TOP_KEY_BACKSPACE);
	assert_string_equal(s.filter, "qs?");
	for (int i = 0; i < 200; i++)
		top_state_key(&s, &f, 0x65e5);
	assert_true(strlen(s.filter) <= TOP_FILTER_MAX);
	top_state_key(&s, &f, TOP_KEY_ENTER);
	assert_false(s.typing);
	top_state_key(&s, &f, TOP_KEY_ESCAPE); /* takes the filter away */
	assert_string_equal(s.filter, "");
	type(&s, &f, "/x");
	top_state_key(&s, &f, TOP_KEY_ESCAPE);
	assert_string_equal(s.filter, "");
	assert_false(s.typing);
}

static void time_moves_and_freezes(void **state)
{
	struct top_facts f = facts();
	struct top_state s;

	(void)state;
	top_state_init(&s);
	type(&s, &f, " ");
	assert_int_equal(s.at_ns, 110 * S);
	type(&s, &f, " ");
	assert_true(s.at_ns == TOP_NOW);
	type(&s, &f, "<<");
	assert_int_equal(s.at_ns, 108 * S);
	type(&s, &f, ">");
	assert_int_equal(s.at_ns, 109 * S);
	type(&s, &f, ">>");
	assert_true(s.at_ns == TOP_NOW);
	type(&s, &f, "p");
	assert_int_equal(s.at_ns, 42 * S);
	type(&s, &f, "[");
	assert_int_equal(s.at_ns, 30 * S);
	type(&s, &f, "]"); /* there is none */
	assert_int_equal(s.at_ns, 30 * S);
	type(&s, &f, "g<<<");
	assert_int_equal(s.at_ns, 10 * S);
	type(&s, &f, "G");
	assert_true(s.at_ns == TOP_NOW);
	for (int i = 0; i < 50; i++)
		type(&s, &f, "+");
	assert_true(s.zoom < 32);
	for (int i = 0; i < 50; i++)
		type(&s, &f, "-");
	assert_int_equal(s.zoom, 0);
}

static void a_recording_plays(void **state)
{
	struct top_facts f = facts();
	struct top_state s;

	(void)state;
	f.recording = true;
	top_state_init(&s);
	type(&s, &f, " ");
	assert_true(s.playing);
	assert_int_equal(s.at_ns, 10 * S);
	top_state_tick(&s, &f, 2 * S);
	assert_int_equal(s.at_ns, 12 * S);
	type(&s, &f, "}}");
	assert_string_equal(top_speed(&s), "4");
	top_state_tick(&s, &f, S);
	assert_int_equal(s.at_ns, 16 * S);
	type(&s, &f, " ");
	top_state_tick(&s, &f, S);
	assert_int_equal(s.at_ns, 16 * S);
	type(&s, &f, "{{{{{{{{{{{{");
	assert_string_equal(top_speed(&s), "1/8");
	type(&s, &f, "}}}}}}}}}}}}}}}}}}}} ");
	assert_string_equal(top_speed(&s), "128");
	top_state_tick(&s, &f, S); /* past its end */
	assert_true(s.at_ns == TOP_NOW);
	assert_false(s.playing);
	/* The clock of a machine that slept. */
	type(&s, &f, " ");
	top_state_tick(&s, &f, UINT64_MAX);
	assert_true(s.at_ns == TOP_NOW || s.at_ns < f.last_ns);
}

static void the_row_follows_what_it_showed(void **state)
{
	struct top_item a[] = {{1, TOP_NOW, 0}, {1, 5, 0}, {2, TOP_NOW, 0}};
	struct top_item b[] = {{3, TOP_NOW, 0}, {1, TOP_NOW, 0}, {1, 5, 9}, {2, TOP_NOW, 0}};
	struct top_place p = {.row = 1, .moved = true};

	(void)state;
	top_state_rows(&p, a, 3, 10);
	assert_int_equal(p.row, 1);
	top_state_rows(&p, b, 4, 10); /* others came before it, and the phase has ended */
	assert_int_equal(p.row, 2);
	top_state_rows(&p, b, 1, 10); /* it is gone */
	assert_int_equal(p.row, 0);
	top_state_rows(&p, NULL, 0, 10);
	assert_int_equal(p.row, 0);
	p = (struct top_place){.row = 3, .moved = true};
	top_state_rows(&p, b, 4, 2);
	assert_int_equal(p.first, 2);
	top_state_rows(&p, b, 4, 0);
	assert_true(p.row < 4);
}

static void sorts(void **state)
{
	struct top_facts f = facts();
	struct top_state s;

	(void)state;
	top_state_init(&s);
	type(&s, &f, "sss");
	assert_int_equal(s.sort, 3);
	type(&s, &f, "s");
	assert_int_equal(s.sort, 0);
	type(&s, &f, "rtwc");
	assert_true(s.reverse && s.flat && s.snapshot && !s.color);
	f.ncolumns = 0;
	type(&s, &f, "s");
	assert_int_equal(s.sort, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(moves_in_the_list),
	    cmocka_unit_test(into_and_back),
	    cmocka_unit_test(filters),
	    cmocka_unit_test(time_moves_and_freezes),
	    cmocka_unit_test(a_recording_plays),
	    cmocka_unit_test(the_row_follows_what_it_showed),
	    cmocka_unit_test(sorts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
