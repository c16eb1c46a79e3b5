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

static struct patterns *own(const char *name)
{
	struct patterns *ps = patterns_new();
	char error[PRESET_ERROR_MAX];

	for (const struct preset *p = presets_own; p->name; p++) {
		char *text = strdup(p->text);

		if (!strcmp(p->name, name))
			assert_int_equal(preset_add(ps, text, error), 0);
		free(text);
	}
	return ps;
}

#define INDENT "                             "

/* As Kedro 1.7 and 0.19 write them at 80 columns, at 250, at 60, and without rich. */
static void kedro_is_understood_however_it_is_wrapped(void **state)
{
	static const struct {
		const char *lines, *label;
		enum pattern_kind kind;
	} cases[] = {
	    {"[11/30/26 17:08:31] INFO     Loading data from b (Copied)... data_catalog.py:403",
	     "load:b", PATTERN_STEP},
	    {"                    INFO     Loading data from              data_catalog.py:1151\n" INDENT
	     "preprocessed_companies                             \n" INDENT
	     "(MemoryDataset)...                                 ",
	     "load:preprocessed_companies", PATTERN_STEP},
	    {"                    INFO     Saving data to c                data_catalog.py:445\n" INDENT
	     "(CopyingFile)...                                   ",
	     "save:c", PATTERN_STEP},
	    {"                    INFO     Saving data to                 data_catalog.py:1097\n" INDENT
	     "evaluation.regression.model_in                     \n" INDENT
	     "put_table (MemoryDataset)...                       ",
	     "save:evaluation.regression.model_input_table", PATTERN_STEP},
	    {"                    INFO     Saving data to                 data_catalog.py:1097\n" INDENT
	     "data_processing.companies@cola                     \n" INDENT
	     "(MemoryDataset)...                                 ",
	     "save:data_processing.companies@cola", PATTERN_STEP},
	    {"         INFO     Loading    data_catalog.py:1151\n                  data from \n"
	     "                  params:mod\n                  el_options\n                  (MemoryDat\n"
	     "                  aset)...  ",
	     "load:params:model_options", PATTERN_STEP},
	    {"                    INFO     Running node:                           node.py:531\n" INDENT
	     "create_model_input_table_node:                     \n" INDENT
	     "create_model_input_table([preprocessed_            \n" INDENT
	     "companies]) -> [model_input_table]                 ",
	     "run:create_model_input_table_node", PATTERN_STEP},
	    {"                    INFO     Running node:                           node.py:531\n" INDENT
	     "reporting.create_confusion_matrix_by_re            \n" INDENT
	     "gion: create(None) -> [x]                          ",
	     "run:reporting.create_confusion_matrix_by_region", PATTERN_STEP},
	    {"                    INFO     Running node: combine() -> [c]          node.py:389",
	     "run:combine", PATTERN_STEP},
	    {"2026-11-30 17:08:31,1 - kedro.io.data_catalog - INFO - Loading data from 'a' (CSV)...",
	     "load:'a'", PATTERN_STEP},
	    {"                    INFO     Completed node:                       runner.py:245\n" INDENT
	     "preprocess_companies_node                          ",
	     NULL, PATTERN_END},
	    {"                    INFO     Completed 1 out of 2 tasks            runner.py:246",
	     NULL, PATTERN_KINDS},
	    {"Loading data from the service", NULL, PATTERN_KINDS},
	};
	struct patterns *ps = own("kedro");

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *lines = cases[i].lines, *want = cases[i].label;
		struct pattern_match m[2] = {0};
		uint64_t gave_up = 0;
		int n = patterns_match(ps, lines, strlen(lines), m, 2, &gave_up);

		if (n != (cases[i].kind != PATTERN_KINDS))
			fail_msg("%d matches in: %s", n, lines);
		assert_int_equal(gave_up, 0);
		assert_true(!n || m[0].kind == cases[i].kind);
		if (want && (m[0].label.len != strlen(want) ||
			     memcmp(m[0].label.bytes, want, strlen(want)) != 0))
			fail_msg("%.*s, not %s", m[0].label.len, m[0].label.bytes, want);
	}
	patterns_free(&ps);
}

/* A line that is made to be hard is refused at once, not given up after long. */
static void kedro_is_not_held_up(void **state)
{
	struct patterns *ps = own("kedro");
	uint64_t gave_up = 0;
	struct pattern_match m[2];
	char text[16384];

	(void)state;
	memset(text, 'x', sizeof(text));
	memcpy(text, "Loading data from ", 18);
	assert_int_equal(patterns_match(ps, text, sizeof(text), m, 2, &gave_up), 0);
	for (size_t i = 19; i < sizeof(text); i += 2)
		text[i] = ' ';
	assert_int_equal(patterns_match(ps, text, sizeof(text), m, 2, &gave_up), 0);
	for (size_t i = 0; i + 8 <= sizeof(text); i += 8)
		memcpy(text + i, "Loading ", 8);
	assert_int_equal(patterns_match(ps, text, sizeof(text), m, 2, &gave_up), 0);
	assert_int_equal(gave_up, 0);
	patterns_free(&ps);
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
	    cmocka_unit_test(kedro_is_understood_however_it_is_wrapped),
	    cmocka_unit_test(kedro_is_not_held_up),
	    cmocka_unit_test(errors_of_patterns_have_line_and_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
