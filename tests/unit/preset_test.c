/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The format of presets, and those that come with peakphase. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/preset.h"

static int list(void *ctx, const struct preset_line *l)
{
	char *out = ctx;

	sprintf(out + strlen(out), "%s|%s|%s\n", preset_kind_name(l->kind), l->regex,
		l->label ? l->label : "");
	return strcmp(l->regex, "stop") ? 0 : 77;
}

static int read_text(const char *text, char *out, char *error)
{
	char copy[1024];
	const char *about = "";
	int err;

	strcpy(copy, text);
	out[0] = '\0';
	err = preset_read(copy, &about, list, out, error);
	sprintf(out + strlen(out), "about %s", about);
	return err;
}

static void lines_are_a_word_and_the_rest(void **state)
{
	char out[1024], error[PRESET_ERROR_MAX];

	(void)state;
	assert_int_equal(
	    read_text("# c\n\nabout  two words\r\n label x:$1\nmark  a (b) #c \nend x\n"
		      "begin b\nstep s\njoin j",
		      out, error),
	    0);
	assert_string_equal(out, "mark|a (b) #c |x:$1\nend|x|\nbegin|b|\nstep|s|\njoin|j|\n"
				 "about two words");
	assert_int_equal(read_text("mark a\nmark stop\nmark b", out, error), 77);
}

static void what_is_wrong_is_said_with_its_line(void **state)
{
	char out[1024], error[PRESET_ERROR_MAX];

	(void)state;
	assert_int_equal(read_text("mark a\nmakr b", out, error), -EINVAL);
	assert_memory_equal(error, "line 2:", 7);
	assert_int_equal(read_text("\n\nmark", out, error), -EINVAL);
	assert_memory_equal(error, "line 3:", 7);
	assert_int_equal(read_text("label x", out, error), -EINVAL);
	assert_non_null(strstr(error, "without a pattern"));
	assert_int_equal(read_text("", out, error), -EINVAL);
	assert_string_equal(error, "it has no patterns");
	assert_int_equal(read_text("# c\nabout x\n", out, error), -EINVAL);
	assert_string_equal(error, "it has no patterns");
}

static void own_presets_are_right(void **state)
{
	(void)state;
	for (const struct preset *p = presets_own; p->name; p++) {
		struct patterns *ps = patterns_new();
		char error[PRESET_ERROR_MAX], *text = strdup(p->text);
		struct literal l[LITERALS_MAX];

		if (preset_add(ps, text, error))
			fail_msg("%s: %s", p->name, error);
		/* Each of its lines has a literal: no write is an edge for nothing. */
		assert_true(patterns_literals(ps, l, LITERALS_MAX) > 0);
		free(text);
		patterns_free(&ps);
	}
}

static void errors_of_patterns_have_line_and_place(void **state)
{
	struct patterns *ps = patterns_new();
	char error[PRESET_ERROR_MAX], text[] = "about x\nmark a(\n";

	(void)state;
	assert_int_equal(preset_add(ps, text, error), -EINVAL);
	assert_memory_equal(error, "line 2: ", 8);
	assert_non_null(strstr(error, "offset 2"));
	patterns_free(&ps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(lines_are_a_word_and_the_rest),
	    cmocka_unit_test(what_is_wrong_is_said_with_its_line),
	    cmocka_unit_test(own_presets_are_right),
	    cmocka_unit_test(errors_of_patterns_have_line_and_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
