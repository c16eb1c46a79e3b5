/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Patterns of lines: what they must hold, what their labels and numbers are. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/pattern.h"

static void literals_are_what_every_match_holds(void **state)
{
	static const struct {
		const char *pattern, *literal; /* several with "/"; "": none */
	} cases[] = {
	    {"RSS \\[(?<label>.*?)\\]:", "RSS ["},
	    {"^peak RSS \\[([^]]*)\\]: ~?[\\d.]+ MB$", "peak RSS ["},
	    {"abc", "abc"},
	    {"abc?", "ab"},
	    {"abc*def", "def"},
	    {"ab+cdef", "cdef"},
	    {"ab{0,3}cd", "cd"},
	    {"abcd{2}e", "abcd"},
	    {"x{,3}yz", "yz"}, /* a quantifier since PCRE2 10.43 */
	    {"a{b", "a"},
	    {"foo|barbaz", "foo/barbaz"},
	    {"foo|\\d+", ""},
	    {"(?:foo|bar)x", "x"},
	    {"(foo)?x", "x"},
	    {"(longer)x", "longer"},
	    {"(longer){0}x", "x"},
	    {"a(?#comment)b", ""},
	    {"(?i)abc", ""},
	    {"(?x) a b", ""},
	    {"(*UTF)abc", ""},
	    {"[]a]bcd", "bcd"},
	    {"[^]a]bcd", "bcd"},
	    {"[[:alpha:]]bcd", ""},
	    {"\\Qa.b\\Ec", "a.bc"},
	    {"a\\Q\\E*", ""},
	    {"a\\tb", "a\tb"},
	    {"a\\x41bc", "bc"},
	    {"a\\x{263a}bc", "bc"},
	    {"a\\p{L}bc", "bc"},
	    {"a\\pLbc", "bc"},
	    {"a\\cAbc", "bc"},
	    {"(a)\\1bc", "bc"},
	    {"(?<n>a)\\k<n>bc", "bc"},
	    {"(?=abc)d", ""},
	    {"(?!abc)d", ""},
	    {"(?<=abc)d", ""},
	    {"(?P<n>abc)d", "abc"},
	    {"(?>abcd)e", "abcd"},
	    {"na\xc3\xafve?", "na\xc3\xafv"},
	    {"na\xc3\xaf?", "na"},
	    {"a\nb", "a"},
	    {".*", ""},
	    {"", ""},
	    {"a(", ""},
	    {"a)", ""},
	    {"a[", ""},
	    {"a\\", ""},
	    {"ab\\E*", ""},
	    {"ab\\Kc", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct literal got[LITERALS_MAX];
		int n = literal_find(got, cases[i].pattern, strlen(cases[i].pattern));
		char text[256] = "";

		for (int k = 0; k < n; k++) {
			strcat(text, k ? "/" : "");
			strncat(text, got[k].bytes, got[k].len);
		}
		if (strcmp(text, cases[i].literal))
			print_error("pattern %s\n", cases[i].pattern);
		assert_string_equal(text, cases[i].literal);
	}
}

static void long_literals_keep_their_end(void **state)
{
	struct literal got[LITERALS_MAX];
	char pattern[200];

	(void)state;
	memset(pattern, 'a', sizeof(pattern));
	pattern[199] = 'z';
	assert_int_equal(literal_find(got, pattern, sizeof(pattern)), 1);
	assert_int_equal(got[0].len, LITERAL_MAX);
	assert_int_equal(got[0].bytes[LITERAL_MAX - 1], 'z');
}

static struct patterns *made(enum pattern_kind kind, const char *regex, const char *label)
{
	struct patterns *ps = patterns_new();
	char error[PATTERN_ERROR_MAX] = "";

	assert_non_null(ps);
	if (patterns_add(ps, kind, regex, label, error))
		fail_msg("%s: %s", regex, error);
	return ps;
}

static int matched(struct patterns *ps, const char *line, struct pattern_match *m)
{
	uint64_t gave_up = 0;
	int n = patterns_match(ps, line, strlen(line), m, 4, &gave_up);

	assert_int_equal(gave_up, 0);
	return n;
}

static void label_is(const struct pattern_match *m, const char *text)
{
	assert_int_equal(m->label.len, strlen(text));
	assert_memory_equal(m->label.bytes, text, strlen(text));
}

static void labels_come_from_template_name_group_match(void **state)
{
	struct pattern_match m[4];
	struct patterns *ps;

	(void)state;
	ps = made(PATTERN_MARK, "a(b)(?<label>c)", NULL);
	assert_int_equal(matched(ps, "xabcx", m), 1);
	label_is(m, "c");
	assert_true(m->labelled);
	assert_int_equal(m->start, 1);
	assert_int_equal(m->end, 4);
	patterns_free(&ps);
	ps = made(PATTERN_MARK, "a(b)c", NULL);
	assert_int_equal(matched(ps, "abc", m), 1);
	label_is(m, "b");
	patterns_free(&ps);
	ps = made(PATTERN_END, "a.c", NULL);
	assert_int_equal(matched(ps, "zabcz", m), 1);
	label_is(m, "abc");
	assert_false(m->labelled);
	patterns_free(&ps);
	ps = made(PATTERN_MARK, "Loading (?<what>\\w+)", "load:${what}");
	assert_int_equal(matched(ps, "Loading users now", m), 1);
	label_is(m, "load:users");
	assert_int_equal(matched(ps, "Unloading", m), 0);
	patterns_free(&ps);
	/* A number that comes first is no label. */
	ps = made(PATTERN_MARK, "(?<mb>\\d+) MB", NULL);
	assert_int_equal(matched(ps, "12 MB", m), 1);
	label_is(m, "12 MB");
	assert_int_equal(m->printed, 12u << 20);
	patterns_free(&ps);
}

static void numbers_have_their_units(void **state)
{
	struct pattern_match m[4];
	struct patterns *ps;

	(void)state;
	ps = made(PATTERN_MARK, "x(?:(?<bytes>[\\d.]+)B|(?<kb>[\\d.]+)K|(?<gb>[\\d.,]+)G)?", NULL);
	assert_int_equal(matched(ps, "x77B", m), 1);
	assert_int_equal(m->printed, 77);
	assert_int_equal(matched(ps, "x1.5K", m), 1);
	assert_int_equal(m->printed, 1536);
	assert_int_equal(matched(ps, "x2G", m), 1);
	assert_int_equal(m->printed, 2ull << 30);
	/* Nothing that is no number, too large, or not there. */
	assert_int_equal(matched(ps, "x1,5G", m), 1);
	assert_true(m->printed == EV_NONE);
	assert_int_equal(matched(ps, "x99999999999999G", m), 1);
	assert_true(m->printed == EV_NONE);
	assert_int_equal(matched(ps, "x", m), 1);
	assert_true(m->printed == EV_NONE);
	patterns_free(&ps);
}

static void lines_that_are_no_utf8_match_as_bytes(void **state)
{
	struct patterns *ps = made(PATTERN_MARK, "RSS \\[(.*)\\]", NULL);
	struct pattern_match m[4];

	(void)state;
	assert_int_equal(matched(ps, "RSS [\xff\xc3]", m), 1);
	label_is(m, "\xff\xc3");
	assert_int_equal(matched(ps, "RSS [\xc3\xa9]", m), 1);
	label_is(m, "\xc3\xa9");
	patterns_free(&ps);
}

static void ends_come_before_begins(void **state)
{
	struct patterns *ps = made(PATTERN_BEGIN, "(a)", NULL);
	char error[PATTERN_ERROR_MAX];
	struct pattern_match m[4];

	(void)state;
	assert_int_equal(patterns_add(ps, PATTERN_END, "(a)", NULL, error), 0);
	assert_int_equal(matched(ps, "a", m), 2);
	assert_int_equal(m[0].kind, PATTERN_END);
	assert_int_equal(m[1].kind, PATTERN_BEGIN);
	patterns_free(&ps);
}

/* With "\n" in it a pattern is matched against all lines, others against each. */
static void patterns_with_a_newline_span_lines(void **state)
{
	struct patterns *ps =
	    made(PATTERN_MARK, "Loading\\s+(?:\\S+:\\d+ *\\n\\s+)?(\\w+) \\(", NULL);
	char error[PATTERN_ERROR_MAX];
	struct pattern_match m[4];

	(void)state;
	assert_true(patterns_span_lines(ps));
	assert_int_equal(patterns_add(ps, PATTERN_BEGIN, "^ *b(.*)$", NULL, error), 0);
	assert_int_equal(matched(ps, "x Loading  a.py:1 \n    users (CSV)\nb1\n b2", m), 3);
	label_is(&m[0], "users");
	assert_int_equal(m[0].start, 2);
	assert_int_equal(m[0].end, 30);
	label_is(&m[1], "1");
	assert_int_equal(m[1].start, 35);
	label_is(&m[2], "2");
	assert_int_equal(m[2].end, 41);
	/* Is there more to wait for? */
	assert_true(patterns_go_on(ps, "x Loading\n", 10));
	assert_true(patterns_go_on(ps, "Loading a.py:1\n  users\n", 23) == false);
	assert_true(patterns_go_on(ps, "Loading a.py:1\n  \n", 18));
	assert_false(patterns_go_on(ps, "Loading users (\n", 16));
	assert_false(patterns_go_on(ps, "b1\n", 3));
	assert_true(patterns_go_on(ps, "\xff Loading\n", 11));
	patterns_free(&ps);
	ps = made(PATTERN_MARK, "a\\\\n\\s(b)", NULL);
	assert_false(patterns_span_lines(ps));
	assert_false(patterns_go_on(ps, "a\\n\n", 4));
	patterns_free(&ps);
}

static void long_labels_are_cut_and_told_apart(void **state)
{
	struct patterns *ps = made(PATTERN_MARK, "(.+)", NULL);
	struct pattern_match a[4], b[4];
	char line[400];

	(void)state;
	memset(line, 'x', sizeof(line) - 1);
	line[399] = '\0';
	assert_int_equal(matched(ps, line, a), 1);
	line[398] = 'y';
	assert_int_equal(matched(ps, line, b), 1);
	assert_int_equal(a->label.len, PP_LABEL_MAX);
	assert_true(a->label.flags & PP_LABEL_CUT);
	assert_true(a->label.hash != b->label.hash);
	patterns_free(&ps);
}

static void wrong_patterns_are_said(void **state)
{
	struct patterns *ps = patterns_new();
	char error[PATTERN_ERROR_MAX];

	(void)state;
	assert_int_equal(patterns_add(ps, PATTERN_MARK, "a(", NULL, error), -EINVAL);
	assert_non_null(strstr(error, "offset 2"));
	assert_int_equal(patterns_add(ps, PATTERN_MARK, "a", "x:$1", error), -EINVAL);
	assert_non_null(strstr(error, "$1"));
	assert_int_equal(patterns_add(ps, PATTERN_MARK, "(?<n>a)", "${m}", error), -EINVAL);
	assert_int_equal(patterns_add(ps, PATTERN_MARK, "(?<n>a)", "${n", error), -EINVAL);
	assert_int_equal(patterns_add(ps, PATTERN_MARK, "(?<n>a)", "$$${n}$1", error), 0);
	for (int i = 1; i < PATTERNS_MAX; i++)
		assert_int_equal(patterns_add(ps, PATTERN_MARK, "a", NULL, error), 0);
	assert_int_equal(patterns_add(ps, PATTERN_MARK, "a", NULL, error), -E2BIG);
	patterns_free(&ps);
}

static void patterns_that_never_end_give_up(void **state)
{
	struct patterns *ps = made(PATTERN_MARK, "(a+)+$", NULL);
	struct pattern_match m[4];
	uint64_t gave_up = 0;
	char line[64];

	(void)state;
	memset(line, 'a', sizeof(line));
	line[60] = 'b';
	assert_int_equal(patterns_match(ps, line, 61, m, 4, &gave_up), 0);
	assert_int_equal(gave_up, 1);
	patterns_free(&ps);
}

static void one_pattern_without_a_literal_spoils_all(void **state)
{
	struct patterns *ps = made(PATTERN_MARK, "abc|def", NULL);
	struct literal l[LITERALS_MAX];
	char error[PATTERN_ERROR_MAX];

	(void)state;
	assert_int_equal(patterns_add(ps, PATTERN_MARK, "ghi", NULL, error), 0);
	assert_int_equal(patterns_literals(ps, l, LITERALS_MAX), 3);
	assert_int_equal(patterns_literals(ps, l, 2), 0);
	assert_int_equal(patterns_add(ps, PATTERN_MARK, "\\d", NULL, error), 0);
	assert_int_equal(patterns_literals(ps, l, LITERALS_MAX), 0);
	patterns_free(&ps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(literals_are_what_every_match_holds),
	    cmocka_unit_test(long_literals_keep_their_end),
	    cmocka_unit_test(labels_come_from_template_name_group_match),
	    cmocka_unit_test(numbers_have_their_units),
	    cmocka_unit_test(lines_that_are_no_utf8_match_as_bytes),
	    cmocka_unit_test(ends_come_before_begins),
	    cmocka_unit_test(patterns_with_a_newline_span_lines),
	    cmocka_unit_test(long_labels_are_cut_and_told_apart),
	    cmocka_unit_test(wrong_patterns_are_said),
	    cmocka_unit_test(patterns_that_never_end_give_up),
	    cmocka_unit_test(one_pattern_without_a_literal_spoils_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
