/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Recordings compared, and budgets: phases made by hand. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "golden.h"
#include "view/budget.h"
#include "view/diff.h"
#include "view_fake.h"

static struct fake *fake(void (*make)(struct fake *))
{
	struct fake *f = malloc(sizeof(*f));

	assert_non_null(f);
	make(f);
	return f;
}

/* The pipeline with less in its largest phase, and a label of its own. */
static void better(struct fake *f)
{
	fake_pipeline(f);
	f->phases[3].peak.bytes = f->phases[5].peak.bytes = 2000 * FAKE_MIB;
	f->phases[5].grew_bytes -= 1224 * FAKE_MIB;
	f->phases[5].end_ns -= 1500 * FAKE_MS;
	f->processes[0].peak = f->phases[3].peak;
	f->phases[5].exact = f->processes[0].exact = false;
	fake_label(&f->phases[4], "load:\033[2J", 9);
}

/* Phases of one label, of peaks in MiB up to a 0. */
static void repeated(struct fake *f, const uint64_t *peaks)
{
	fake_init(f);
	fake_process(f, 7, "x", 0, 100);
	for (uint64_t i = 0; peaks[i]; i++)
		fake_phase(f, PH_SPAN, "load", i, i + 1, i, i + 1 + i, 10, 10, peaks[i])
		    ->grew_bytes = 5;
}

static void odd(struct fake *f)
{
	repeated(f, (const uint64_t[]){50, 90, 10, 0});
}

static void even(struct fake *f)
{
	repeated(f, (const uint64_t[]){40, 20, 100, 31, 0});
}

static void nothing(struct fake *f)
{
	fake_init(f);
}

static struct diff compared(struct fake *const *f, size_t n, struct compare **c)
{
	static const char *const files[] = {"base.peak", "new\033.peak", "c.peak"};
	static const char *const commands[] = {"python3 etl.py", NULL, "x"};
	struct diff d = {.files = files, .commands = commands, .version = "0.1.0"};

	assert_int_equal(compare_new(c, n), 0);
	for (size_t i = 0; i < n; i++) {
		struct report_source src = fake_source(f[i]);

		assert_int_equal(compare_read(*c, i, &src), 0);
	}
	assert_int_equal(compare_end(*c, &d.rows, &d.n), 0);
	d.c = *c;
	return d;
}

static void spreads(void **state)
{
	struct fake *f[] = {fake(odd), fake(even)};
	struct compare *c;
	struct diff d = compared(f, 2, &c);
	const struct compared *a = &d.rows[0].in[0], *b = &d.rows[0].in[1];

	(void)state;
	assert_int_equal(d.n, 1);
	assert_int_equal(a->count, 3);
	assert_int_equal(a->of[OF_PEAK].min, 10 * FAKE_MIB);
	assert_int_equal(a->of[OF_PEAK].median, 50 * FAKE_MIB);
	assert_int_equal(a->of[OF_PEAK].max, 90 * FAKE_MIB);
	assert_int_equal(a->of[OF_TIME].median, 2 * FAKE_MS);
	assert_int_equal(b->count, 4);
	assert_int_equal(b->of[OF_PEAK].min, 20 * FAKE_MIB);
	assert_int_equal(b->of[OF_PEAK].median, (31 + 40) * FAKE_MIB / 2);
	assert_int_equal(b->of[OF_PEAK].max, 100 * FAKE_MIB);
	assert_int_equal(b->of[OF_GREW].median, 5);
	compare_free(&c);
	free(f[0]);
	free(f[1]);
}

static void permille(void **state)
{
	int64_t n;

	(void)state;
	assert_true(compare_permille(1000, 876, &n));
	assert_int_equal(n, -124);
	assert_true(compare_permille(3, 4, &n));
	assert_int_equal(n, 333);
	assert_true(compare_permille(3, 1, &n));
	assert_int_equal(n, -667);
	assert_true(compare_permille(INT64_MAX, INT64_MAX, &n));
	assert_int_equal(n, 0);
	assert_true(compare_permille(INT64_MAX, 0, &n));
	assert_int_equal(n, -1000);
	assert_false(compare_permille(0, 5, &n));
	assert_false(compare_permille(-4, 5, &n));
}

static void check(struct fake *const *f, size_t n, bool json, const char *name)
{
	struct compare *c;
	struct diff d = compared(f, n, &c);
	char *out = NULL;
	size_t len = 0;
	FILE *file = open_memstream(&out, &len);

	assert_int_equal(json ? diff_json(&d, file) : diff_text(&d, false, false, file), 0);
	fclose(file);
	golden_check(__FILE__, name, out, len);
	for (size_t i = 0; i < len; i++)
		assert_true(out[i] == '\n' || (unsigned char)out[i] >= 0x20);
	free(out);
	compare_free(&c);
}

static void texts(void **state)
{
	struct fake *f[] = {fake(fake_pipeline), fake(better), fake(even)};
	struct fake *r[] = {fake(odd), fake(even)};
	struct fake *none[] = {fake(odd), fake(nothing)};
	struct fake *labels[] = {fake(fake_labels), fake(fake_labels)};

	(void)state;
	check(f, 2, false, "diff_pipeline.txt");
	check(f, 3, false, "diff_three.txt");
	check(f, 3, true, "diff_three.json");
	check(r, 2, false, "diff_repeated.txt");
	check(none, 2, false, "diff_nothing.txt");
	check(labels, 2, false, "diff_labels.txt");
	for (int i = 0; i < 2; i++) {
		free(f[i]);
		free(r[i]);
		free(none[i]);
		free(labels[i]);
	}
	free(f[2]);
}

static struct budgets *budgets(const char *const *texts)
{
	struct budgets *b = NULL;

	for (; *texts; texts++)
		assert_int_equal(budgets_add(&b, *texts), 0);
	return b;
}

static void measured(void **state)
{
	struct budgets *b = budgets((const char *const[]){"transform:*=3223.5M", "*=grew:2900M",
							  "transform:users=kept:208M",
							  "no such*=1G", "a=b=1M", NULL});
	struct fake *f = fake(fake_pipeline);
	struct report_source src = fake_source(f);
	char text[BREACH_TEXT_MAX];

	(void)state;
	for (int twice = 0; twice < 2; twice++) {
		assert_int_equal(budgets_check(b, &src), 0);
		assert_int_equal(budgets_breaches(b), 3);
	}
	assert_string_equal(
	    breach_format(text, b, 0),
	    "over budget: [transform:memberships] peaked at 3224.0 MiB, 0.5 MiB over "
	    "transform:*=3223.5M   pid 4242");
	assert_string_equal(breach_format(text, b, 2), "over budget: [join] grew by 2924.0 MiB, "
						       "24.0 MiB over *=grew:2900M   pid 4242");
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(budget_unused(text, b, i), 0);
		assert_string_equal(text, i == 3 ? "no such*=1G" : i == 4 ? "a=b=1M" : "");
	}
	assert_int_equal(budget_unused(text, b, 5), -ENOENT);
	budgets_free(&b);
	free(f);
}

/* Of many phases of one label the worst, and how many. */
static void worst(void **state)
{
	struct budgets *b = budgets((const char *const[]){"load=25M", NULL});
	struct fake *f = fake(even);
	struct report_source src = fake_source(f);
	char text[BREACH_TEXT_MAX];

	(void)state;
	assert_int_equal(budgets_check(b, &src), 0);
	assert_int_equal(budgets_breaches(b), 1);
	assert_string_equal(
	    breach_format(text, b, 0),
	    "over budget: [load] peaked at 100.0 MiB, 75.0 MiB over load=25M   pid 7, 3 times");
	budgets_free(&b);
	free(f);
}

static void open_of(struct fake *f)
{
	fake_pipeline(f);
	f->run.finished = false;
	fake_open(&f->phases[6], 20); /* hook:… */
	fake_open(&f->phases[7], 0);  /* (after), kept less than nothing */
}

/* The digits behind each "unknown". */
static const char *unknown_of(const char *json, char digits[static 9])
{
	static const char key[] = "\"unknown\": ";
	size_t n = 0;

	while (n < 8 && (json = strstr(json, key))) {
		json += strlen(key);
		digits[n++] = *json;
	}
	digits[n] = '\0';
	return digits;
}

/* What a phase that is open grows by and keeps is not within a budget before its end. */
static void not_known(void **state)
{
	static const char *const says[] = {
	    "over budget: [hook:PRE_PUSH:add_memberships] grew by ~20.0 MiB, 1.0 MiB over hook:*=grew:19M   pid 4242",
	    "not known to be within budget: [hook:PRE_PUSH:add_memberships] is open, grew by at least 20.0 MiB so far: hook:*=grew:21M   pid 4242",
	    "over budget: [hook:PRE_PUSH:add_memberships] kept ~4.0 MiB, 1.0 MiB over hook:*=kept:3M   pid 4242",
	    "not known to be within budget: [hook:PRE_PUSH:add_memberships] is open, kept ~4.0 MiB so far: hook:*=kept:5M   pid 4242",
	    "not known to be within budget: (after) is open, what it grew by is not known: (after)=grew:1G   pid 4242",
	    "not known to be within budget: (after) is open, kept ~0.0 MiB so far: (after)=kept:1G   pid 4242",
	};
	struct budgets *b = budgets((const char *const[]){
	    "hook:*=grew:19M", "hook:*=grew:21M", "hook:*=kept:3M", "hook:*=kept:5M",
	    "(after)=grew:1G", "(after)=kept:1G", "*=4G", "transform:*=grew:4G", NULL});
	struct fake *f = fake(open_of);
	struct report_source src = fake_source(f);
	char text[BREACH_TEXT_MAX];
	char counts[9], *out = NULL;
	size_t len = 0;
	struct jw j;
	FILE *file = open_memstream(&out, &len);

	(void)state;
	assert_int_equal(budgets_check(b, &src), 0);
	assert_int_equal(budgets_breaches(b), 6);
	for (size_t i = 0; i < 6; i++)
		assert_string_equal(breach_format(text, b, i), says[i]);
	assert_int_equal(jw_open(&j, file), 0);
	budgets_json(&j, b);
	assert_int_equal(jw_close(&j), 0);
	fclose(file);
	assert_string_equal(unknown_of(out, counts), "01011100");
	free(out);
	budgets_free(&b);
	free(f);
}

/* Open in one of two recordings: there is nothing to compare what it grew by with. */
static void open_compared(void **state)
{
	struct fake *f[] = {fake(fake_pipeline), fake(open_of)};

	(void)state;
	check(f, 2, false, "diff_open.txt");
	check(f, 2, true, "diff_open.json");
	free(f[0]);
	free(f[1]);
}

static void refused(void **state)
{
	static const char *const bad[] = {"",	  "x",	     "=5M",	"x=",	    "x=five",
					  "x=5X", "x=up:5M", "x=kept:", "x=kept:-1"};
	struct budgets *b = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(budgets_add(&b, bad[i]), -EINVAL);
	assert_int_equal(budgets_add(&b, "x=99999999999999999999"), -ERANGE);
	assert_null(b);
	budgets_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(spreads),	     cmocka_unit_test(permille),
	    cmocka_unit_test(texts),	     cmocka_unit_test(measured),
	    cmocka_unit_test(worst),	     cmocka_unit_test(not_known),
	    cmocka_unit_test(open_compared), cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
