/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The last lines of what was written, whole and in pieces, of one process and of many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/last_lines.h"
#include "view/tail_text.h"

/* The lines with '/' behind each, "~" before one whose beginning is missing. */
static char *lines_of(const struct tail *t)
{
	static char text[2 * TAIL_BYTES];
	struct tail_line lines[TAIL_LINES];
	size_t n = tail_lines(t, lines), len = 0;

	for (size_t i = 0; i < n; i++)
		len += (size_t)sprintf(text + len, "%s%.*s/", lines[i].cut ? "~" : "",
				       (int)lines[i].len, lines[i].bytes);
	text[len] = '\0';
	return text;
}

static struct tail of(const char *text)
{
	struct tail t = {0};

	tail_append(&t, text, strlen(text));
	return t;
}

static void lines(void **state)
{
	struct tail t = {0};

	(void)state;
	assert_string_equal(lines_of(&t), "");
	t = of("a");
	assert_string_equal(lines_of(&t), "a/");
	t = of("a\n");
	assert_string_equal(lines_of(&t), "a/");
	t = of("\n");
	assert_string_equal(lines_of(&t), "/");
	t = of("a\n\nb");
	assert_string_equal(lines_of(&t), "a//b/");
	t = of("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12");
	assert_string_equal(lines_of(&t), "3/4/5/6/7/8/9/10/11/12/");
	t = of("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n");
	assert_string_equal(lines_of(&t), "1/2/3/4/5/6/7/8/9/10/");
	/* A progress bar, and a file with the ends of another system. */
	t = of("x\r\n 10 %\r 20 %\r 30 %\r");
	assert_string_equal(lines_of(&t), "x/ 30 %/");
}

static void in_pieces(void **state)
{
	struct tail t = {0};
	char big[TAIL_BYTES + 10];

	(void)state;
	tail_append(&t, "ab", 2);
	tail_append(&t, "c\nd", 3);
	assert_string_equal(lines_of(&t), "abc/d/");
	tail_gap(&t);
	tail_append(&t, "e", 1);
	assert_string_equal(lines_of(&t), "~e/");
	memset(big, 'x', sizeof(big));
	big[TAIL_BYTES - 3] = '\n';
	tail_append(&t, big, TAIL_BYTES - 1);
	assert_int_equal(t.len, TAIL_BYTES);
	assert_int_equal(t.bytes[0], 'e');
	tail_append(&t, "y", 1);
	assert_int_equal(t.len, TAIL_BYTES);
	assert_true(t.cut);
	assert_int_equal(t.bytes[0], 'x');
	assert_int_equal(t.bytes[TAIL_BYTES - 1], 'y');
	big[sizeof(big) - 1] = 'z';
	tail_append(&t, big, sizeof(big));
	assert_int_equal(t.len, TAIL_BYTES);
	assert_int_equal(t.bytes[TAIL_BYTES - 1], 'z');
}

static void from_the_end(void **state)
{
	struct tail t = {0};
	char big[TAIL_BYTES];

	(void)state;
	assert_true(tail_prepend(&t, "c\nd", 3));
	assert_true(tail_prepend(&t, "ab", 2));
	assert_string_equal(lines_of(&t), "abc/d/");
	memset(big, 'x', sizeof(big));
	assert_false(tail_prepend(&t, big, TAIL_BYTES - 4));
	assert_true(t.cut);
	assert_int_equal(t.len, TAIL_BYTES);
	assert_memory_equal(t.bytes + TAIL_BYTES - 5, "abc\nd", 5);
	/* As much as there is room: nothing is known to be missing. */
	t = (struct tail){0};
	assert_false(tail_prepend(&t, big, TAIL_BYTES));
	assert_false(t.cut);
}

static int put(struct last_lines *l, uint64_t mm_id, uint64_t at, const char *text)
{
	struct ev_output out = {
	    .mm_id = mm_id, .at = at, .stream = 2, .bytes = text, .len = (uint32_t)strlen(text)};

	return last_lines_add(l, &out);
}

static void of_processes(void **state)
{
	struct last_lines *l = last_lines_new();

	(void)state;
	assert_non_null(l);
	assert_null(last_lines_of(l, 1));
	put(l, 1, 0, "a\n");
	put(l, 2, 0, "b\n");
	put(l, 1, 2, "c");
	assert_string_equal(lines_of(last_lines_of(l, 1)), "a/c/");
	assert_string_equal(lines_of(last_lines_of(l, 2)), "b/");
	put(l, 2, 100, "far\n");
	assert_string_equal(lines_of(last_lines_of(l, 2)), "~far/");
	/* A thread was faster: what comes after it is no gap. */
	put(l, 2, 108, "D");
	put(l, 2, 104, "ABCD");
	put(l, 2, 109, "E\n");
	assert_string_equal(lines_of(last_lines_of(l, 2)), "~DABCDE/");
	last_lines_free(&l);
	assert_null(l);
}

static void those_who_wrote_last(void **state)
{
	struct last_lines *l = last_lines_new();

	(void)state;
	for (uint64_t i = 1; i <= LAST_LINES_MAX; i++)
		put(l, i, 0, "x");
	put(l, 1, 1, "y");
	put(l, 9999, 0, "z");
	assert_string_equal(lines_of(last_lines_of(l, 1)), "xy/");
	assert_null(last_lines_of(l, 2));
	assert_non_null(last_lines_of(l, 3));
	last_lines_free(&l);
}

static void text(void **state)
{
	static char out[TAIL_TEXT_MAX], big[TAIL_BYTES];
	struct tail_line line = {"\033[2J \xff\xc3\xa9", 8, false};
	size_t n;

	(void)state;
	n = tail_text(out, &line, 0);
	assert_string_equal(out, "  | \\x1b[2J \\xff\xc3\xa9\n");
	assert_int_equal(n, strlen(out));
	line.cut = true;
	tail_text(out, &line, TEXT_ASCII);
	assert_string_equal(out, "  | ...\\x1b[2J \\xff\\u{00e9}\n");
	memset(big, 1, sizeof(big));
	line = (struct tail_line){big, sizeof(big), true};
	n = tail_text(out, &line, 0);
	assert_int_equal(n, strlen("  | …") + TAIL_BYTES * 4 + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(lines),	    cmocka_unit_test(in_pieces),
	    cmocka_unit_test(from_the_end), cmocka_unit_test(of_processes),
	    cmocka_unit_test(text),	    cmocka_unit_test(those_who_wrote_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
