/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Implied phases and the checkpoints that cover them; mappings of faults (--where). */
#include <stdio.h>

#include "run.h"

static void all_threads_count_in_a_gap(void **state)
{
	struct run *r = *state;
	const struct phase *p;

	sim_edge(&r->s, &r->m, PP_THREAD, 50);
	sim_hog(&r->s, &r->m, PID, 8);
	sim_hog(&r->s, &r->m, 50, 4);
	sim_hog(&r->s, &r->m, 0, 2); /* not its own doing */
	sim_begin(&r->s, &r->m, 50, "x", 1);
	sim_end(&r->s, &r->m, 50, 1);
	finish(r, 0);
	p = got_kind(&r->g, PH_STARTUP);
	assert_int_equal(over_start(p), 14);
	assert_int_equal(p->grew_bytes, 12 * MIB);
	/* 50's faults are known at its begin; the main thread has not had an edge by then. */
	assert_int_equal(p->faults_minor, 4 * 256);
	assert_int_equal(got_kind(&r->g, PH_AFTER)->faults_minor, 8 * 256);
	assert_int_equal(p->tid, PID);
	assert_int_equal(r->g.covered, 0);
}

/* The first checkpoint of a later thread: the gap ends where the thread began. */
static void a_gap_is_cut_where_a_thread_began(void **state)
{
	struct run *r = *state;
	const struct phase *p, *x;

	r->m.charge = r->m.charge_max = 500 * MIB;
	sim_hog(&r->s, &r->m, PID, 8);
	sim_hog(&r->s, &r->m, PID, 30);
	sim_hog(&r->s, &r->m, PID, -35);
	sim_edge(&r->s, &r->m, PP_THREAD, 50);
	sim_edge(&r->s, &r->m, PP_THREAD, 51);
	sim_hog(&r->s, &r->m, PID, 20);
	sim_hog(&r->s, &r->m, 50, 40);
	sim_mark(&r->s, &r->m, 50, "x");
	sim_hog(&r->s, &r->m, 51, 2);
	sim_mark(&r->s, &r->m, 51, "y"); /* covers the gap that began with x */
	finish(r, 0);
	p = got_kind(&r->g, PH_STARTUP);
	x = got_find(&r->g, "x");
	assert_int_equal(p->end_win, x->start_win);
	assert_int_equal(p->end_ns, x->start_ns);
	assert_int_equal(p->end_bytes, x->start_bytes);
	assert_int_equal(over_start(p),
			 38); /* seen in a window that later ones have topped since */
	assert_int_equal(p->grew_bytes, 38 * MIB);
	assert_int_equal(p->shrank_bytes, 35 * MIB);
	assert_int_equal(phase_kept(p), 3 * MIB);
	assert_int_equal(p->charge_peak, 500 * MIB);
	assert_int_equal(over_start(x), 60);
	assert_int_equal(x->grew_bytes, 40 * MIB);
	assert_int_equal(got_count(&r->g, PH_STARTUP) + got_count(&r->g, PH_BETWEEN), 1);
	assert_int_equal(got_find(&r->g, "y")->start_win, 2);
	assert_int_equal(got_find(&r->g, "y")->grew_bytes, 2 * MIB);
}

static void the_same_between_marks(void **state)
{
	struct run *r = *state;
	const struct phase *p;

	sim_mark(&r->s, &r->m, PID, "first");
	sim_hog(&r->s, &r->m, PID, 5);
	r->s.ns += MS;
	sim_edge(&r->s, &r->m, PP_THREAD, 50);
	sim_hog(&r->s, &r->m, 50, 40);
	sim_mark(&r->s, &r->m, 50, "x");
	finish(r, 0);
	p = got_kind(&r->g, PH_BETWEEN);
	assert_int_equal(p->grew_bytes, 5 * MIB);
	assert_int_equal(over_start(p), 5);
	assert_int_equal(p->start_ns, got_find(&r->g, "first")->end_ns);
	assert_int_equal(p->end_ns, got_find(&r->g, "x")->start_ns);
	assert_int_equal(got_find(&r->g, "x")->grew_bytes, 40 * MIB);
}

/* A checkpoint names time that was already handed out as implied: that is taken back. */
static void a_checkpoint_covers_what_was_out(void **state)
{
	struct run *r = *state;

	sim_hog(&r->s, &r->m, PID, 5);
	sim_begin(&r->s, &r->m, PID, "span", 1);
	sim_end(&r->s, &r->m, PID, 1);
	sim_hog(&r->s, &r->m, PID, 5);
	sim_mark(&r->s, &r->m, PID, "all of it");
	sim_begin(&r->s, &r->m, PID, "span2", 2);
	sim_end(&r->s, &r->m, PID, 2);
	finish(r, 0);
	assert_int_equal(r->g.covered, 1);
	assert_int_equal(got_count(&r->g, PH_STARTUP), 0);
	/* What lies after the checkpoint stays. */
	assert_int_equal(got_count(&r->g, PH_BETWEEN), 1);
	assert_int_equal(got_kind(&r->g, PH_BETWEEN)->start_win, 3);
	assert_int_equal(got_count(&r->g, PH_AFTER), 1);
	assert_int_equal(got_find(&r->g, "all of it")->start_win, 0);
	assert_int_equal(over_start(got_find(&r->g, "all of it")), 10);
	assert_false(got_find(&r->g, "all of it")->overlaps); /* the span lies within it */
	assert_false(got_find(&r->g, "span")->overlaps);
}

/* A checkpoint takes back what lies within it; a longer one of another thread takes back the rest.
 */
static void covered_in_two_steps(void **state)
{
	struct run *r = *state;

	sim_begin(&r->s, &r->m, PID, "a", 1); /* (startup) is out */
	sim_end(&r->s, &r->m, PID, 1);
	sim_edge(&r->s, &r->m, PP_THREAD, 50);
	sim_begin(&r->s, &r->m, PID, "b", 2); /* (between) is out, from 2 */
	sim_end(&r->s, &r->m, PID, 2);
	sim_begin(&r->s, &r->m, PID, "c", 3); /* (between) is out, from 5 */
	sim_end(&r->s, &r->m, PID, 3);
	sim_mark(&r->s, &r->m, 50, "from 3");
	assert_int_equal(r->m.win, 9);
	sim_mark(&r->s, &r->m, PID, "from 0");
	sim_mark(&r->s, &r->m, PID, "nothing left");
	finish(r, 0);
	assert_int_equal(r->g.covered, 2);
	assert_int_equal(got_count(&r->g, PH_STARTUP), 0);
	assert_int_equal(got_count(&r->g, PH_BETWEEN), 0);
	assert_int_equal(got_find(&r->g, "from 3")->start_win, 3);
	assert_int_equal(got_find(&r->g, "from 0")->start_win, 0);
}

/* A checkpoint inside a span had begun before it: they share time and neither holds the other. */
static void a_checkpoint_across_a_begin(void **state)
{
	struct run *r = *state;

	sim_begin(&r->s, &r->m, PID, "span", 1);
	sim_mark(&r->s, &r->m, PID, "across");
	sim_mark(&r->s, &r->m, PID, "within");
	sim_end(&r->s, &r->m, PID, 1);
	sim_mark(&r->s, &r->m, PID, "over the end");
	finish(r, 0);
	assert_true(got_find(&r->g, "span")->overlaps);
	assert_true(got_find(&r->g, "across")->overlaps);
	assert_false(got_find(&r->g, "within")->overlaps);
	assert_true(got_find(&r->g, "over the end")->overlaps);
	assert_int_equal(got_find(&r->g, "across")->depth, 0);
	assert_int_equal(got_find(&r->g, "within")->depth, 1);
}

static void two_threads_take_turns(void **state)
{
	struct run *r = *state;
	char label[16];

	sim_edge(&r->s, &r->m, PP_THREAD, 50);
	for (int i = 0; i < 10; i++) {
		sim_hog(&r->s, &r->m, i % 2 ? 50 : PID, 1);
		snprintf(label, sizeof(label), "%d", i);
		sim_mark(&r->s, &r->m, i % 2 ? 50 : PID, label);
	}
	finish(r, 0);
	assert_int_equal(got_count(&r->g, PH_CHECKPOINT), 10);
	assert_int_equal(r->g.n, 11); /* and (after): all the rest is named */
	assert_int_equal(got_find(&r->g, "7")->start_ns, got_find(&r->g, "5")->end_ns);
	assert_int_equal(got_find(&r->g, "7")->grew_bytes, MIB);
	assert_int_equal(over_start(got_find(&r->g, "7")), 2);
	assert_true(got_find(&r->g, "7")->overlaps);
}

/* No time between an end and a begin: no row for it, unless it hides a peak. */
static void no_time_between(void **state)
{
	struct run *r = *state;

	sim_begin(&r->s, &r->m, PID, "a", 1);
	sim_end(&r->s, &r->m, PID, 1);
	sim_begin(&r->s, &r->m, PID, "b", 2)->time_ns = r->s.ns - MS;
	sim_end(&r->s, &r->m, PID, 2);
	sim_grow(&r->s, &r->m, PID, PP_ANON, 9 * MIB, 0);
	sim_grow(&r->s, &r->m, PID, PP_ANON, -9 * (int64_t)MIB, 0);
	sim_begin(&r->s, &r->m, PID, "c", 3)->time_ns = r->s.ns - MS;
	sim_end(&r->s, &r->m, PID, 3);
	finish(r, 0);
	assert_int_equal(got_count(&r->g, PH_BETWEEN), 1);
	assert_int_equal(over_start(got_kind(&r->g, PH_BETWEEN)), 9);
}

/* A thread ends and its number is given to another: its first checkpoint begins with itself. */
static void a_tid_again(void **state)
{
	struct run *r = *state;

	sim_edge(&r->s, &r->m, PP_THREAD, 50);
	sim_hog(&r->s, &r->m, 50, 3);
	sim_begin(&r->s, &r->m, 50, "outlives its thread", 1);
	sim_mark(&r->s, &r->m, 50, "first");
	sim_hog(&r->s, &r->m, 50, 2);
	r->s.ns += MS;
	sim_edge(&r->s, &r->m, PP_THREAD_EXIT, 50);
	r->m.thread[50] = (struct sim_tally){0};
	sim_edge(&r->s, &r->m, PP_THREAD, 50);
	sim_hog(&r->s, &r->m, 50, 1);
	sim_mark(&r->s, &r->m, 50, "second");
	sim_end(&r->s, &r->m, 50, 1);
	finish(r, 0);
	assert_int_equal(got_find(&r->g, "first")->grew_bytes, 3 * MIB);
	assert_int_equal(got_find(&r->g, "second")->grew_bytes, MIB);
	assert_int_equal(got_find(&r->g, "second")->start_win, 5);
	assert_int_equal(got_find(&r->g, "outlives its thread")->grew_bytes, 2 * MIB);
	assert_int_equal(got_find(&r->g, "outlives its thread")->tid, 50);
}

/* The last thread marked, so it ends with an edge of its own before the process does. */
static void faults_are_counted_once(void **state)
{
	struct run *r = *state;

	sim_hog(&r->s, &r->m, PID, 4);
	sim_mark(&r->s, &r->m, PID, "x");
	sim_hog(&r->s, &r->m, PID, 2);
	r->s.ns += MS;
	sim_edge(&r->s, &r->m, PP_THREAD_EXIT, PID);
	finish(r, 0);
	assert_int_equal(got_find(&r->g, "x")->faults_minor, 4 * 256);
	assert_int_equal(got_kind(&r->g, PH_AFTER)->faults_minor, 2 * 256);
}

static struct event *fault(struct run *r, uint32_t mapping, const char *name, uint64_t win)
{
	struct event *e = sim_event(&r->s, &r->m, PP_FAULT, PID);

	e->fault.mapping = mapping;
	e->fault.seq = win & 0xffffff;
	snprintf(e->fault.name, sizeof(e->fault.name), "%s", name);
	return e;
}

static const struct phase_where *where_of(const struct run *r, const struct phase *p)
{
	return r->g.where[p - r->g.ph];
}

static void mappings(void **state)
{
	struct run *r = *state;
	const struct phase *p;

	fault(r, PP_MAP_FILE, "libc.so.6", 1);
	sim_begin(&r->s, &r->m, PID, "outer", 1);
	fault(r, PP_MAP_HEAP, "", 2);
	sim_begin(&r->s, &r->m, PID, "inner", 2);
	fault(r, PP_MAP_ANON, "", 3);
	fault(r, PP_MAP_HEAP, "", 3);
	fault(r, PP_MAP_HEAP, "", 3);
	sim_end(&r->s, &r->m, PID, 2);
	sim_end(&r->s, &r->m, PID, 1);
	sim_mark(&r->s, &r->m, PID, "all");
	sim_mark(&r->s, &r->m, PID, "none");
	finish(r, 0);
	p = got_find(&r->g, "inner");
	assert_int_equal(p->nwhere, 2);
	assert_int_equal(where_of(r, p)[0].mapping, PP_MAP_HEAP); /* largest first */
	assert_int_equal(where_of(r, p)[0].hits, 2);
	assert_int_equal(where_of(r, p)[1].hits, 1);
	p = got_find(&r->g, "outer");
	assert_int_equal(p->nwhere, 2);
	assert_int_equal(where_of(r, p)[0].hits, 3);
	p = got_find(&r->g, "all");
	assert_int_equal(p->nwhere, 3);
	assert_string_equal(where_of(r, p)[2].name, "libc.so.6");
	assert_int_equal(got_find(&r->g, "none")->nwhere, 0);
}

/* Faults and edges come by rings of their own: the number of the window says whose a fault is. */
static void faults_early_and_late(void **state)
{
	struct run *r = *state;
	const struct phase *p;

	fault(r, PP_MAP_HEAP, "", 3); /* of "b", before any edge of it came */
	fault(r, PP_MAP_HEAP, "", 2);
	sim_begin(&r->s, &r->m, PID, "a", 1);
	sim_begin(&r->s, &r->m, PID, "b", 2);
	fault(r, PP_MAP_ANON, "", 2); /* of "a" alone, after "b" began */
	fault(r, PP_MAP_ANON, "", 1); /* of neither */
	fault(r, PP_MAP_ANON, "", 3);
	sim_end(&r->s, &r->m, PID, 2);
	sim_end(&r->s, &r->m, PID, 1);
	finish(r, 0);
	p = got_find(&r->g, "b");
	assert_int_equal(p->nwhere, 2);
	assert_int_equal(where_of(r, p)[0].hits + where_of(r, p)[1].hits, 2);
	p = got_find(&r->g, "a");
	assert_int_equal(where_of(r, p)[0].hits, 2);
	assert_int_equal(where_of(r, p)[1].hits, 2);
}

/* More files than are told apart: the rest is one. */
static void many_mappings(void **state)
{
	struct run *r = *state;
	char name[24];

	sim_begin(&r->s, &r->m, PID, "x", 1);
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "lib%d.so", i);
		fault(r, PP_MAP_FILE, name, 2);
	}
	fault(r, PP_MAP_STACK, "", 2);
	sim_end(&r->s, &r->m, PID, 1);
	finish(r, 0);
	assert_true(got_find(&r->g, "x")->nwhere <= 70);
	assert_string_equal(where_of(r, got_find(&r->g, "x"))[0].name, "(other)");
	assert_int_equal(where_of(r, got_find(&r->g, "x"))[0].hits, 1000 - 63);
	assert_int_equal(where_of(r, got_find(&r->g, "x"))[0].mapping, PP_MAP_UNKNOWN);
}

/* Faults before and after the thread began, one of them late. */
static void mappings_of_a_cut_gap(void **state)
{
	struct run *r = *state;

	fault(r, PP_MAP_HEAP, "", 1);
	sim_edge(&r->s, &r->m, PP_THREAD, 50);
	fault(r, PP_MAP_HEAP, "", 1);
	fault(r, PP_MAP_ANON, "", 2);
	sim_mark(&r->s, &r->m, 50, "x");
	finish(r, 0);
	assert_int_equal(got_kind(&r->g, PH_STARTUP)->nwhere, 1);
	assert_int_equal(where_of(r, got_kind(&r->g, PH_STARTUP))[0].hits, 2);
	assert_int_equal(got_find(&r->g, "x")->nwhere, 1);
	assert_int_equal(where_of(r, got_find(&r->g, "x"))[0].hits, 1);
}

#define T(f) cmocka_unit_test_setup_teardown(f, run_set_up, run_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(all_threads_count_in_a_gap),
	    T(a_gap_is_cut_where_a_thread_began),
	    T(the_same_between_marks),
	    T(mappings_of_a_cut_gap),
	    T(a_checkpoint_covers_what_was_out),
	    T(covered_in_two_steps),
	    T(a_checkpoint_across_a_begin),
	    T(two_threads_take_turns),
	    T(no_time_between),
	    T(a_tid_again),
	    T(faults_are_counted_once),
	    T(mappings),
	    T(faults_early_and_late),
	    T(many_mappings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
