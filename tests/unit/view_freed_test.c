/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a phase kept and the process gave back right after it: phases made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>

#include "view/freed.h"
#include "view/report.h"
#include "view_fake.h"

/* A sink that keeps 132 MiB; in the 1.5 s after it 104 of the 140 are given back. */
static struct fake *sink(void)
{
	struct fake *f = malloc(sizeof(*f));

	assert_non_null(f);
	fake_init(f);
	fake_process(f, 7, "python3|query.py", 0, 4000);
	fake_phase(f, PH_STARTUP, NULL, 0, 1, 0, 100, 2, 8, 8);
	fake_phase(f, PH_SPAN, "sink", 1, 3, 100, 600, 8, 140, 200);
	fake_phase(f, PH_BETWEEN, NULL, 3, 4, 600, 2100, 140, 36, 140);
	fake_phase(f, PH_SPAN, "eager", 4, 5, 2100, 3000, 36, 90, 90);
	fake_phase(f, PH_AFTER, NULL, 5, 6, 3000, 4000, 90, 95, 95);
	return f;
}

static struct freed of(struct fake *f, size_t i)
{
	struct report_source src = fake_source(f);
	struct freed freed;

	assert_int_equal(freed_later(&src, &f->phases[i], &freed), 0);
	return freed;
}

static void right_after(void **state)
{
	struct fake *f = sink();

	(void)state;
	assert_int_equal(of(f, 1).bytes, 104 * FAKE_MIB);
	assert_true(of(f, 1).exact);
	/* What kept nothing more to give back, what is implied, what grew on. */
	assert_int_equal(of(f, 3).bytes, 0);
	assert_int_equal(of(f, 0).bytes, 0);
	assert_int_equal(of(f, 2).bytes, 0);
	/* At most what the phase kept: the rest was somebody else's. */
	f->phases[1].start_bytes = 100 * FAKE_MIB;
	assert_int_equal(of(f, 1).bytes, 40 * FAKE_MIB);
	/* It gave back more than it brought. */
	f->phases[1].start_bytes = 141 * FAKE_MIB;
	assert_int_equal(of(f, 1).bytes, 0);
	free(f);
}

/* A program that ends frees what it has; one that goes on untraced does not. */
static void at_the_end(void **state)
{
	struct fake *f = sink();

	(void)state;
	f->phases[2].kind = PH_AFTER;
	f->phases[2].ended_by = PH_BY_EXIT;
	assert_int_equal(of(f, 1).bytes, 0);
	f->phases[2].ended_by = PH_BY_SIGNAL;
	assert_int_equal(of(f, 1).bytes, 0);
	f->phases[2].ended_by = PH_BY_TRACE;
	assert_int_equal(of(f, 1).bytes, 104 * FAKE_MIB);
	/* Long before its end. */
	f->nphases = 3;
	f->phases[2].ended_by = PH_BY_EXIT;
	f->phases[2].end_ns = f->phases[2].start_ns + 2 * FREED_LATER_NS;
	assert_int_equal(of(f, 1).bytes, 52 * FAKE_MIB);
	free(f);
}

/* Another mark at once: what is given back then is the next phase's. */
static void nothing_between(void **state)
{
	struct fake *f = sink();

	(void)state;
	f->phases[2].kind = PH_CHECKPOINT;
	assert_int_equal(of(f, 1).bytes, 0);
	free(f);
}

static int nothing_told(void *ctx, uint64_t mm_id, uint64_t from_ns, uint64_t to_ns,
			uint64_t *bytes)
{
	const struct fake *f = ctx;

	/* Within the 2 s that count. */
	assert_int_equal(mm_id, 1);
	assert_int_equal(from_ns, f->phases[2].start_ns);
	assert_int_equal(to_ns, f->phases[2].start_ns + FREED_LATER_NS);
	*bytes = 0;
	return 0;
}

/* A service goes on without marks: what counts is where the timeline was after 2 s. */
static void two_seconds(void **state)
{
	struct fake *f = sink();
	struct report_source src = fake_source(f);
	struct freed freed;

	(void)state;
	f->phases[2].end_ns = f->phases[2].start_ns + FREED_LATER_NS;
	assert_int_equal(of(f, 1).bytes, 104 * FAKE_MIB);
	assert_true(of(f, 1).exact);
	f->nphases = 3; /* nothing comes after it */
	f->phases[2].end_ns += FREED_LATER_NS;
	assert_int_equal(of(f, 1).bytes, 52 * FAKE_MIB);
	assert_false(of(f, 1).exact);
	src.rss_at = nothing_told;
	assert_int_equal(freed_later(&src, &f->phases[1], &freed), 0);
	assert_int_equal(freed.bytes, 0);
	free(f);
}

static void not_exact(void **state)
{
	struct fake *f = sink();

	(void)state;
	f->phases[2].exact = false;
	assert_false(of(f, 1).exact);
	f->phases[2].exact = true;
	f->phases[1].exact = false;
	assert_false(of(f, 1).exact);
	/* What is open has kept nothing yet. */
	fake_open(&f->phases[1], 132);
	assert_int_equal(of(f, 1).bytes, 0);
	free(f);
}

static void report_has(struct fake *f, const char *says, bool does)
{
	struct report_source src = fake_source(f);
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert_int_equal(report_text(&src, &(struct report_style){0}, NULL, out), 0);
	fclose(out);
	if (!strstr(text, says) == does)
		fail_msg("%s\n%s", says, text);
	free(text);
}

static void said(void **state)
{
	struct fake *f = sink();

	(void)state;
	report_has(f, "132.0     60.0    50.0k   ◀ peak, 104.0 freed later\n", true);
	f->phases[2].exact = false;
	report_has(f, "   ◀ peak, ~104.0 freed later\n", true);
	/* Less than 1 MiB is no news. */
	f->phases[2].end_bytes = f->phases[2].start_bytes - FAKE_MIB + 1;
	report_has(f, "freed later", false);
	f->phases[2].end_bytes--;
	report_has(f, ", ~1.0 freed later\n", true);
	free(f);
}

static int fails(void *ctx, uint64_t mm_id, uint64_t win, struct phase *out)
{
	(void)ctx, (void)mm_id, (void)win, (void)out;
	return -EIO;
}

static void errors_come_back(void **state)
{
	struct fake *f = sink();
	struct report_source src = fake_source(f);
	struct freed freed;

	(void)state;
	src.implied_from = fails;
	assert_int_equal(freed_later(&src, &f->phases[1], &freed), -EIO);
	free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(right_after),	cmocka_unit_test(nothing_between),
	    cmocka_unit_test(at_the_end),	cmocka_unit_test(two_seconds),
	    cmocka_unit_test(not_exact),	cmocka_unit_test(said),
	    cmocka_unit_test(errors_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
