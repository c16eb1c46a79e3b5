/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The grid: widths, cuts, characters that have none to show. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "view/top/cells.h"

/* The first line of the grid as text. */
static void line_is(const struct cells *g, const char *expected)
{
	char *text = NULL, *end;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	cells_print(g, f);
	assert_int_equal(fclose(f), 0);
	end = strchr(text, '\n');
	assert_non_null(end);
	*end = '\0';
	assert_string_equal(text, expected);
	free(text);
}

static struct cells grid(int cols)
{
	struct cells g = {0};

	assert_int_equal(cells_reset(&g, 1, cols, false), 0);
	return g;
}

static void columns_stay_straight(void **state)
{
	static const struct {
		const char *text;
		int columns;
	} texts[] = {
	    {"plain", 5}, {"日本語", 6}, {"e\xcc\x81\xcc\xa7x", 2}, {"größe", 5}, {"🙂", 2},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct cells g = grid(20);
		char expected[64];

		assert_int_equal(cells_put(&g, 0, 0, 20, CELL_PLAIN, texts[i].text),
				 texts[i].columns);
		cells_put(&g, 0, 10, 5, CELL_PLAIN, "|");
		snprintf(expected, sizeof(expected), "%s%*s|", texts[i].text, 10 - texts[i].columns,
			 "");
		line_is(&g, expected);
		cells_free(&g);
	}
}

static void nothing_leaves_the_grid(void **state)
{
	struct cells g = grid(5);

	(void)state;
	assert_int_equal(cells_put(&g, 0, 3, 100, CELL_PLAIN, "abc"), 2);
	assert_int_equal(cells_put(&g, 0, 9, 100, CELL_PLAIN, "abc"), 0);
	assert_int_equal(cells_put(&g, 1, 0, 100, CELL_PLAIN, "abc"), 0);
	assert_int_equal(cells_put(&g, -1, 0, 100, CELL_PLAIN, "abc"), 0);
	assert_int_equal(cells_put(&g, 0, -1, 100, CELL_PLAIN, "abc"), 0);
	cells_fill(&g, 0, 4, 100, CELL_PLAIN, L'x');
	cells_fill(&g, 7, 4, 100, CELL_PLAIN, L'x');
	cells_select(&g, 0, 2, 100);
	cells_select(&g, 3, 2, 100);
	line_is(&g, "   ax");
	/* A wide character has no half. */
	assert_int_equal(cells_put(&g, 0, 4, 1, CELL_PLAIN, "日"), 0);
	cells_free(&g);
}

static void half_a_wide_character_is_none(void **state)
{
	struct cells g = grid(6);

	(void)state;
	cells_put(&g, 0, 0, 6, CELL_PLAIN, "日日日");
	cells_put(&g, 0, 1, 2, CELL_PLAIN, "ab");
	line_is(&g, " ab 日");
	cells_free(&g);
}

static void what_is_no_character_shows_as_such(void **state)
{
	struct cells g = grid(20);

	(void)state;
	/* ESC, a bidi override, a lone byte, C1: escaped before, but this is the last line. */
	cells_put(&g, 0, 0, 20, CELL_PLAIN,
		  "a\033b\xe2\x80\xae"
		  "c\xff"
		  "d\xc2\x9b"
		  "e");
	line_is(&g, "a?b?c?d?e");
	/* More combining characters than a cell holds. */
	cells_reset(&g, 1, 20, false);
	cells_put(&g, 0, 0, 20, CELL_PLAIN, "a\xcc\x81\xcc\x81\xcc\x81\xcc\x81z");
	line_is(&g, "a\xcc\x81\xcc\x81z");
	/* And one without anything to stand on. */
	cells_reset(&g, 1, 20, false);
	assert_int_equal(cells_put(&g, 0, 0, 20, CELL_PLAIN, "\xcc\x81q"), 1);
	line_is(&g, "q");
	cells_free(&g);
}

static void cuts_keep_both_ends(void **state)
{
	struct cells g = grid(20);

	(void)state;
	assert_int_equal(cells_fit(&g, 0, 0, 9, CELL_PLAIN, "abcdefghijkl"), 9);
	line_is(&g, "abcd…ijkl");
	cells_reset(&g, 1, 20, true);
	cells_fit(&g, 0, 0, 10, CELL_PLAIN, "abcdefghijkl");
	line_is(&g, "abcd..ijkl");
	cells_reset(&g, 1, 20, false);
	cells_fit(&g, 0, 0, 8, CELL_PLAIN, "日本語日本語");
	line_is(&g, "日本…語");
	cells_reset(&g, 1, 20, false);
	cells_right(&g, 0, 0, 6, CELL_PLAIN, "12.5");
	cells_put(&g, 0, 6, 1, CELL_PLAIN, "|");
	line_is(&g, "  12.5|");
	cells_reset(&g, 1, 20, false);
	cells_right(&g, 0, 0, 3, CELL_PLAIN, "12.5");
	line_is(&g, "2.5");
	cells_free(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(columns_stay_straight),
	    cmocka_unit_test(nothing_leaves_the_grid),
	    cmocka_unit_test(half_a_wide_character_is_none),
	    cmocka_unit_test(what_is_no_character_shows_as_such),
	    cmocka_unit_test(cuts_keep_both_ends),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
