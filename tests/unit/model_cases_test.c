/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Cases that the model decides, with hand-built events: numbers are exact, so without tolerance. */
#include "run.h"

static void a1_spike_freed_before_the_end(void **state)
{
	struct run *r = *state;
	const struct phase *p;

	sim_hog(&r->s, &r->m, PID, 5);
	sim_begin(&r->s, &r->m, PID, "transform:users", 1);
	sim_hog(&r->s, &r->m, PID, 300);
	sim_hog(&r->s, &r->m, PID, -300);
	sim_end(&r->s, &r->m, PID, 1);
	finish(r, 0);
	p = got_find(&r->g, "transform:users");
	assert_int_equal(over_start(p), 300);
	assert_int_equal(phase_kept(p), 0);
	assert_int_equal(phase_spike(p), 300 * MIB);
	assert_int_equal(p->grew_bytes, 300 * MIB);
	assert_int_equal(p->shrank_bytes, 300 * MIB);
	assert_int_equal(p->faults_minor, 300 * 256);
	assert_int_equal(p->kind, PH_SPAN);
	assert_int_equal(p->ended_by, PH_BY_END);
	assert_int_equal(p->tid, PID);
	assert_true(p->exact && p->peak.members_exact && !p->overlaps);
	assert_int_equal(p->peak.members.m[PP_ANON], 315 * MIB);
	assert_int_equal(p->peak.at_ns, 1003 * MS);
	/* (startup), the span, (after): nothing hides. */
	assert_int_equal(r->g.n, 3);
	assert_int_equal(got_kind(&r->g, PH_STARTUP)->grew_bytes, 5 * MIB);
	assert_int_equal(got_kind(&r->g, PH_STARTUP)->ended_by, PH_BY_MARK);
	assert_int_equal(got_kind(&r->g, PH_AFTER)->ended_by, PH_BY_EXIT);
	assert_int_equal(r->g.pr[0].phases, 3);
	assert_int_equal(r->g.pr[0].windows, 4);
	assert_int_equal(r->g.pr[0].peak.bytes, 315 * MIB);
	assert_int_equal(r->g.pr[0].baseline_bytes, 10 * MIB);
	assert_int_equal(r->g.pr[0].inherited_bytes, 0);
	assert_true(r->g.pr[0].exact);
}

static void a2_falling_spikes(void **state)
{
	static const int64_t size[] = {300, 200, 100};
	static const char *const label[] = {"one", "two", "three"};
	struct run *r = *state;

	for (uint64_t i = 0; i < 3; i++) {
		sim_begin(&r->s, &r->m, PID, label[i], i + 1);
		sim_hog(&r->s, &r->m, PID, size[i]);
		sim_hog(&r->s, &r->m, PID, -size[i]);
		sim_end(&r->s, &r->m, PID, i + 1);
	}
	finish(r, 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(over_start(got_find(&r->g, label[i])), size[i]);
	assert_int_equal(got_count(&r->g, PH_STARTUP), 1);
	assert_int_equal(got_count(&r->g, PH_BETWEEN), 2);
	assert_int_equal(got_count(&r->g, PH_AFTER), 1);
}

static void a3_many_small_kept(void **state)
{
	struct run *r = *state;
	const struct phase *p;

	sim_begin(&r->s, &r->m, PID, "grow", 1);
	for (int i = 0; i < 100; i++)
		sim_hog(&r->s, &r->m, PID, 2);
	sim_end(&r->s, &r->m, PID, 1);
	finish(r, 0);
	p = got_find(&r->g, "grow");
	assert_int_equal(over_start(p), 200);
	assert_int_equal(p->peak.at_ns, p->end_ns - MS); /* the last touch, a ms before the end */
	assert_int_equal(phase_spike(p), 0);
}

static void a4_no_mark_at_all(void **state)
{
	struct run *r = *state;

	sim_hog(&r->s, &r->m, PID, 64);
	finish(r, 0);
	assert_int_equal(r->g.n, 1);
	assert_int_equal(r->g.ph[0].kind, PH_STARTUP);
	assert_int_equal(r->g.ph[0].ended_by, PH_BY_EXIT);
	assert_int_equal(over_start(&r->g.ph[0]), 64);
	assert_int_equal(r->g.ph[0].faults_minor, 64 * 256);
	assert_int_equal(r->g.pr[0].peak.bytes, 74 * MIB);
}

static void a5_a6_members(void **state)
{
	struct run *r = *state;
	const struct phase *p;

	sim_begin(&r->s, &r->m, PID, "reserve", 1);
	sim_end(&r->s, &r->m, PID, 1);
	sim_begin(&r->s, &r->m, PID, "read", 2);
	sim_grow(&r->s, &r->m, PID, PP_FILE, 150 * MIB, MS);
	sim_grow(&r->s, &r->m, PID, PP_SWAP, 40 * MIB, MS); /* shown apart, never added */
	sim_end(&r->s, &r->m, PID, 2);
	finish(r, 0);
	assert_int_equal(over_start(got_find(&r->g, "reserve")), 0);
	p = got_find(&r->g, "read");
	assert_int_equal(over_start(p), 150);
	assert_int_equal(p->peak.members.m[PP_FILE], 150 * MIB);
	assert_int_equal(p->peak.members.m[PP_ANON], 10 * MIB);
}

static void a7_outer_has_the_peak_of_its_inner(void **state)
{
	static const int64_t size[] = {50, 100, 150};
	static const char *const label[] = {"a", "b", "c"};
	struct run *r = *state;
	const struct phase *p;

	sim_begin(&r->s, &r->m, PID, "outer", 9);
	for (uint64_t i = 0; i < 3; i++) {
		sim_begin(&r->s, &r->m, PID, label[i], i);
		sim_hog(&r->s, &r->m, PID, size[i]);
		sim_hog(&r->s, &r->m, PID, -size[i]);
		sim_end(&r->s, &r->m, PID, i);
	}
	sim_hog(&r->s, &r->m, PID, 20);
	sim_end(&r->s, &r->m, PID, 9);
	finish(r, 0);
	for (int i = 0; i < 3; i++) {
		p = got_find(&r->g, label[i]);
		assert_int_equal(over_start(p), size[i]);
		assert_int_equal(p->depth, 1);
		assert_false(p->overlaps);
	}
	p = got_find(&r->g, "outer");
	assert_int_equal(over_start(p), 150);
	assert_int_equal(phase_kept(p), 20 * MIB);
	assert_int_equal(p->depth, 0);
	assert_false(p->overlaps);
	assert_int_equal(p->grew_bytes, 320 * MIB);
	assert_int_equal(got_count(&r->g, PH_BETWEEN), 0); /* the outer one is open between */
}

static void a8_two_threads(void **state)
{
	struct run *r = *state;
	const struct phase *left, *right;

	sim_edge(&r->s, &r->m, PP_THREAD, 50);
	sim_begin(&r->s, &r->m, PID, "left", 1);
	sim_hog(&r->s, &r->m, PID, 200);
	sim_begin(&r->s, &r->m, 50, "right", 2);
	sim_hog(&r->s, &r->m, 50, 100);
	sim_hog(&r->s, &r->m, 50, -100);
	sim_end(&r->s, &r->m, 50, 2);
	sim_hog(&r->s, &r->m, PID, -200);
	sim_end(&r->s, &r->m, PID, 1);
	finish(r, 0);
	left = got_find(&r->g, "left");
	right = got_find(&r->g, "right");
	assert_int_equal(left->peak.bytes, 310 * MIB);
	assert_int_equal(right->peak.bytes, 310 * MIB);
	assert_int_equal(left->peak.at_ns, right->peak.at_ns);
	assert_true(left->overlaps && right->overlaps);
	assert_int_equal(left->grew_bytes, 200 * MIB);
	assert_int_equal(right->grew_bytes, 100 * MIB);
	assert_int_equal(right->tid, 50);
	assert_int_equal(right->depth, 0);
}

static void a9_async(void **state)
{
	struct run *r = *state;
	int as = 0;

	sim_begin(&r->s, &r->m, PID, "A", 1);
	sim_hog(&r->s, &r->m, PID, 100);
	sim_begin(&r->s, &r->m, PID, "B", 2);
	sim_hog(&r->s, &r->m, PID, 150);
	sim_begin(&r->s, &r->m, PID, "A", 3);
	sim_hog(&r->s, &r->m, PID, 10);
	sim_end(&r->s, &r->m, PID, 1);
	sim_hog(&r->s, &r->m, PID, -100);
	sim_end(&r->s, &r->m, PID, 2);
	sim_hog(&r->s, &r->m, PID, -150);
	sim_end(&r->s, &r->m, PID, 3);
	finish(r, 0);
	for (size_t i = 0; i < r->g.n; i++) {
		const struct phase *p = &r->g.ph[i];

		if (p->kind != PH_SPAN)
			continue;
		assert_true(p->overlaps);
		assert_int_equal(p->peak.bytes, 270 * MIB);
		if (p->label.bytes[0] == 'A')
			as += (int)p->token;
		else
			assert_int_equal(over_start(p), 160);
	}
	assert_int_equal(as, 1 + 3); /* both of the name A, told apart by token */
}

static void a10_checkpoints(void **state)
{
	struct run *r = *state;
	const struct phase *load, *hook, *after;

	sim_hog(&r->s, &r->m, PID, 60);
	sim_mark(&r->s, &r->m, PID, "load:users");
	sim_hog(&r->s, &r->m, PID, 40);
	sim_mark(&r->s, &r->m, PID, "hook:PRE_PUSH:x");
	sim_hog(&r->s, &r->m, PID, 7);
	finish(r, 0);
	load = got_find(&r->g, "load:users");
	hook = got_find(&r->g, "hook:PRE_PUSH:x");
	after = got_kind(&r->g, PH_AFTER);
	assert_int_equal(r->g.n, 3); /* no (startup): the first checkpoint names that time */
	assert_int_equal(r->g.covered, 0);
	assert_int_equal(over_start(load), 60);
	assert_int_equal(over_start(hook), 40);
	assert_int_equal(over_start(after), 7);
	assert_int_equal(load->start_ns, 1000 * MS);
	assert_int_equal(load->end_ns, hook->start_ns);
	assert_int_equal(hook->end_ns, after->start_ns);
	assert_int_equal(hook->grew_bytes, 40 * MIB);
	assert_int_equal(after->grew_bytes, 7 * MIB);
	assert_int_equal(after->label.len, 0);
	assert_false(load->overlaps || hook->overlaps);
}

static void a11_no_growth(void **state)
{
	struct run *r = *state;

	for (uint64_t i = 1; i < 3; i++) {
		sim_begin(&r->s, &r->m, PID, i == 1 ? "x" : "y", i);
		r->s.ns += 10 * MS;
		sim_end(&r->s, &r->m, PID, i);
	}
	finish(r, 0);
	assert_int_equal(over_start(got_find(&r->g, "x")), 0);
	assert_int_equal(phase_kept(got_find(&r->g, "y")), 0);
	assert_int_equal(got_find(&r->g, "y")->end_ns - got_find(&r->g, "y")->start_ns, 11 * MS);
}

static void b1_open_at_exit(void **state)
{
	struct run *r = *state;
	const struct phase *p;

	sim_begin(&r->s, &r->m, PID, "boom", 1);
	sim_hog(&r->s, &r->m, PID, 30);
	sim_end(&r->s, &r->m, PID, 1);
	sim_begin(&r->s, &r->m, PID, "never_ended", 2);
	sim_begin(&r->s, &r->m, PID, "inner", 3);
	sim_hog(&r->s, &r->m, PID, 12);
	finish(r, 3 << 8);
	assert_int_equal(over_start(got_find(&r->g, "boom")), 30);
	p = got_find(&r->g, "never_ended");
	assert_int_equal(p->ended_by, PH_BY_EXIT);
	assert_int_equal(over_start(p), 12);
	assert_false(p->overlaps);
	assert_true(got_find(&r->g, "inner")->id < p->id); /* innermost first */
	assert_int_equal(r->g.pr[0].exit, PX_EXIT);
	assert_int_equal(r->g.pr[0].status, 3);
	assert_int_equal(got_count(&r->g, PH_AFTER), 0);
}

static void b2_killed(void **state)
{
	struct run *r = *state;
	const struct phase *p;

	sim_begin(&r->s, &r->m, PID, "mid", 1);
	sim_hog(&r->s, &r->m, PID, 20);
	finish(r, 0x80 | 9); /* with a core */
	p = got_find(&r->g, "mid");
	assert_int_equal(p->ended_by, PH_BY_SIGNAL);
	assert_int_equal(over_start(p), 20);
	assert_int_equal(p->end_bytes, 30 * MIB); /* before teardown */
	assert_int_equal(r->g.pr[0].exit, PX_SIGNAL);
	assert_int_equal(r->g.pr[0].status, 9);
	assert_int_equal(r->g.pr[0].end_ns, p->end_ns);
}

static void b5_bad_ends(void **state)
{
	struct run *r = *state;
	struct sim_mm other;

	sim_base(&r->s, &other, 2, 77, PP_BY_FORK, MIB);
	sim_end(&r->s, &r->m, PID, 99); /* without begin */
	sim_begin(&r->s, &r->m, PID, "real", 5);
	sim_end(&r->s, &other, 77, 5); /* of another process */
	sim_end(&r->s, &r->m, PID, 5);
	sim_end(&r->s, &r->m, PID, 5); /* twice */
	sim_exit(&r->s, &other, 77, 0);
	finish(r, 0);
	assert_int_equal(got_count(&r->g, PH_SPAN), 1);
	assert_int_equal(got_find(&r->g, "real")->ended_by, PH_BY_END);
	assert_int_equal(model_counts(r->model)->bad_ends, 3);
	assert_int_equal(r->g.pr[0].bad_ends, 1);
	assert_int_equal(r->g.pr[1].bad_ends, 2);
	/* An end of nothing is no mark: the gap goes on. */
	assert_int_equal(got_count(&r->g, PH_AFTER), 1);
	sim_mm_free(&other);
}

static void c1_fork(void **state)
{
	struct run *r = *state;
	struct sim_mm child;

	sim_begin(&r->s, &r->m, PID, "parent", 1);
	sim_base(&r->s, &child, 2, 77, PP_BY_FORK, 10 * MIB)->edge.parent_mm_id = 1;
	sim_begin(&r->s, &child, 77, "worker", 1); /* the same token: another process */
	sim_hog(&r->s, &child, 77, 60);
	sim_end(&r->s, &child, 77, 1);
	sim_exit(&r->s, &child, 77, 0);
	sim_end(&r->s, &r->m, PID, 1);
	finish(r, 0);
	assert_int_equal(r->g.begun, 2);
	assert_int_equal(over_start(got_find(&r->g, "worker")), 60);
	assert_int_equal(got_find(&r->g, "worker")->pid, 77);
	assert_false(got_find(&r->g, "worker")->overlaps);
	assert_int_equal(over_start(got_find(&r->g, "parent")), 0);
	assert_int_equal(r->g.pr[0].mm_id, 2);
	assert_int_equal(r->g.pr[0].parent_mm_id, 1);
	assert_int_equal(r->g.pr[0].inherited_bytes, 10 * MIB);
	assert_int_equal(r->g.pr[0].peak.bytes, 70 * MIB);
	assert_string_equal(r->g.pr[0].comm, "etl");
	sim_mm_free(&child);
}

static void c2_exec(void **state)
{
	struct run *r = *state;
	const struct phase *before;
	struct sim_mm next;

	sim_begin(&r->s, &r->m, PID, "before_exec", 1);
	sim_hog(&r->s, &r->m, PID, 200);
	r->s.ns += MS;
	sim_edge(&r->s, &r->m, PP_EXEC, PID);
	sim_base(&r->s, &next, 2, PID, PP_BY_EXEC, MIB)->edge.parent_mm_id = 1;
	sim_begin(&r->s, &next, PID, "after_exec", 1);
	sim_hog(&r->s, &next, PID, 40);
	sim_end(&r->s, &next, PID, 1);
	sim_exit(&r->s, &next, PID, 0);
	sim_run(&r->s, &r->g, r->model);
	before = got_find(&r->g, "before_exec");
	assert_int_equal(before->ended_by, PH_BY_EXEC);
	assert_int_equal(over_start(before), 200);
	assert_int_equal(r->g.pr[0].exit, PX_EXEC);
	assert_int_equal(r->g.pr[1].baseline_bytes, MIB);
	assert_int_equal(over_start(got_find(&r->g, "after_exec")), 40);
	assert_int_equal(r->g.pr[1].exit, PX_EXIT);
	sim_mm_free(&next);
}

#define T(f) cmocka_unit_test_setup_teardown(f, run_set_up, run_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(a1_spike_freed_before_the_end),
	    T(a2_falling_spikes),
	    T(a3_many_small_kept),
	    T(a4_no_mark_at_all),
	    T(a5_a6_members),
	    T(a7_outer_has_the_peak_of_its_inner),
	    T(a8_two_threads),
	    T(a9_async),
	    T(a10_checkpoints),
	    T(a11_no_growth),
	    T(b1_open_at_exit),
	    T(b2_killed),
	    T(b5_bad_ends),
	    T(c1_fork),
	    T(c2_exec),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
