/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A value over time in bounded memory: extremes are never lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "view/top/series.h"

#define MS 1000000ull
#define MIB (1ull << 20)

static void range(const struct series *s, uint64_t from_ms, uint64_t to_ms, uint64_t min,
		  uint64_t max)
{
	uint64_t a, b;

	assert_true(series_range(s, from_ms * MS, to_ms * MS, &a, &b));
	assert_int_equal(a, min * MIB);
	assert_int_equal(b, max * MIB);
}

static void it_stays_until_it_changes(void **state)
{
	struct series s;
	uint64_t a, b;

	(void)state;
	series_init(&s, 100 * MS, 64);
	assert_false(series_range(&s, 100 * MS, 200 * MS, &a, &b));
	assert_int_equal(series_at(&s, 150 * MS), 0);
	assert_int_equal(series_put(&s, 100 * MS, 10 * MIB), 0);
	assert_int_equal(series_put(&s, 110 * MS, 30 * MIB), 0);
	assert_int_equal(series_at(&s, 99 * MS), 0);
	assert_int_equal(series_at(&s, 105 * MS), 10 * MIB);
	assert_int_equal(series_at(&s, 999 * MS), 30 * MIB);
	range(&s, 101, 105, 10, 10);
	range(&s, 105, 115, 10, 30);
	range(&s, 500, 600, 30, 30);
	assert_false(series_range(&s, 0, 50 * MS, &a, &b));
	series_free(&s);
}

/* A spike of a moment in an hour, kept in 64 buckets. */
static void no_spike_is_lost(void **state)
{
	struct series s;
	uint64_t a, b;

	(void)state;
	series_init(&s, 0, 64);
	for (uint64_t ms = 0; ms < 3600000; ms += 500) {
		assert_int_equal(series_put(&s, ms * MS, 100 * MIB), 0);
		if (ms == 1234500)
			assert_int_equal(series_touch(&s, ms * MS + 1, 777 * MIB), 0);
		if (ms == 2000000)
			assert_int_equal(series_touch(&s, ms * MS + 1, 3 * MIB), 0);
	}
	assert_true(s.n <= 64 && s.room <= 64);
	range(&s, 0, 3600000, 3, 777);
	/* Elsewhere there is none: it blurs to a bucket and no further. */
	assert_true(s.width <= 3600000 * MS / 32);
	assert_true(series_range(&s, 2500000 * MS, 3600000 * MS, &a, &b));
	assert_int_equal(b, 100 * MIB);
	assert_true(series_range(&s, 0, 1000000 * MS, &a, &b));
	assert_int_equal(a, 100 * MIB);
	series_free(&s);
}

static void time_that_runs_backwards_or_far(void **state)
{
	struct series s;

	(void)state;
	series_init(&s, 1000 * MS, 16);
	series_put(&s, 1001 * MS, 5 * MIB);
	series_put(&s, 1002 * MS, 9 * MIB);
	series_put(&s, 1001 * MS, 20 * MIB); /* late: an extreme, not the value */
	assert_int_equal(series_at(&s, 1010 * MS), 9 * MIB);
	range(&s, 1000, 1003, 5, 20);
	series_put(&s, 3 * MS, 1 * MIB); /* before the begin */
	assert_int_equal(series_at(&s, 1010 * MS), 9 * MIB);
	series_put(&s, UINT64_MAX - 1, UINT64_MAX);
	assert_true(s.n <= 16);
	assert_int_equal(series_at(&s, UINT64_MAX), UINT64_MAX);
	series_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(it_stays_until_it_changes),
	    cmocka_unit_test(no_spike_is_lost),
	    cmocka_unit_test(time_that_runs_backwards_or_far),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
