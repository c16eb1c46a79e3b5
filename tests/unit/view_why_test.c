/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Peaks explained: phases made by hand, and what the report says of them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "golden.h"
#include "view/explain.h"
#include "view/rank.h"
#include "view/report.h"
#include "view_fake.h"

static struct explained *explained(struct fake *f, const char *pattern)
{
	struct explained *x = malloc(sizeof(*x));
	struct report_source src = fake_source(f);
	int64_t sum = 0;

	assert_non_null(x);
	assert_int_equal(explain(x, &src, pattern), 0);
	for (size_t i = 0; i < x->n; i++)
		sum += x->rows[i].bytes;
	assert_int_equal(sum, x->peak.bytes);
	return x;
}

static void row(const struct explained *x, size_t i, enum why_part part, const char *label,
		uint64_t phases, int64_t mib)
{
	assert_true(i < x->n);
	assert_int_equal(x->rows[i].part, part);
	assert_int_equal(x->rows[i].bytes, mib * (int64_t)FAKE_MIB);
	assert_int_equal(x->rows[i].phases, phases);
	assert_int_equal(!label, !x->rows[i].name);
	if (!label)
		return;
	assert_int_equal(x->rows[i].name->len, strlen(label));
	assert_memory_equal(x->rows[i].name->bytes, label, strlen(label));
}

static void done(struct explained **x, size_t rows)
{
	assert_int_equal((*x)->n, rows);
	explain_free(*x);
	free(*x);
	*x = NULL;
}

static struct fake *fake(void)
{
	struct fake *f = malloc(sizeof(*f));

	assert_non_null(f);
	fake_init(f);
	return f;
}

/* load:a keeps one of its two copies, load:b too, the rest is inside. */
static void of_a_pipeline(struct fake *f)
{
	fake_process(f, 7, "kedro|run", 0, 100)->baseline_bytes = FAKE_MIB;
	fake_phase(f, PH_STARTUP, NULL, 0, 1, 0, 10, 1, 60, 61);
	fake_phase(f, PH_SPAN, "load:a", 1, 2, 10, 20, 60, 260, 460);
	fake_phase(f, PH_SPAN, "load:b", 2, 3, 20, 30, 260, 360, 460);
	fake_phase(f, PH_SPAN, "run", 3, 4, 30, 40, 360, 460, 760);
	fake_phase(f, PH_SPAN, "save", 4, 5, 40, 50, 460, 460, 560);
	fake_phase(f, PH_AFTER, NULL, 5, 6, 50, 60, 460, 10, 460);
}

static void siblings(void **state)
{
	struct fake *f = fake();
	struct explained *x;

	(void)state;
	of_a_pipeline(f);
	x = explained(f, NULL);
	row(x, 0, WHY_INSIDE, "run", 1, 400);
	row(x, 1, WHY_SIBLING, "load:a", 1, 200);
	row(x, 2, WHY_SIBLING, "load:b", 1, 100);
	row(x, 3, WHY_EARLIER, "", 1, 59);
	row(x, 4, WHY_START, NULL, 0, 1);
	assert_int_equal(why_sum(x->why, WHY_SIBLING), 300 * FAKE_MIB);
	assert_true(x->exact);
	done(&x, 5);
	free(f);
}

/* What is within an earlier phase belongs to it; an inner one of an open phase has its own row. */
static void nested(void **state)
{
	struct fake *f = fake();
	struct explained *x;

	(void)state;
	fake_process(f, 7, "x", 0, 100);
	fake_phase(f, PH_SPAN, "done", 0, 3, 0, 30, 0, 50, 90);
	fake_phase(f, PH_SPAN, "in it", 1, 2, 10, 20, 10, 40, 90)->depth = 1;
	fake_phase(f, PH_SPAN, "outer", 3, 9, 30, 90, 50, 60, 300);
	fake_phase(f, PH_SPAN, "sibling", 4, 5, 40, 50, 55, 75, 80)->depth = 1;
	fake_phase(f, PH_SPAN, "sibling", 5, 6, 50, 60, 75, 85, 90)->depth = 1;
	fake_phase(f, PH_SPAN, "top", 6, 9, 60, 90, 85, 60, 300)->depth = 1;
	fake_phase(f, PH_SPAN, "inner", 7, 8, 70, 80, 95, 90, 120)->depth = 2;
	f->processes[0].peak.win = f->phases[2].peak.win = f->phases[5].peak.win = 9;
	x = explained(f, NULL);
	row(x, 0, WHY_INSIDE, "top", 1, 220); /* 10 before inner, 210 after it */
	row(x, 1, WHY_EARLIER, "done", 1, 50);
	row(x, 2, WHY_SIBLING, "sibling", 2, 30);
	row(x, 3, WHY_OUTER, "outer", 1, 5);
	row(x, 4, WHY_INNER, "inner", 1, -5);
	done(&x, 5);
	/* The outer one explained: all that is within it is inner. */
	x = explained(f, "outer");
	row(x, 0, WHY_INNER, "top", 1, 220);
	row(x, 1, WHY_SIBLING, "done", 1, 50);
	row(x, 2, WHY_INNER, "sibling", 2, 30);
	row(x, 3, WHY_INSIDE, "outer", 1, 5);
	row(x, 4, WHY_INNER, "inner", 1, -5);
	done(&x, 5);
	free(f);
}

/* Threads: what two phases held at once is booked once, on the one that began last. */
static void overlapping(void **state)
{
	struct fake *f = fake();
	struct explained *x;

	(void)state;
	fake_process(f, 7, "x", 0, 100);
	fake_phase(f, PH_SPAN, "left", 0, 4, 0, 40, 0, 200, 300)->overlaps = true;
	fake_phase(f, PH_SPAN, "right", 1, 3, 10, 30, 50, 250, 250)->overlaps = true;
	f->phases[1].tid = 8;
	f->phases[0].peak.win = 2;
	f->processes[0].peak = f->phases[0].peak;
	f->phases[1].peak = f->phases[0].peak;
	x = explained(f, NULL);
	row(x, 0, WHY_INSIDE, "right", 1, 250);
	row(x, 1, WHY_BESIDE, "left", 1, 50);
	assert_true(x->rows[0].overlaps && x->rows[1].overlaps);
	done(&x, 2);
	free(f);
}

/* A phase that is not there: what it did is in no other row. */
static void lost(void **state)
{
	struct fake *f = fake();
	struct explained *x;

	(void)state;
	fake_process(f, 7, "x", 0, 100)->baseline_bytes = 3 * FAKE_MIB;
	fake_phase(f, PH_SPAN, "a", 1, 2, 10, 20, 43, 53, 53);
	fake_phase(f, PH_SPAN, "b", 4, 5, 40, 50, 93, 93, 143)->exact = false;
	x = explained(f, NULL);
	row(x, 0, WHY_UNKNOWN, NULL, 0, 80);
	row(x, 1, WHY_INSIDE, "b", 1, 50);
	row(x, 2, WHY_SIBLING, "a", 1, 10);
	row(x, 3, WHY_START, NULL, 0, 3);
	assert_false(x->exact);
	done(&x, 4);
	/* The phase of the peak itself is not there: it is still open. */
	f->processes[0].peak.win = 6;
	f->processes[0].peak.bytes = 200 * FAKE_MIB;
	x = explained(f, NULL);
	assert_false(x->has_phase);
	row(x, 0, WHY_UNKNOWN, NULL, 0, 80 + 107);
	row(x, 1, WHY_EARLIER, "a", 1, 10);
	row(x, 2, WHY_START, NULL, 0, 3);
	done(&x, 3); /* b kept nothing */
	free(f);
}

static void chosen(void **state)
{
	struct fake *f = fake();
	struct report_source src;
	struct explained *x, none;

	(void)state;
	of_a_pipeline(f);
	fake_process(f, 9, "child", 50, 60);
	fake_phase(f, PH_SPAN, "load:a", 0, 1, 50, 55, 0, 5, 500);
	x = explained(f, "load:*");
	assert_int_equal(x->matches, 3);
	assert_int_equal(x->nnames, 2);
	assert_int_equal(x->p.pid, 9);
	row(x, 0, WHY_INSIDE, "load:a", 1, 500);
	done(&x, 1);
	x = explained(f, "(startup)");
	assert_int_equal(x->phase.kind, PH_STARTUP);
	row(x, 0, WHY_INSIDE, "", 1, 60);
	done(&x, 2);
	src = fake_source(f);
	assert_int_equal(explain(&none, &src, "nobody"), -ENOENT);
	explain_free(&none);
	f->nprocesses = 0;
	assert_int_equal(explain(&none, &src, NULL), -ENODATA);
	explain_free(&none);
	free(f);
}

/* Numbers that no recording has: nothing is read or added up beyond its bounds. */
static void hostile(void **state)
{
	struct fake *f = fake();
	struct report_source src;
	struct explained x;

	(void)state;
	fake_process(f, 7, "x", 0, 100)->baseline_bytes = UINT64_MAX;
	for (uint64_t i = 0; i < 8; i++) {
		struct phase *ph = fake_phase(f, PH_SPAN, "a", i, 20 - i, 0, 1, 1, 1, 5);

		ph->start_bytes = i & 1 ? UINT64_MAX : 1;
		ph->end_bytes = i & 2 ? UINT64_MAX / 2 : 0;
		ph->end_win = i & 1 ? UINT64_MAX : i;
	}
	src = fake_source(f);
	assert_int_equal(explain(&x, &src, NULL), 0);
	explain_free(&x);
	free(f);
}

static void text(struct fake *f, const char *pattern, const struct report_style *style,
		 const char *name)
{
	struct report_source src = fake_source(f);
	struct explained *x = explained(f, pattern);
	char *out = NULL;
	size_t len = 0;
	FILE *file = open_memstream(&out, &len);

	assert_int_equal(report_text(&src, style, &(struct report_asked){.why = x}, file), 0);
	fclose(file);
	golden_check(__FILE__, name, out, len);
	free(out);
	explain_free(x);
	free(x);
}

static void texts(void **state)
{
	struct fake *f = fake();

	(void)state;
	fake_pipeline(f);
	f->processes[0].peak = f->phases[5].peak;
	f->processes[0].baseline_bytes = 4 * FAKE_MIB;
	text(f, NULL, &(struct report_style){0}, "why_pipeline.txt");
	text(f, "*", &(struct report_style){.ascii = true}, "why_any_ascii.txt");
	fake_trouble(f);
	f->processes[1].ext_grew_bytes = FAKE_MIB;
	text(f, "right*", &(struct report_style){0}, "why_trouble.txt");
	fake_init(f);
	fake_process(f, 7, "x", 0, 100);
	for (uint64_t i = 0; i < 40; i++) {
		char label[16];

		snprintf(label, sizeof(label), "step %02d", (int)i);
		fake_phase(f, PH_CHECKPOINT, label, i, i + 1, i, i + 1, 10 * i, 10 * (i + 1),
			   10 * (i + 1));
	}
	text(f, NULL, &(struct report_style){0}, "why_many.txt");
	free(f);
}

/* Eager keeps its frame, the sink only maps the input: by RSS the sink, by its own memory eager. */
static void ranked(void **state)
{
	struct fake *f = fake();
	struct report_source src;
	struct ranking *r;
	char *out = NULL;
	size_t len = 0;
	FILE *file;

	(void)state;
	fake_process(f, 7, "x", 0, 100);
	fake_phase(f, PH_SPAN, "eager", 0, 4, 0, 40, 0, 200, 250);
	fake_phase(f, PH_SPAN, "group", 1, 3, 10, 30, 10, 200, 250)->depth = 1;
	fake_phase(f, PH_SPAN, "sink", 4, 5, 40, 50, 200, 210, 600)->exact = false;
	f->phases[2].anon_peak = 220 * FAKE_MIB;
	f->phases[2].file_peak = 400 * FAKE_MIB;
	src = fake_source(f);
	assert_int_equal(rank_named("anon"), RANK_ANON);
	assert_int_equal(rank_named("anonymous"), RANK_NONE);
	assert_int_equal(rank_phases(&r, &src, RANK_ANON), 0);
	assert_int_equal(r->n, 3);
	/* The inner one of those that have the same. */
	assert_int_equal(r->rows[0].label.bytes[0], 'g');
	assert_int_equal(r->rows[1].label.bytes[0], 'e');
	assert_int_equal(rank_bytes(&r->rows[2], RANK_ANON), 220 * FAKE_MIB);
	free(r);
	assert_int_equal(rank_phases(&r, &src, RANK_FILE), 0);
	assert_int_equal(r->rows[0].label.bytes[0], 's');
	file = open_memstream(&out, &len);
	assert_int_equal(
	    report_text(&src, &(struct report_style){0}, &(struct report_asked){.rank = r}, file),
	    0);
	fclose(file);
	golden_check(__FILE__, "rank_file.txt", out, len);
	free(out);
	free(r);
	for (uint64_t i = 6; i < 60; i++)
		fake_phase(f, PH_CHECKPOINT, "c", i, i + 1, i, i + 1, 210, 210, 210 + i);
	assert_int_equal(rank_phases(&r, &src, RANK_TOTAL), 0);
	assert_int_equal(r->n, RANK_MAX);
	assert_int_equal(r->more, 57 - RANK_MAX);
	assert_int_equal(rank_bytes(&r->rows[0], RANK_TOTAL), 600 * FAKE_MIB);
	for (size_t i = 1; i < r->n; i++)
		assert_true(r->rows[i].peak.bytes <= r->rows[i - 1].peak.bytes);
	free(r);
	free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(siblings), cmocka_unit_test(nested), cmocka_unit_test(overlapping),
	    cmocka_unit_test(lost),	cmocka_unit_test(chosen), cmocka_unit_test(hostile),
	    cmocka_unit_test(texts),	cmocka_unit_test(ranked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
