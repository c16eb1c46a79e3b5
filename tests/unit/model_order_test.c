/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Edges that come late, twice, never; numbers that wrap; and the end of the tracing. */
#include <errno.h>
#include <stdio.h>

#include "run.h"

static void swap(struct sim *s, size_t a, size_t b)
{
	struct event t = s->ev[a];

	s->ev[a] = s->ev[b];
	s->ev[b] = t;
}

static void drop(struct sim *s, size_t at)
{
	memmove(&s->ev[at], &s->ev[at + 1], (s->n - at - 1) * sizeof(*s->ev));
	s->n--;
}

/* base, then spans "0".."n-1" that each grow by their number + 1, kept; exit. */
static void spans(struct sim *s, struct sim_mm *m, uint64_t n, uint64_t first_win)
{
	char label[24];

	s->ns = 100 * MS;
	sim_base(s, m, 1, PID, PP_BY_EXEC, MIB);
	m->win = first_win;
	for (uint64_t i = 0; i < n; i++) {
		snprintf(label, sizeof(label), "%u", (unsigned int)i);
		sim_begin(s, m, PID, label, i);
		sim_hog(s, m, PID, (int64_t)i + 1);
		sim_end(s, m, PID, i);
	}
	sim_exit(s, m, PID, 0);
}

static void in_order_whatever_came_first(void **state)
{
	struct run *r = *state;

	spans(&r->s, &r->m, 8, 1);
	swap(&r->s, 0, 1); /* even before the base */
	swap(&r->s, 4, 6);
	swap(&r->s, r->s.n - 1, r->s.n - 2);
	sim_run(&r->s, &r->g, r->model);
	assert_int_equal(got_count(&r->g, PH_SPAN), 8);
	assert_int_equal(over_start(got_find(&r->g, "3")), 4);
	assert_int_equal(r->g.pr[0].windows, 18);
	assert_true(r->g.pr[0].exact && got_find(&r->g, "3")->exact);
	/* 1 before 0; 6 and 5 before 4; the exit. */
	assert_int_equal(model_counts(r->model)->reordered, 4);
	assert_int_equal(model_counts(r->model)->orphans, 0);
}

/* A record that never came, nor was said to be lost: waited for, then gone on without. */
static void a_hole(void **state)
{
	struct run *r = *state;

	spans(&r->s, &r->m, 50, 1);
	drop(&r->s, 2); /* the end of "0" */
	for (size_t i = 0; i < 60; i++)
		assert_int_equal(model_feed(r->model, &r->s.ev[i]), 0);
	assert_int_equal(got_count(&r->g, PH_SPAN), 0); /* still waiting for number 2 */
	for (size_t i = 60; i < r->s.n; i++)
		assert_int_equal(model_feed(r->model, &r->s.ev[i]), 0);
	assert_int_equal(r->g.npr, 1); /* 65 pending: gone on */
	got_check(&r->g, &r->g.pr[0]);
	assert_int_equal(got_count(&r->g, PH_SPAN), 50);
	assert_false(r->g.pr[0].exact);
	assert_false(got_find(&r->g, "0")->exact);
	assert_true(got_find(&r->g, "1")->exact &&
		    got_find(&r->g, "49")->exact); /* begun after it */
	assert_int_equal(got_find(&r->g, "0")->ended_by, PH_BY_EXIT);
}

static void a_hole_and_little_after_it(void **state)
{
	struct run *r = *state;
	struct sim_mm other;

	spans(&r->s, &r->m, 3, 1);
	drop(&r->s, 2);
	r->s.ns += 3000 * MS; /* whatever comes 2 s later shows that it will not come */
	sim_base(&r->s, &other, 2, 8, PP_BY_FORK, MIB);
	for (size_t i = 0; i + 1 < r->s.n; i++)
		assert_int_equal(model_feed(r->model, &r->s.ev[i]), 0);
	assert_int_equal(r->g.npr, 0);
	assert_int_equal(model_feed(r->model, &r->s.ev[r->s.n - 1]), 0);
	assert_int_equal(r->g.npr, 1);
	assert_int_equal(got_count(&r->g, PH_SPAN), 3);
	/* The late one after all: its process has ended. */
	assert_int_equal(model_finish(r->model, r->s.ns), 0);
	assert_int_equal(r->g.npr, 2);
	assert_int_equal(r->g.pr[1].exit, PX_RUNNING);
	sim_mm_free(&other);
}

/* It came after it had been given up: its maxima count, its end is an end. */
static void too_late(void **state)
{
	struct run *r = *state;
	struct event late;

	r->s.ns = 100 * MS;
	sim_base(&r->s, &r->m, 1, PID, PP_BY_EXEC, MIB);
	sim_begin(&r->s, &r->m, PID, "big", 1);
	sim_hog(&r->s, &r->m, PID, 500);
	sim_hog(&r->s, &r->m, PID, -500);
	sim_begin(&r->s, &r->m, PID, "late", 2);
	late = r->s.ev[2];
	r->s.n--;
	for (uint64_t i = 10; i < 80; i++)
		sim_begin(&r->s, &r->m, PID, "x", i);
	for (size_t i = 0; i < r->s.n; i++) {
		r->s.ev[i].edge.peak = 0; /* the kernel's own peak would mend it: not here */
		assert_int_equal(model_feed(r->model, &r->s.ev[i]), 0);
	}
	late.edge.peak = 0;
	assert_int_equal(model_feed(r->model, &late), 0);
	sim_exit(&r->s, &r->m, PID, 0)->edge.peak = 0;
	assert_int_equal(model_feed(r->model, &r->s.ev[r->s.n - 1]), 0);
	assert_int_equal(r->g.npr, 1);
	got_check(&r->g, &r->g.pr[0]);
	assert_int_equal(r->g.pr[0].peak.bytes, 501 * MIB);
	assert_int_equal(got_find(&r->g, "big")->peak.bytes, 501 * MIB);
	assert_int_equal(got_find(&r->g, "late")->ended_by, PH_BY_EXIT);
	assert_false(got_find(&r->g, "big")->exact);
}

/* Windows are numbered with 24 bits on the wire; the model's numbers do not wrap. */
static void numbers_wrap(void **state)
{
	struct run *r = *state;
	uint64_t from = 0xfffffe;

	r->s.ns = 100 * MS;
	sim_base(&r->s, &r->m, 1, PID, PP_BY_EXEC, MIB)->edge.win.seq = from;
	r->m.win = from + 1;
	for (uint64_t i = 0; i < 4; i++) {
		sim_begin(&r->s, &r->m, PID, i ? "x" : "over", i);
		sim_hog(&r->s, &r->m, PID, 3);
		sim_end(&r->s, &r->m, PID, i);
	}
	sim_exit(&r->s, &r->m, PID, 0);
	assert_int_equal(r->s.ev[1].edge.win.seq, 0xffffff);
	assert_int_equal(r->s.ev[2].edge.win.seq, 0);
	swap(&r->s, 2, 3); /* across the wrap */
	sim_run(&r->s, &r->g, r->model);
	assert_int_equal(got_find(&r->g, "over")->start_win, 0xffffff);
	assert_int_equal(got_find(&r->g, "over")->end_win, 0x1000000);
	assert_int_equal(over_start(got_find(&r->g, "over")), 3);
	assert_true(r->g.pr[0].exact);
}

/* E1: the ring was full. The window went on, so the next edge carries both maxima. */
static void lost_edges(void **state)
{
	struct run *r = *state;

	r->s.ns = 100 * MS;
	sim_base(&r->s, &r->m, 1, PID, PP_BY_EXEC, MIB);
	sim_begin(&r->s, &r->m, PID, "before", 1);
	sim_end(&r->s, &r->m, PID, 1);
	sim_begin(&r->s, &r->m, PID, "hit", 2);
	sim_hog(&r->s, &r->m, PID, 300);
	sim_lose(&r->m); /* a span of 5 MiB, both its edges */
	sim_hog(&r->s, &r->m, PID, -290);
	sim_lose(&r->m);
	sim_end(&r->s, &r->m, PID, 2);
	sim_begin(&r->s, &r->m, PID, "after", 3);
	sim_end(&r->s, &r->m, PID, 3);
	sim_exit(&r->s, &r->m, PID, 0);
	sim_run(&r->s, &r->g, r->model);
	assert_int_equal(over_start(got_find(&r->g, "hit")), 300);
	assert_int_equal(got_find(&r->g, "hit")->lost, 2);
	assert_false(got_find(&r->g, "hit")->exact);
	assert_int_equal(got_find(&r->g, "before")->lost, 0);
	assert_true(got_find(&r->g, "before")->exact);
	assert_true(got_find(&r->g, "after")->exact);
	assert_int_equal(r->g.pr[0].lost, 2);
	assert_false(r->g.pr[0].exact);
}

/* The base itself was lost: the next edge has its number, and what it says is kept. */
static void lost_base(void **state)
{
	struct run *r = *state;

	spans(&r->s, &r->m, 3, 0);
	drop(&r->s, 0);
	r->s.ev[0].edge.lost = 1;
	r->s.ev[0].edge.win.max = 90 * MIB; /* before the first mark that came through */
	r->s.ev[0].edge.win.max_at_ns = 90 * MS;
	swap(&r->s, 3, 4);
	sim_run(&r->s, &r->g, r->model);
	assert_int_equal(model_counts(r->model)->orphans, 1);
	assert_int_equal(r->g.pr[0].peak.bytes, 90 * MIB);
	assert_int_equal(got_kind(&r->g, PH_STARTUP)->peak.bytes, 90 * MIB);
	assert_int_equal(got_kind(&r->g, PH_STARTUP)->start_ns, 90 * MS);
	assert_false(got_kind(&r->g, PH_STARTUP)->exact);
	assert_int_equal(over_start(got_find(&r->g, "2")), 3);
	assert_true(got_find(&r->g, "2")->exact);
	assert_int_equal(got_count(&r->g, PH_SPAN), 3);
	assert_false(r->g.pr[0].exact);
	assert_int_equal(r->g.pr[0].reason, 0);
}

/* Only its last edges came through. */
static void lost_beginning(void **state)
{
	struct run *r = *state;

	spans(&r->s, &r->m, 3, 1);
	for (int i = 0; i < 3; i++)
		drop(&r->s, 0);
	sim_run(&r->s, &r->g, r->model);
	assert_int_equal(got_count(&r->g, PH_SPAN), 2);
	assert_int_equal(over_start(got_find(&r->g, "1")), 2);
	assert_int_equal(r->g.pr[0].exit, PX_EXIT);
	assert_false(r->g.pr[0].exact);
}

/* What comes after the exit makes no new process. */
static void after_the_end(void **state)
{
	struct run *r = *state;

	spans(&r->s, &r->m, 1, 1);
	sim_mark(&r->s, &r->m, PID, "posthumous");
	sim_run(&r->s, &r->g, r->model);
	assert_int_equal(r->g.npr, 1);
	assert_int_equal(model_counts(r->model)->orphans, 1);
	assert_int_equal(got_count(&r->g, PH_CHECKPOINT), 0);
	assert_int_equal(model_feed(r->model, &r->s.ev[0]), -EINVAL);
	assert_int_equal(model_finish(r->model, r->s.ns), -EINVAL);
}

struct looked {
	size_t n;
	struct process last;
};

static void look(void *ctx, const struct process *p)
{
	struct looked *l = ctx;

	l->n++;
	l->last = *p;
}

/* The tracing ends while processes run: no edge ends their last window, the timeline tells of it.
 */
static void end_of_the_tracing(void **state)
{
	struct looked l = {0};
	struct run *r = *state;
	struct sim_mm quiet, busy;

	r->s.ns = 100 * MS;
	sim_base(&r->s, &busy, 9, 90, PP_BY_ATTACH, MIB);
	sim_base(&r->s, &quiet, 3, 30, PP_BY_ATTACH, 500 * MIB);
	sim_begin(&r->s, &busy, 90, "open", 1);
	sim_hog(&r->s, &busy, 90, 70);
	sim_sample(&r->s, &busy);
	sim_hog(&r->s, &busy, 90, -30);
	r->s.ns += MS;
	sim_sample(&r->s, &busy);
	for (size_t i = 0; i < r->s.n; i++)
		assert_int_equal(model_feed(r->model, &r->s.ev[i]), 0);
	model_each_process(r->model, look, &l);
	assert_int_equal(l.n, 2);
	model_each_process(r->model, look, &l);
	assert_int_equal(r->g.n, 1); /* looking ends nothing: only (startup) of busy is out */
	assert_int_equal(model_finish(r->model, r->s.ns), 0);
	got_check(&r->g, &r->g.pr[0]);
	got_check(&r->g, &r->g.pr[1]);
	assert_int_equal(r->g.pr[0].mm_id, 3); /* in the order of their ids */
	assert_int_equal(r->g.pr[0].peak.bytes, 500 * MIB);
	assert_int_equal(r->g.pr[0].exit, PX_RUNNING);
	assert_int_equal(r->g.pr[0].end_ns, 0);
	assert_false(r->g.pr[0].exact); /* nothing was heard of it at the end */
	assert_int_equal(r->g.pr[1].peak.bytes, 71 * MIB);
	assert_false(r->g.pr[1].exact); /* a sample tells nothing of what came after it */
	assert_int_equal(over_start(got_find(&r->g, "open")), 70);
	assert_int_equal(got_find(&r->g, "open")->ended_by, PH_BY_TRACE);
	assert_int_equal(got_find(&r->g, "open")->end_bytes, 41 * MIB);
	assert_false(got_find(&r->g, "open")->exact);
	sim_mm_free(&quiet);
	sim_mm_free(&busy);
}

/* An edge at the detach ends the last window: nothing is guessed. */
static void detached(void **state)
{
	struct run *r = *state;

	r->s.ns = 100 * MS;
	sim_base(&r->s, &r->m, 1, PID, PP_BY_ATTACH, 500 * MIB);
	sim_begin(&r->s, &r->m, PID, "late", 1);
	sim_hog(&r->s, &r->m, PID, 50);
	sim_hog(&r->s, &r->m, PID, -20);
	sim_edge(&r->s, &r->m, PP_DETACH, PID);
	sim_mark(&r->s, &r->m, PID, "unheard");
	r->s.ns += 50 * MS;
	sim_run(&r->s, &r->g, r->model);
	assert_int_equal(r->g.npr, 1);
	assert_int_equal(r->g.pr[0].exit, PX_RUNNING);
	assert_int_equal(r->g.pr[0].end_ns, 0);
	assert_int_equal(r->g.pr[0].end_bytes, 530 * MIB);
	assert_true(r->g.pr[0].exact);
	assert_int_equal(over_start(got_find(&r->g, "late")), 50);
	assert_int_equal(got_find(&r->g, "late")->ended_by, PH_BY_TRACE);
	assert_true(got_find(&r->g, "late")->exact);
	assert_int_equal(got_find(&r->g, "late")->end_ns, 102 * MS + MS);
	assert_int_equal(model_counts(r->model)->orphans, 1);
}

/* A raise in flight while a marker took the window: the kernel's own peak has it. */
static void the_kernels_own_peak(void **state)
{
	struct run *r = *state;

	spans(&r->s, &r->m, 2, 1);
	for (size_t i = 2; i < r->s.n; i++)
		r->s.ev[i].edge.peak = 44 * MIB;
	sim_run(&r->s, &r->g, r->model);
	assert_int_equal(r->g.pr[0].peak.bytes, 44 * MIB);
	assert_false(r->g.pr[0].peak.members_exact);
	assert_int_equal(got_find(&r->g, "0")->peak.bytes, 44 * MIB);
	assert_int_equal(got_find(&r->g, "1")->peak.bytes, 4 * MIB);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, run_set_up_empty, run_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(in_order_whatever_came_first),
	    CASE(a_hole),
	    CASE(a_hole_and_little_after_it),
	    CASE(too_late),
	    CASE(numbers_wrap),
	    CASE(lost_edges),
	    CASE(lost_base),
	    CASE(lost_beginning),
	    CASE(after_the_end),
	    CASE(end_of_the_tracing),
	    CASE(detached),
	    CASE(the_kernels_own_peak),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
