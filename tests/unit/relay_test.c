/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lines that a process prints because another one has: whose mark they are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/printed.h"

/* Numbers of files, and of processes. */
#define PIPE 0x9000000007u
#define OTHER 0x9000000008u
#define TTY 0xa000000003u
#define FILE_ 0u
#define CHILD 5u
#define PARENT 6u
#define NEXT 7u

struct rig {
	struct patterns *ps;
	struct printed *p;
	uint64_t writes;
	unsigned int marks, edges; /* that came out */
};

static int take(void *ctx, const struct event *ev)
{
	struct rig *r = ctx;

	r->marks += ev->kind != PP_WRITE;
	r->edges += !(ev->flags & PP_F_SAME);
	return 0;
}

static void pattern(struct rig *r, enum pattern_kind kind, const char *regex)
{
	char error[PATTERN_ERROR_MAX];

	assert_int_equal(patterns_add(r->ps, kind, regex, NULL, error), 0);
}

static struct rig *rig(const char *regex)
{
	struct rig *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	r->ps = patterns_new();
	pattern(r, PATTERN_MARK, regex);
	r->p = printed_new(r->ps, take, r);
	assert_non_null(r->p);
	return r;
}

static void rig_free(struct rig *r)
{
	printed_free(&r->p);
	patterns_free(&r->ps);
	free(r);
}

static uint64_t bytes(struct rig *r, uint64_t mm_id, const char *text)
{
	struct ev_output out = {.mm_id = mm_id,
				.tid = (uint32_t)mm_id,
				.write = ++r->writes,
				.file = (uint32_t)mm_id,
				.stream = 1,
				.flags = PP_OUT_EDGE | PP_OUT_LAST,
				.len = (uint32_t)strlen(text),
				.bytes = text};

	assert_int_equal(printed_output(r->p, &out), 0);
	return out.write;
}

static void edge(struct rig *r, uint64_t mm_id, uint64_t write, struct ev_route route)
{
	struct event ev = {.kind = PP_WRITE, .mm_id = mm_id};

	ev.edge.token = write;
	ev.edge.route = route;
	assert_int_equal(printed_event(r->p, &ev), 0);
}

/* A process prints; how many marks that is. */
static unsigned int prints(struct rig *r, uint64_t mm_id, struct ev_route route, const char *text)
{
	unsigned int marks = r->marks, edges = r->edges;

	edge(r, mm_id, bytes(r, mm_id, text), route);
	assert_int_equal(r->edges, edges + 1); /* the window ends, whatever the line is */
	return r->marks - marks;
}

/* To a file, or a terminal that nobody traced holds. */
static const struct ev_route nowhere = {.to = FILE_};
static const struct ev_route to_tty = {.to = TTY};
/* What the parent reads. */
static const struct ev_route up = {.to = PIPE, .reader = {CHILD, 0, PARENT}};

static void tee_and_the_next_one(void **state)
{
	const struct ev_route a = {.to = PIPE}, b = {.to = OTHER, .from = PIPE},
			      c = {.to = TTY, .from = OTHER};
	struct rig *r = rig("R\\[(\\w+)\\]");

	(void)state;
	assert_int_equal(prints(r, CHILD, a, "R[a]\n"), 1);
	assert_int_equal(prints(r, PARENT, b, "R[a]\n"), 0);
	assert_int_equal(prints(r, NEXT, c, "R[a]\n"), 0);
	assert_int_equal(printed_counts(r->p)->relayed, 2);
	/* What it prints of its own counts, also when it is the same once more. */
	assert_int_equal(prints(r, NEXT, c, "R[a]\n"), 1);
	/* From another pipe than that which it reads. */
	assert_int_equal(prints(r, CHILD, a, "R[a]\n"), 1);
	assert_int_equal(prints(r, NEXT, c, "R[a]\n"), 1);
	assert_int_equal(prints(r, NEXT, nowhere, "R[a]\n"), 1);
	rig_free(r);
}

static void a_parent_prints_what_its_child_said(void **state)
{
	struct rig *r = rig("R\\[(\\w+)\\]");

	(void)state;
	assert_int_equal(prints(r, CHILD, up, "R[a]\nR[b]\nR[a]\n"), 3);
	/* All at once, at the end; not all; in any order. */
	assert_int_equal(prints(r, PARENT, to_tty, "R[b]\nR[a]\n"), 0);
	assert_int_equal(prints(r, PARENT, to_tty, "R[a]\n"), 0);
	assert_int_equal(prints(r, PARENT, to_tty, "R[a]\n"), 1);
	rig_free(r);
}

static void with_something_before_and_after_it(void **state)
{
	struct rig *r = rig("R\\[(\\w+)\\]");

	(void)state;
	assert_int_equal(prints(r, CHILD, up, "  12:00:01 R[a]: 5 MB \n"), 1);
	assert_int_equal(prints(r, PARENT, nowhere, "INFO child: 12:00:01 R[a]: 5 MB | x\n"), 0);
	assert_int_equal(prints(r, CHILD, up, "\033[31mR[a]\033[0m: 5 MB\n"), 1);
	assert_int_equal(prints(r, PARENT, nowhere, "R[a]: 5 MB\n"), 0);
	rig_free(r);
}

static void a_line_of_its_own_is_a_mark(void **state)
{
	struct rig *r = rig("R\\[(\\w+)\\]");

	(void)state;
	/* The same label at the same time in the same log. */
	assert_int_equal(prints(r, CHILD, up, "12:00:01 R[a]: 5 MB\n"), 1);
	assert_int_equal(prints(r, PARENT, to_tty, "12:00:02 R[a]: 5 MB\n"), 1);
	assert_int_equal(prints(r, PARENT, to_tty, "12:00:01 R[a]: 6 MB\n"), 1);
	assert_int_equal(prints(r, PARENT, to_tty, "R[a]: 5 MB\n"), 1);
	assert_int_equal(prints(r, PARENT, to_tty, "12:00:01 R[b]: 5 MB\n"), 1);
	/* Whoever cannot read it has it from elsewhere. */
	assert_int_equal(prints(r, NEXT, to_tty, "12:00:01 R[a]: 5 MB\n"), 1);
	assert_int_equal(printed_counts(r->p)->relayed, 0);
	rig_free(r);
}

static void to_the_same_place_nobody_passes_on(void **state)
{
	const struct ev_route inherited = {.to = PIPE, .from = PIPE, .reader = {CHILD, PARENT}};
	struct rig *r = rig("R\\[(\\w+)\\]");

	(void)state;
	/* A parent and its worker on one terminal, in one file, in one pipe. */
	assert_int_equal(prints(r, CHILD, to_tty, "R[a]\n"), 1);
	assert_int_equal(prints(r, PARENT, to_tty, "R[a]\n"), 1);
	assert_int_equal(prints(r, CHILD, nowhere, "R[a]\n"), 1);
	assert_int_equal(prints(r, PARENT, nowhere, "R[a]\n"), 1);
	/* Also if both ends of it were left open in both. */
	assert_int_equal(prints(r, CHILD, inherited, "R[a]\n"), 1);
	assert_int_equal(prints(r, CHILD, inherited, "R[a]\n"), 1);
	assert_int_equal(prints(r, PARENT, inherited, "R[a]\n"), 1);
	/* The other of two streams that are read by nobody traced. */
	assert_int_equal(prints(r, CHILD, (struct ev_route){.to = PIPE}, "R[b]\n"), 1);
	assert_int_equal(prints(r, PARENT, (struct ev_route){.to = OTHER}, "R[b]\n"), 1);
	rig_free(r);
}

/* The reader's write may be over before the writer's: edges come in order, bytes do not. */
static void bytes_in_the_other_order(void **state)
{
	struct rig *r = rig("R\\[(\\w+)\\]");
	uint64_t second = bytes(r, PARENT, "x: R[a]\n"), first = bytes(r, CHILD, "R[a]\n");

	(void)state;
	edge(r, CHILD, first, up);
	assert_int_equal(r->marks, 1);
	edge(r, PARENT, second, to_tty);
	assert_int_equal(r->marks, 1);
	assert_int_equal(r->edges, 2);
	rig_free(r);
}

static void all_that_a_line_is(void **state)
{
	struct rig *r = rig("R\\[(\\w+)\\]");

	(void)state;
	pattern(r, PATTERN_STEP, "R\\[\\w+\\] (\\w+)");
	assert_int_equal(prints(r, CHILD, up, "R[a] b\n"), 2);
	assert_int_equal(prints(r, PARENT, to_tty, "R[a] b\n"), 0);
	rig_free(r);
}

static void long_lines_are_told_by_what_is_near_the_match(void **state)
{
	char text[3 * MARK_AFTER + 2];
	struct rig *r = rig("R\\[(\\w+)\\]");

	(void)state;
	memset(text, 'x', sizeof(text));
	memcpy(text + MARK_AFTER, "R[a]", 4);
	strcpy(text + sizeof(text) - 2, "\n");
	assert_int_equal(prints(r, CHILD, up, text), 1);
	assert_int_equal(prints(r, PARENT, to_tty, text), 0);
	assert_int_equal(prints(r, CHILD, up, text), 1);
	text[MARK_AFTER + 100] = 'y';
	assert_int_equal(prints(r, PARENT, to_tty, text), 1);
	rig_free(r);
}

static void what_is_remembered_is_bounded(void **state)
{
	const unsigned int many = 20000;
	struct rig *r = rig("R\\[(\\w+)\\]");
	unsigned int own = 0;
	char text[32];

	(void)state;
	for (unsigned int i = 0; i < many; i++) {
		snprintf(text, sizeof(text), "R[%u]\n", i);
		assert_int_equal(prints(r, CHILD, up, text), 1);
	}
	for (unsigned int i = 0; i < many; i++) {
		snprintf(text, sizeof(text), "R[%u]\n", i);
		own += prints(r, PARENT, to_tty, text);
		if (i == many / 2)
			assert_int_equal(own, i + 1);
	}
	assert_int_equal(own, many - 8192);
	/* Nor does it matter how much of the same waits that is never passed on. */
	for (unsigned int i = 0; i < many; i++) {
		snprintf(text, sizeof(text), "%u R[a]\n", i);
		assert_int_equal(prints(r, CHILD, up, text), 1);
		assert_int_equal(prints(r, PARENT, to_tty, "R[a]\n"), 1);
	}
	rig_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(tee_and_the_next_one),
	    cmocka_unit_test(a_parent_prints_what_its_child_said),
	    cmocka_unit_test(with_something_before_and_after_it),
	    cmocka_unit_test(a_line_of_its_own_is_a_mark),
	    cmocka_unit_test(to_the_same_place_nobody_passes_on),
	    cmocka_unit_test(bytes_in_the_other_order),
	    cmocka_unit_test(all_that_a_line_is),
	    cmocka_unit_test(long_lines_are_told_by_what_is_near_the_match),
	    cmocka_unit_test(what_is_remembered_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
