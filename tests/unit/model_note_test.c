/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whose a note is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/note.h"

#define MAIN 10

static struct phase span(uint64_t id, uint32_t tid, uint64_t start, uint64_t end, uint64_t token)
{
	return (struct phase){.id = id,
			      .tid = tid,
			      .kind = PH_SPAN,
			      .start_ns = start,
			      .end_ns = end,
			      .token = token};
}

static struct note note_at(uint64_t ns, uint32_t tid, uint64_t token)
{
	static uint64_t id;

	return (struct note){.time_ns = ns, .tid = tid, .token = token, .first_id = ++id};
}

/* The owner of one note among phases in the order of a report. */
static uint64_t owner(struct note n, const struct phase *ph, size_t nphases)
{
	notes_sort(&n, 1);
	for (size_t i = 0; i < nphases; i++)
		notes_offer(&n, 1, &ph[i]);
	return n.owner;
}

#define OWNER(n, ph) owner(n, ph, sizeof(ph) / sizeof(*(ph)))

static void innermost_of_its_thread(void **state)
{
	const struct phase ph[] = {
	    span(1, MAIN, 0, 100, 1), span(2, MAIN, 10, 90, 2), span(3, MAIN, 20, 40, 3),
	    span(4, 11, 25, 80, 4), /* of another thread, begun later */
	};

	(void)state;
	assert_int_equal(OWNER(note_at(30, MAIN, 0), ph), 3);
	assert_int_equal(OWNER(note_at(50, MAIN, 0), ph), 2);
	assert_int_equal(OWNER(note_at(95, MAIN, 0), ph), 1);
	assert_int_equal(OWNER(note_at(30, 11, 0), ph), 4);
	assert_int_equal(OWNER(note_at(101, MAIN, 0), ph), 0);
	assert_int_equal(OWNER(note_at(40, MAIN, 0), ph), 3); /* at its end still */
}

static void the_span_it_was_given_to(void **state)
{
	const struct phase ph[] = {span(1, MAIN, 0, 100, 1), span(2, MAIN, 10, 90, 2),
				   span(3, 11, 20, 40, 3)};

	(void)state;
	assert_int_equal(OWNER(note_at(30, MAIN, 1), ph), 1);
	assert_int_equal(OWNER(note_at(30, MAIN, 3), ph), 3);
	assert_int_equal(OWNER(note_at(30, 12, 2), ph), 2);
	/* A span that is over, or never was: as without. */
	assert_int_equal(OWNER(note_at(50, MAIN, 3), ph), 2);
	assert_int_equal(OWNER(note_at(50, MAIN, 77), ph), 2);
}

static void a_checkpoint_names_what_was_there_before(void **state)
{
	const struct phase ph[] = {
	    {.id = 1, .tid = MAIN, .kind = PH_STARTUP, .start_ns = 0, .end_ns = 10},
	    {.id = 2, .tid = MAIN, .kind = PH_CHECKPOINT, .start_ns = 10, .end_ns = 50},
	    span(3, MAIN, 20, 30, 3),
	    {.id = 4, .tid = MAIN, .kind = PH_AFTER, .start_ns = 50, .end_ns = 90},
	};

	(void)state;
	assert_int_equal(OWNER(note_at(5, MAIN, 0), ph), 1);
	assert_int_equal(OWNER(note_at(15, MAIN, 0), ph), 2);
	assert_int_equal(OWNER(note_at(25, MAIN, 0), ph), 3);
	assert_int_equal(OWNER(note_at(60, MAIN, 0), ph), 4);
}

/* A thread without a phase of its own: that of another one which was open; an implied one last of
 * all. */
static void threads_without_phases(void **state)
{
	const struct phase ph[] = {
	    span(1, MAIN, 0, 50, 1),
	    {.id = 2, .tid = MAIN, .kind = PH_BETWEEN, .start_ns = 20, .end_ns = 90},
	};

	(void)state;
	assert_int_equal(OWNER(note_at(30, 12, 0), ph), 1);
	assert_int_equal(OWNER(note_at(60, 12, 0), ph), 2);
}

static void open_where_the_recording_ends(void **state)
{
	struct phase ph[] = {span(1, MAIN, 0, 50, 1), span(2, MAIN, 10, 50, 2)};

	(void)state;
	ph[0].ended_by = PH_BY_TRACE;
	assert_int_equal(OWNER(note_at(60, MAIN, 0), ph), 1);
	ph[1].ended_by = PH_BY_TRACE;
	assert_int_equal(OWNER(note_at(60, MAIN, 0), ph), 2);
}

static void many(void **state)
{
	enum { N = 1000 };
	struct note *notes = calloc(N, sizeof(*notes));
	size_t count, sum = 0;

	(void)state;
	assert_non_null(notes);
	for (size_t i = 0; i < N; i++)
		notes[i] = note_at((i * 7919) % N, MAIN, 0);
	notes_sort(notes, N);
	for (uint64_t id = 1; id <= 10; id++) {
		struct phase ph = span(id, MAIN, (id - 1) * 100 + 1, id * 100, id);

		notes_offer(notes, N, &ph);
	}
	notes_sort_by_owner(notes, N);
	for (uint64_t id = 0; id <= 11; id++) {
		const struct note *n = notes_of(notes, N, id, &count);

		for (size_t i = 0; i < count; i++) {
			assert_int_equal(n[i].owner, id);
			assert_true(!i || n[i - 1].time_ns < n[i].time_ns);
		}
		assert_int_equal(count, id == 0 ? 1 : id == 11 ? 0 : id == 10 ? 99 : 100);
		sum += count;
	}
	assert_int_equal(sum, N);
	notes_of(notes, 0, 1, &count);
	assert_int_equal(count, 0);
	free(notes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(innermost_of_its_thread),
	    cmocka_unit_test(the_span_it_was_given_to),
	    cmocka_unit_test(a_checkpoint_names_what_was_there_before),
	    cmocka_unit_test(threads_without_phases),
	    cmocka_unit_test(open_where_the_recording_ends),
	    cmocka_unit_test(many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
