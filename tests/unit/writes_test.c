/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes with an edge: room is made of those that nobody needs, at a price that does not grow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "model/writes.h"

#define FULL 32768u
#define MORE 100000u

static void lines_that_are_open_do_not_make_each_write_dear(void **state)
{
	struct pattern_match m = {.kind = PATTERN_MARK};
	struct rlimit seconds = {10, 10};
	struct writes ws = {0};

	(void)state;
	/* Of the processor; looking at all that is open for each one would take minutes. */
	assert_int_equal(setrlimit(RLIMIT_CPU, &seconds), 0);
	for (uint64_t id = 1; id <= FULL + MORE; id++) {
		struct out_write *w = writes_get(&ws, id, 1);

		assert_non_null(w);
		w->refs = 1;
	}
	assert_int_equal(HASH_COUNT(ws.table), FULL + MORE);
	/* What no line needs goes, and is counted; what one needs stays. */
	for (uint64_t id = 1; id <= FULL + MORE; id++)
		if (id % 8)
			writes_find(&ws, id)->refs = 0;
	assert_true(writes_mark(&ws, writes_find(&ws, 5), &m, "a", 1));
	for (uint64_t id = FULL + MORE + 1; id <= FULL + 2 * MORE; id++)
		assert_non_null(writes_get(&ws, id, 1));
	assert_true(HASH_COUNT(ws.table) <= FULL + 1);
	assert_int_equal(ws.dropped, 1);
	assert_null(writes_find(&ws, 5));
	for (uint64_t id = 8; id <= FULL + MORE; id += 8)
		assert_non_null(writes_find(&ws, id));
	writes_free(&ws);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(lines_that_are_open_do_not_make_each_write_dear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
