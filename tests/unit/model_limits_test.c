/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Charges and limits, boundaries, threads, error bounds: what the cases do not name. */
#include "run.h"

/* C6: the charge rises while the RSS is flat. C12: the limit may change under the program. */
static void limits(void **state)
{
	struct run *r = *state;
	const struct phase *p;

	r->m.limit = 1000 * MIB;
	r->m.limit_level = 1;
	r->m.charge = r->m.limiter = 100 * MIB;
	sim_begin(&r->s, &r->m, PID, "wide", 1);
	r->m.charge_max = 400 * MIB;
	r->m.limiter_max = 450 * MIB;
	r->m.charge = r->m.limiter = 300 * MIB;
	sim_end(&r->s, &r->m, PID, 1);
	sim_begin(&r->s, &r->m, PID, "tight", 2);
	r->m.limit = 320 * MIB;
	r->m.limit_level = 2;
	sim_end(&r->s, &r->m, PID, 2);
	r->m.limit = 1000 * MIB;
	sim_begin(&r->s, &r->m, PID, "again",
		  3); /* its first instant is the edge: the tight limit is over */
	sim_end(&r->s, &r->m, PID, 3);
	r->m.limit = 200 * MIB; /* set below what is charged */
	finish(r, 0);
	p = got_find(&r->g, "wide");
	assert_int_equal(p->charge_peak, 400 * MIB);
	assert_int_equal(p->headroom_min, 550 * MIB);
	assert_int_equal(p->limit, 1000 * MIB);
	p = got_find(&r->g, "tight");
	assert_int_equal(p->headroom_min, 20 * MIB);
	assert_int_equal(p->limit, 320 * MIB);
	p = got_find(&r->g, "again");
	assert_int_equal(p->headroom_min, 700 * MIB);
	assert_int_equal(p->limit, 1000 * MIB);
	assert_int_equal(got_kind(&r->g, PH_STARTUP)->charge_peak, 100 * MIB);
	assert_int_equal(got_kind(&r->g, PH_AFTER)->headroom_min, 0);
	assert_int_equal(r->g.pr[0].charge_peak, 400 * MIB);
	assert_int_equal(r->g.pr[0].limit, 200 * MIB);
	assert_int_equal(r->g.pr[0].limit_level, 2);
	assert_int_equal(r->g.pr[0].headroom_min, 0);
}

static void no_limit_no_charge(void **state)
{
	struct run *r = *state;

	sim_begin(&r->s, &r->m, PID, "x", 1);
	sim_end(&r->s, &r->m, PID, 1);
	finish(r, 0);
	for (size_t i = 0; i < r->g.n; i++) {
		assert_true(r->g.ph[i].charge_peak == EV_NONE);
		assert_true(r->g.ph[i].headroom_min == EV_NONE);
		assert_true(r->g.ph[i].limit == EV_NONE);
	}
	assert_true(r->g.pr[0].limit == EV_NONE && r->g.pr[0].headroom_min == EV_NONE);
}

/* The peak of the phase that begins lies at its very beginning: it belongs to both neighbours. */
static void boundaries_belong_to_both(void **state)
{
	struct run *r = *state;

	sim_begin(&r->s, &r->m, PID, "up", 1);
	sim_hog(&r->s, &r->m, PID, 90);
	sim_end(&r->s, &r->m, PID, 1);
	sim_begin(&r->s, &r->m, PID, "down", 2);
	sim_hog(&r->s, &r->m, PID, -90);
	sim_end(&r->s, &r->m, PID, 2);
	finish(r, 0);
	assert_int_equal(got_find(&r->g, "up")->peak.bytes, 100 * MIB);
	assert_int_equal(got_find(&r->g, "down")->peak.bytes, 100 * MIB);
	assert_int_equal(over_start(got_find(&r->g, "down")), 0);
	assert_int_equal(phase_spike(got_find(&r->g, "down")), 0);
	/* The first instant is the owner's. */
	assert_int_equal(r->g.pr[0].peak.win, got_find(&r->g, "up")->end_win);
}

/* A program whose largest RSS is what it was attached with. */
static void falls_from_the_baseline(void **state)
{
	struct run *r = *state;

	sim_hog(&r->s, &r->m, 0, -6); /* reclaimed by another process */
	finish(r, 0);
	assert_int_equal(r->g.pr[0].peak.bytes, 10 * MIB);
	assert_int_equal(r->g.pr[0].peak.win, 1);
	assert_int_equal(r->g.pr[0].ext_shrank_bytes, 6 * MIB);
	assert_int_equal(r->g.ph[0].shrank_bytes, 0); /* not the program's doing */
	assert_int_equal(phase_kept(&r->g.ph[0]), -6 * (int64_t)MIB);
}

static void a_span_ends_on_another_thread(void **state)
{
	struct run *r = *state;
	const struct phase *p;

	sim_edge(&r->s, &r->m, PP_THREAD, 50);
	sim_begin(&r->s, &r->m, PID, "handed", 1);
	sim_hog(&r->s, &r->m, PID, 8);
	sim_begin(&r->s, &r->m, PID, "inner", 2); /* the last edge of its first thread */
	sim_end(&r->s, &r->m, PID, 2);
	sim_hog(&r->s, &r->m, PID, 16);
	sim_hog(&r->s, &r->m, 50, 32);
	sim_end(&r->s, &r->m, 50, 1);
	finish(r, 0);
	p = got_find(&r->g, "handed");
	assert_int_equal(p->tid, PID);
	assert_int_equal(p->ended_by, PH_BY_END);
	assert_int_equal(p->grew_bytes, 8 * MIB); /* phase.h says so */
	assert_int_equal(over_start(p), 56);
}

static void the_same_token_twice(void **state)
{
	struct run *r = *state;

	sim_begin(&r->s, &r->m, PID, "first", 7);
	sim_begin(&r->s, &r->m, PID, "second", 7);
	sim_end(&r->s, &r->m, PID, 7);
	assert_int_equal(r->s.ev[3].kind, PP_END);
	sim_end(&r->s, &r->m, PID, 7);
	sim_end(&r->s, &r->m, PID, 7);
	finish(r, 0);
	assert_true(got_find(&r->g, "second")->id < got_find(&r->g, "first")->id);
	assert_int_equal(got_find(&r->g, "first")->ended_by, PH_BY_END);
	assert_int_equal(r->g.pr[0].bad_ends, 1);
}

/* Kernels before 6.2: each thread may be 64 pages ahead of the counter. */
static void error_bound(void **state)
{
	struct run *r = *state;

	model_free(&r->model);
	r->model = got_model(&r->g, 64 * 4096);
	sim_edge(&r->s, &r->m, PP_THREAD, 50);
	sim_edge(&r->s, &r->m, PP_THREAD, 51);
	sim_edge(&r->s, &r->m, PP_THREAD_EXIT, 50);
	sim_edge(&r->s, &r->m, PP_THREAD, 52);
	finish(r, 0);
	assert_int_equal(r->g.pr[0].error_bytes, 3 * 64 * 4096);
	assert_false(r->g.pr[0].exact);
	assert_false(r->g.ph[0].exact);
}

#define T(f) cmocka_unit_test_setup_teardown(f, run_set_up, run_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(limits),
	    T(no_limit_no_charge),
	    T(boundaries_belong_to_both),
	    T(falls_from_the_baseline),
	    T(a_span_ends_on_another_thread),
	    T(the_same_token_twice),
	    T(error_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
