/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Edges that come late, twice, never; numbers that wrap; and the end of the tracing. */
#include <errno.h>
#include <stdio.h>

#include "events.h"

#define PID 7u

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
	struct sim s = {0};
	struct sim_mm m;
	struct got g;
	struct model *model = got_model(&g, 0);

	(void)state;
	spans(&s, &m, 8, 1);
	swap(&s, 0, 1); /* even before the base */
	swap(&s, 4, 6);
	swap(&s, s.n - 1, s.n - 2);
	sim_run(&s, &g, model);
	assert_int_equal(got_count(&g, PH_SPAN), 8);
	assert_int_equal(over_start(got_find(&g, "3")), 4);
	assert_int_equal(g.pr[0].windows, 18);
	assert_true(g.pr[0].exact && got_find(&g, "3")->exact);
	/* 1 before 0; 6 and 5 before 4; the exit. */
	assert_int_equal(model_counts(model)->reordered, 4);
	assert_int_equal(model_counts(model)->orphans, 0);
	model_free(&model);
	got_free(&g);
	sim_mm_free(&m);
	sim_free(&s);
}

/* A record that never came, nor was said to be lost: waited for, then gone on without. */
static void a_hole(void **state)
{
	struct sim s = {0};
	struct sim_mm m;
	struct got g;
	struct model *model = got_model(&g, 0);

	(void)state;
	spans(&s, &m, 50, 1);
	drop(&s, 2); /* the end of "0" */
	for (size_t i = 0; i < 60; i++)
		assert_int_equal(model_feed(model, &s.ev[i]), 0);
	assert_int_equal(got_count(&g, PH_SPAN), 0); /* still waiting for number 2 */
	for (size_t i = 60; i < s.n; i++)
		assert_int_equal(model_feed(model, &s.ev[i]), 0);
	assert_int_equal(g.npr, 1); /* 65 pending: gone on */
	got_check(&g, &g.pr[0]);
	assert_int_equal(got_count(&g, PH_SPAN), 50);
	assert_false(g.pr[0].exact);
	assert_false(got_find(&g, "0")->exact);
	assert_true(got_find(&g, "1")->exact && got_find(&g, "49")->exact); /* begun after it */
	assert_int_equal(got_find(&g, "0")->ended_by, PH_BY_EXIT);
	model_free(&model);
	got_free(&g);
	sim_mm_free(&m);
	sim_free(&s);
}

static void a_hole_and_little_after_it(void **state)
{
	struct sim s = {0};
	struct sim_mm m, other;
	struct got g;
	struct model *model = got_model(&g, 0);

	(void)state;
	spans(&s, &m, 3, 1);
	drop(&s, 2);
	s.ns += 3000 * MS; /* whatever comes 2 s later shows that it will not come */
	sim_base(&s, &other, 2, 8, PP_BY_FORK, MIB);
	for (size_t i = 0; i + 1 < s.n; i++)
		assert_int_equal(model_feed(model, &s.ev[i]), 0);
	assert_int_equal(g.npr, 0);
	assert_int_equal(model_feed(model, &s.ev[s.n - 1]), 0);
	assert_int_equal(g.npr, 1);
	assert_int_equal(got_count(&g, PH_SPAN), 3);
	/* The late one after all: its process has ended. */
	assert_int_equal(model_finish(model, s.ns), 0);
	assert_int_equal(g.npr, 2);
	assert_int_equal(g.pr[1].exit, PX_RUNNING);
	model_free(&model);
	got_free(&g);
	sim_mm_free(&m);
	sim_mm_free(&other);
	sim_free(&s);
}

/* It came after it had been given up: its maxima count, its end is an end. */
static void too_late(void **state)
{
	struct sim s = {0};
	struct sim_mm m;
	struct got g;
	struct model *model = got_model(&g, 0);
	struct event late;

	(void)state;
	s.ns = 100 * MS;
	sim_base(&s, &m, 1, PID, PP_BY_EXEC, MIB);
	sim_begin(&s, &m, PID, "big", 1);
	sim_hog(&s, &m, PID, 500);
	sim_hog(&s, &m, PID, -500);
	sim_begin(&s, &m, PID, "late", 2);
	late = s.ev[2];
	s.n--;
	for (uint64_t i = 10; i < 80; i++)
		sim_begin(&s, &m, PID, "x", i);
	for (size_t i = 0; i < s.n; i++) {
		s.ev[i].edge.peak = 0; /* the kernel's own peak would mend it: not here */
		assert_int_equal(model_feed(model, &s.ev[i]), 0);
	}
	late.edge.peak = 0;
	assert_int_equal(model_feed(model, &late), 0);
	sim_exit(&s, &m, PID, 0)->edge.peak = 0;
	assert_int_equal(model_feed(model, &s.ev[s.n - 1]), 0);
	assert_int_equal(g.npr, 1);
	got_check(&g, &g.pr[0]);
	assert_int_equal(g.pr[0].peak.bytes, 501 * MIB);
	assert_int_equal(got_find(&g, "big")->peak.bytes, 501 * MIB);
	assert_int_equal(got_find(&g, "late")->ended_by, PH_BY_EXIT);
	assert_false(got_find(&g, "big")->exact);
	model_free(&model);
	got_free(&g);
	sim_mm_free(&m);
	sim_free(&s);
}

/* Windows are numbered with 24 bits on the wire; the model's numbers do not wrap. */
static void numbers_wrap(void **state)
{
	struct sim s = {0};
	struct sim_mm m;
	struct got g;
	struct model *model = got_model(&g, 0);
	uint64_t from = 0xfffffe;

	(void)state;
	s.ns = 100 * MS;
	sim_base(&s, &m, 1, PID, PP_BY_EXEC, MIB)->edge.win.seq = from;
	m.win = from + 1;
	for (uint64_t i = 0; i < 4; i++) {
		sim_begin(&s, &m, PID, i ? "x" : "over", i);
		sim_hog(&s, &m, PID, 3);
		sim_end(&s, &m, PID, i);
	}
	sim_exit(&s, &m, PID, 0);
	assert_int_equal(s.ev[1].edge.win.seq, 0xffffff);
	assert_int_equal(s.ev[2].edge.win.seq, 0);
	swap(&s, 2, 3); /* across the wrap */
	sim_run(&s, &g, model);
	assert_int_equal(got_find(&g, "over")->start_win, 0xffffff);
	assert_int_equal(got_find(&g, "over")->end_win, 0x1000000);
	assert_int_equal(over_start(got_find(&g, "over")), 3);
	assert_true(g.pr[0].exact);
	model_free(&model);
	got_free(&g);
	sim_mm_free(&m);
	sim_free(&s);
}

/* E1: the ring was full. The window went on, so the next edge carries both maxima. */
static void lost_edges(void **state)
{
	struct sim s = {0};
	struct sim_mm m;
	struct got g;
	struct model *model = got_model(&g, 0);

	(void)state;
	s.ns = 100 * MS;
	sim_base(&s, &m, 1, PID, PP_BY_EXEC, MIB);
	sim_begin(&s, &m, PID, "before", 1);
	sim_end(&s, &m, PID, 1);
	sim_begin(&s, &m, PID, "hit", 2);
	sim_hog(&s, &m, PID, 300);
	sim_lose(&m); /* a span of 5 MiB, both its edges */
	sim_hog(&s, &m, PID, -290);
	sim_lose(&m);
	sim_end(&s, &m, PID, 2);
	sim_begin(&s, &m, PID, "after", 3);
	sim_end(&s, &m, PID, 3);
	sim_exit(&s, &m, PID, 0);
	sim_run(&s, &g, model);
	assert_int_equal(over_start(got_find(&g, "hit")), 300);
	assert_int_equal(got_find(&g, "hit")->lost, 2);
	assert_false(got_find(&g, "hit")->exact);
	assert_int_equal(got_find(&g, "before")->lost, 0);
	assert_true(got_find(&g, "before")->exact);
	assert_true(got_find(&g, "after")->exact);
	assert_int_equal(g.pr[0].lost, 2);
	assert_false(g.pr[0].exact);
	model_free(&model);
	got_free(&g);
	sim_mm_free(&m);
	sim_free(&s);
}

/* The base itself was lost: the next edge has its number, and what it says is kept. */
static void lost_base(void **state)
{
	struct sim s = {0};
	struct sim_mm m;
	struct got g;
	struct model *model = got_model(&g, 0);

	(void)state;
	spans(&s, &m, 3, 0);
	drop(&s, 0);
	s.ev[0].edge.lost = 1;
	s.ev[0].edge.win.max = 90 * MIB; /* before the first mark that came through */
	s.ev[0].edge.win.max_at_ns = 90 * MS;
	swap(&s, 3, 4);
	sim_run(&s, &g, model);
	assert_int_equal(model_counts(model)->orphans, 1);
	assert_int_equal(g.pr[0].peak.bytes, 90 * MIB);
	assert_int_equal(got_kind(&g, PH_STARTUP)->peak.bytes, 90 * MIB);
	assert_int_equal(got_kind(&g, PH_STARTUP)->start_ns, 90 * MS);
	assert_false(got_kind(&g, PH_STARTUP)->exact);
	assert_int_equal(over_start(got_find(&g, "2")), 3);
	assert_true(got_find(&g, "2")->exact);
	assert_int_equal(got_count(&g, PH_SPAN), 3);
	assert_false(g.pr[0].exact);
	assert_int_equal(g.pr[0].reason, 0);
	model_free(&model);
	got_free(&g);
	sim_mm_free(&m);
	sim_free(&s);
}

/* Only its last edges came through. */
static void lost_beginning(void **state)
{
	struct sim s = {0};
	struct sim_mm m;
	struct got g;
	struct model *model = got_model(&g, 0);

	(void)state;
	spans(&s, &m, 3, 1);
	for (int i = 0; i < 3; i++)
		drop(&s, 0);
	sim_run(&s, &g, model);
	assert_int_equal(got_count(&g, PH_SPAN), 2);
	assert_int_equal(over_start(got_find(&g, "1")), 2);
	assert_int_equal(g.pr[0].exit, PX_EXIT);
	assert_false(g.pr[0].exact);
	model_free(&model);
	got_free(&g);
	sim_mm_free(&m);
	sim_free(&s);
}

/* What comes after the exit makes no new process. */
static void after_the_end(void **state)
{
	struct sim s = {0};
	struct sim_mm m;
	struct got g;
	struct model *model = got_model(&g, 0);

	(void)state;
	spans(&s, &m, 1, 1);
	sim_mark(&s, &m, PID, "posthumous");
	sim_run(&s, &g, model);
	assert_int_equal(g.npr, 1);
	assert_int_equal(model_counts(model)->orphans, 1);
	assert_int_equal(got_count(&g, PH_CHECKPOINT), 0);
	assert_int_equal(model_feed(model, &s.ev[0]), -EINVAL);
	assert_int_equal(model_finish(model, s.ns), -EINVAL);
	model_free(&model);
	got_free(&g);
	sim_mm_free(&m);
	sim_free(&s);
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
	struct sim s = {0};
	struct sim_mm quiet, busy;
	struct got g;
	struct model *model = got_model(&g, 0);

	(void)state;
	s.ns = 100 * MS;
	sim_base(&s, &busy, 9, 90, PP_BY_ATTACH, MIB);
	sim_base(&s, &quiet, 3, 30, PP_BY_ATTACH, 500 * MIB);
	sim_begin(&s, &busy, 90, "open", 1);
	sim_hog(&s, &busy, 90, 70);
	sim_sample(&s, &busy);
	sim_hog(&s, &busy, 90, -30);
	s.ns += MS;
	sim_sample(&s, &busy);
	for (size_t i = 0; i < s.n; i++)
		assert_int_equal(model_feed(model, &s.ev[i]), 0);
	model_each_process(model, look, &l);
	assert_int_equal(l.n, 2);
	model_each_process(model, look, &l);
	assert_int_equal(g.n, 1); /* looking ends nothing: only (startup) of busy is out */
	assert_int_equal(model_finish(model, s.ns), 0);
	got_check(&g, &g.pr[0]);
	got_check(&g, &g.pr[1]);
	assert_int_equal(g.pr[0].mm_id, 3); /* in the order of their ids */
	assert_int_equal(g.pr[0].peak.bytes, 500 * MIB);
	assert_int_equal(g.pr[0].exit, PX_RUNNING);
	assert_int_equal(g.pr[0].end_ns, 0);
	assert_false(g.pr[0].exact); /* nothing was heard of it at the end */
	assert_int_equal(g.pr[1].peak.bytes, 71 * MIB);
	assert_false(g.pr[1].exact); /* a sample tells nothing of what came after it */
	assert_int_equal(over_start(got_find(&g, "open")), 70);
	assert_int_equal(got_find(&g, "open")->ended_by, PH_BY_TRACE);
	assert_int_equal(got_find(&g, "open")->end_bytes, 41 * MIB);
	assert_false(got_find(&g, "open")->exact);
	model_free(&model);
	got_free(&g);
	sim_mm_free(&quiet);
	sim_mm_free(&busy);
	sim_free(&s);
}

/* An edge at the detach ends the last window: nothing is guessed. */
static void detached(void **state)
{
	struct sim s = {0};
	struct sim_mm m;
	struct got g;
	struct model *model = got_model(&g, 0);

	(void)state;
	s.ns = 100 * MS;
	sim_base(&s, &m, 1, PID, PP_BY_ATTACH, 500 * MIB);
	sim_begin(&s, &m, PID, "late", 1);
	sim_hog(&s, &m, PID, 50);
	sim_hog(&s, &m, PID, -20);
	sim_edge(&s, &m, PP_DETACH, PID);
	sim_mark(&s, &m, PID, "unheard");
	s.ns += 50 * MS;
	sim_run(&s, &g, model);
	assert_int_equal(g.npr, 1);
	assert_int_equal(g.pr[0].exit, PX_RUNNING);
	assert_int_equal(g.pr[0].end_ns, 0);
	assert_int_equal(g.pr[0].end_bytes, 530 * MIB);
	assert_true(g.pr[0].exact);
	assert_int_equal(over_start(got_find(&g, "late")), 50);
	assert_int_equal(got_find(&g, "late")->ended_by, PH_BY_TRACE);
	assert_true(got_find(&g, "late")->exact);
	assert_int_equal(got_find(&g, "late")->end_ns, 102 * MS + MS);
	assert_int_equal(model_counts(model)->orphans, 1);
	model_free(&model);
	got_free(&g);
	sim_mm_free(&m);
	sim_free(&s);
}

/* A raise in flight while a marker took the window: the kernel's own peak has it. */
static void the_kernels_own_peak(void **state)
{
	struct sim s = {0};
	struct sim_mm m;
	struct got g;
	struct model *model = got_model(&g, 0);

	(void)state;
	spans(&s, &m, 2, 1);
	for (size_t i = 2; i < s.n; i++)
		s.ev[i].edge.peak = 44 * MIB;
	sim_run(&s, &g, model);
	assert_int_equal(g.pr[0].peak.bytes, 44 * MIB);
	assert_false(g.pr[0].peak.members_exact);
	assert_int_equal(got_find(&g, "0")->peak.bytes, 44 * MIB);
	assert_int_equal(got_find(&g, "1")->peak.bytes, 4 * MIB);
	model_free(&model);
	got_free(&g);
	sim_mm_free(&m);
	sim_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(in_order_whatever_came_first),
	    cmocka_unit_test(a_hole),
	    cmocka_unit_test(a_hole_and_little_after_it),
	    cmocka_unit_test(too_late),
	    cmocka_unit_test(numbers_wrap),
	    cmocka_unit_test(lost_edges),
	    cmocka_unit_test(lost_base),
	    cmocka_unit_test(lost_beginning),
	    cmocka_unit_test(after_the_end),
	    cmocka_unit_test(end_of_the_tracing),
	    cmocka_unit_test(detached),
	    cmocka_unit_test(the_kernels_own_peak),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
