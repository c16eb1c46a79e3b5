/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* --ceiling and --headroom: the first crossing, its instant and its phase. */
#include "run.h"

static struct model *with_limits(struct run *r, uint64_t ceiling, uint64_t headroom)
{
	struct model_options opt = {.ceiling = ceiling, .headroom = headroom};

	model_free(&r->model);
	got_free(&r->g);
	return r->model = got_model_with(&r->g, &opt);
}

static void ceiling(void **state)
{
	struct run *r = *state;

	with_limits(r, 50 * MIB, 0);
	sim_begin(&r->s, &r->m, PID, "under", 1);
	sim_hog(&r->s, &r->m, PID, 39);
	sim_end(&r->s, &r->m, PID, 1);
	sim_begin(&r->s, &r->m, PID, "over", 2);
	sim_hog(&r->s, &r->m, PID, 1);
	sim_edge(&r->s, &r->m, PP_CROSS, PID);
	sim_hog(&r->s, &r->m, PID, 100);
	sim_end(&r->s, &r->m, PID, 2);
	finish(r, 0);
	assert_int_equal(r->g.nvd, 1); /* the first time, and no other */
	assert_int_equal(r->g.vd[0].kind, VD_CEILING);
	assert_int_equal(r->g.vd[0].threshold, 50 * MIB);
	assert_int_equal(ev_rss(&r->g.vd[0].members), 50 * MIB);
	assert_int_equal(r->g.vd[0].phase_label.len, strlen("over"));
	assert_int_equal(r->g.vd[0].signal, 0);
	/* The edge in its midst changes nothing of the phase. */
	assert_int_equal(over_start(got_find(&r->g, "over")), 101);
	assert_int_equal(got_find(&r->g, "over")->grew_bytes, 101 * MIB);
}

/* The edge of the crossing was lost: the next one's window tells, in the phase that it ends. */
static void ceiling_by_the_window(void **state)
{
	struct run *r = *state;
	uint64_t at;

	with_limits(r, 50 * MIB, 0);
	sim_begin(&r->s, &r->m, PID, "spike", 1);
	sim_hog(&r->s, &r->m, PID, 60);
	at = r->s.ns;
	sim_lose(&r->m);
	sim_hog(&r->s, &r->m, PID, -60);
	sim_end(&r->s, &r->m, PID, 1);
	finish(r, 0);
	assert_int_equal(r->g.nvd, 1);
	assert_int_equal(r->g.vd[0].kind, VD_CEILING);
	assert_int_equal(r->g.vd[0].at_ns, at);
	assert_int_equal(ev_rss(&r->g.vd[0].members), 70 * MIB);
	assert_int_equal(r->g.vd[0].phase_label.len, strlen("spike"));
}

static void ceiling_at_the_attach(void **state)
{
	struct run *r = *state;

	with_limits(r, 10 * MIB, 0);
	finish(r, 0);
	assert_int_equal(r->g.nvd, 1);
	assert_int_equal(r->g.vd[0].kind, VD_CEILING);
	assert_int_equal(r->g.vd[0].phase_kind, PH_STARTUP);
}

/* Of the smallest limit, whatever is charged of its own; nothing where there is none. */
static void headroom(void **state)
{
	struct run *r = *state;

	with_limits(r, 0, 16 * MIB);
	sim_begin(&r->s, &r->m, PID, "x", 1);
	r->m.limit = 256 * MIB;
	r->m.limit_level = 2;
	r->m.charge = 20 * MIB;
	r->m.limiter = 256 * MIB - 16 * MIB - 4096;
	sim_edge(&r->s, &r->m, PP_THREAD, PID + 1);
	assert_int_equal(r->g.nvd, 0);
	r->m.limiter = r->m.limiter_max = 256 * MIB - 16 * MIB;
	sim_edge(&r->s, &r->m, PP_CROSS, PID);
	sim_edge(&r->s, &r->m, PP_THREAD, PID + 2);
	finish(r, 0);
	assert_int_equal(r->g.nvd, 1);
	assert_int_equal(r->g.vd[0].kind, VD_HEADROOM);
	assert_int_equal(r->g.vd[0].limit, 256 * MIB);
	assert_int_equal(r->g.vd[0].limit_usage, 240 * MIB);
	assert_int_equal(r->g.vd[0].limit_level, 2);
	assert_int_equal(r->g.vd[0].charge, 20 * MIB);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, run_set_up, run_tear_down)
	const struct CMUnitTest tests[] = {
	    TEST(ceiling),
	    TEST(ceiling_by_the_window),
	    TEST(ceiling_at_the_attach),
	    TEST(headroom),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
