/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the BPF side decides by, compiled for the host: windows, folds of a percpu counter, samples.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "logic.h"

#define BATCH 32

static void word_holds_number_and_maximum(void **state)
{
	const pp_u64 most = (1ull << PP_WORD_PAGES) - 1;
	pp_u64 w = word_make(7, 12345);

	(void)state;
	assert_int_equal(word_seq(w), 7);
	assert_int_equal(word_pages(w), 12345);
	/* Larger maxima of one window compare larger: raising is one compare-and-exchange. */
	assert_true(word_make(7, 12346) > w);
	assert_int_equal(word_pages(word_make(7, most)), most);
	assert_int_equal(word_seq(word_make(7, most)), 7);
	/* The number wraps at 24 bits, and nothing of it runs into the pages. */
	assert_int_equal(word_seq(word_make(1ull << 24, 5)), 0);
	assert_int_equal(word_pages(word_make(1ull << 24, 5)), 5);
}

static void pages_are_never_negative(void **state)
{
	const pp_s64 value[PP_NMEMBERS] = {
	    [PP_FILE] = -3, [PP_ANON] = 100, [PP_SWAP] = 1000, [PP_SHMEM] = 7};

	(void)state;
	assert_int_equal(pages_of(-1), 0);
	assert_int_equal(pages_of(INT64_MIN), 0);
	assert_int_equal(pages_of(0), 0);
	assert_int_equal(pages_of(INT64_MAX), INT64_MAX);
	/* Swap is not resident, and a member below zero takes nothing from the others. */
	assert_int_equal(rss_of(value), 107);
	assert_int_equal(larger(3, 9), 9);
	assert_int_equal(larger(9, 3), 9);
	assert_int_equal(larger(4, 4), 4);
}

/* lib/percpu_counter.c as it is documented: a local part that would reach ±batch is folded. */
struct counter {
	pp_s64 count;
	pp_s64 local[4];
};

static void kernel_adds(struct counter *c, int cpu, pp_s64 amount)
{
	pp_s64 sum = c->local[cpu] + amount;

	if (sum >= BATCH || sum <= -BATCH) {
		c->count += sum;
		c->local[cpu] = 0;
	} else {
		c->local[cpu] = sum;
	}
}

struct view {
	pp_s64 counted, shadow[4], value;
};

static pp_s64 event(struct view *v, const struct counter *c, int cpu, int alone)
{
	pp_s64 local = c->local[cpu], shadow = v->shadow[cpu];
	pp_s64 fold = folded(local, shadow, c->count - v->counted, BATCH, alone);
	pp_s64 amount = fold + local - shadow;

	v->shadow[cpu] = local;
	v->counted += fold;
	v->value += amount;
	return amount;
}

static void each_event_tells_its_amount(void **state)
{
	const pp_s64 amounts[] = {1, 1, 512, -1, 31, 1, -512, -30, 16, 16, -33, 32, -32, 7};
	struct counter c = {0};
	struct view v = {0};

	(void)state;
	for (int round = 0; round < 200; round++) {
		for (size_t i = 0; i < sizeof(amounts) / sizeof(*amounts); i++) {
			int cpu = (int)((i * 7 + (size_t)round) % 4);

			kernel_adds(&c, cpu, amounts[i]);
			assert_int_equal(event(&v, &c, cpu, 1), amounts[i]);
		}
	}
	assert_int_equal(v.value, c.count + c.local[0] + c.local[1] + c.local[2] + c.local[3]);
}

/* Random amounts on four CPUs, every change with its event at once: no page is ever missed. */
static void the_value_is_the_full_sum(void **state)
{
	struct counter c = {0};
	struct view v = {0};
	unsigned seed = 1;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		int cpu = rand_r(&seed) % 4;
		pp_s64 amount = rand_r(&seed) % 129 - 64;

		kernel_adds(&c, cpu, amount);
		event(&v, &c, cpu, 1);
		assert_int_equal(v.value,
				 c.count + c.local[0] + c.local[1] + c.local[2] + c.local[3]);
	}
}

/* Two CPUs fold single pages at once, and the events come after both. */
static void folds_of_two_cpus_are_a_page_each(void **state)
{
	struct counter c = {0};
	struct view v = {0};

	(void)state;
	for (int i = 0; i < BATCH - 1; i++) {
		kernel_adds(&c, 0, 1);
		event(&v, &c, 0, 0);
		kernel_adds(&c, 1, 1);
		event(&v, &c, 1, 0);
	}
	kernel_adds(&c, 0, 1);
	kernel_adds(&c, 1, 1);
	assert_int_equal(event(&v, &c, 1, 0), 1);
	assert_int_equal(event(&v, &c, 0, 0), 1);
	assert_int_equal(v.value, 2 * BATCH);
	assert_int_equal(v.counted, c.count);
}

static void an_event_within_a_settling_owns_one_page(void **state)
{
	(void)state;
	assert_int_equal(own_amount(BATCH, 0, 0, BATCH, 1), 1);
	assert_int_equal(own_amount(-BATCH, 0, 0, BATCH, 1), -1);
	assert_int_equal(own_amount(3 * BATCH, 0, 0, BATCH, 2), 1);
	/* No settling, or not whole batches, or a local part or shadow that tells: all its own. */
	assert_int_equal(own_amount(BATCH, 0, 0, BATCH, 0), BATCH);
	assert_int_equal(own_amount(512 + 3, 0, 0, BATCH, 1), 512 + 3);
	assert_int_equal(own_amount(BATCH, 5, 0, BATCH, 1), BATCH);
	assert_int_equal(own_amount(BATCH, 0, -3, BATCH, 1), BATCH);
	assert_int_equal(own_amount(0, 0, 0, BATCH, 1), 0);
	/* A huge page: where that is many batches, its own. */
	assert_int_equal(own_amount(512, 0, 0, BATCH, 1), 512);
	assert_int_equal(own_amount(-512, 0, 0, BATCH, 1), -512);
	assert_int_equal(own_amount(480, 0, 0, BATCH, 1), 1);
	assert_int_equal(own_amount(512, 0, 0, 512, 1), 1);
}

static void samples_are_due_at_one_percent_or_one_mib(void **state)
{
	(void)state;
	assert_false(sample_due(1000, 1255, 256));
	assert_true(sample_due(1000, 1256, 256));
	assert_true(sample_due(1256, 1000, 256));
	/* 1 % of 100,000 pages is more than 1 MiB. */
	assert_false(sample_due(100000, 100256, 256));
	assert_false(sample_due(100000, 101009, 256));
	assert_true(sample_due(100000, 101011, 256));
	assert_false(sample_due(5, 5, 256));
}

/* Published values of FNV-1a, 64 bits (draft-eastlake-fnv): the empty string, "a", "foobar". */
static void hash_is_fnv_1a(void **state)
{
	const char *text = "foobar";
	pp_u64 h = PP_HASH_INIT;

	(void)state;
	assert_int_equal(h, 0xcbf29ce484222325ull);
	assert_int_equal(hash_byte(h, 'a'), 0xaf63dc4c8601ec8cull);
	for (const char *p = text; *p; p++)
		h = hash_byte(h, (pp_u8)*p);
	assert_int_equal(h, 0x85944171f73967e8ull);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(word_holds_number_and_maximum),
	    cmocka_unit_test(pages_are_never_negative),
	    cmocka_unit_test(each_event_tells_its_amount),
	    cmocka_unit_test(the_value_is_the_full_sum),
	    cmocka_unit_test(folds_of_two_cpus_are_a_page_each),
	    cmocka_unit_test(an_event_within_a_settling_owns_one_page),
	    cmocka_unit_test(samples_are_due_at_one_percent_or_one_mib),
	    cmocka_unit_test(hash_is_fnv_1a),
	};

	return cmocka_run_group_tests_name("logic", tests, NULL, NULL);
}
