/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How processes were killed, in the orders that are hard to provoke. */
#include "run.h"

#define KILLED 9u
#define SI_USER 0
#define SI_KERNEL 0x80

static struct ev_sender kernel(const struct sim *s)
{
	return (struct ev_sender){.time_ns = s->ns, .sig = KILLED, .code = SI_KERNEL};
}

static struct ev_sender somebody(const struct sim *s, uint32_t sig, uint32_t pid)
{
	struct ev_sender by = {.time_ns = s->ns, .sig = sig, .code = SI_USER, .pid = pid};

	strcpy(by.comm, "bash");
	return by;
}

/* The cgroup /job of 256 MiB has room for a page. */
static void fill_oom(struct event *e, uint32_t pid, struct ev_sender sender)
{
	struct ev_oom *o = &e->edge.oom;

	o->pid = pid;
	strcpy(o->comm, "etl");
	o->hit_limit = 256 * MIB;
	o->hit_usage = 256 * MIB - 4096;
	o->hit_level = 1;
	o->sender = sender;
	o->cgroup_len = 4;
	memcpy(o->cgroup, "/job", 4);
}

static struct event *oom(struct run *r, struct sim_mm *m, struct ev_sender sender)
{
	struct event *e = sim_edge(&r->s, m, PP_OOM, m->pid);

	fill_oom(e, m->pid, sender);
	return e;
}

static struct event *other(struct run *r, uint32_t pid, uint64_t start_boot_ns,
			   struct ev_sender sender)
{
	struct sim_mm none = {0};
	struct event *e = sim_event(&r->s, &none, PP_OOM_OTHER, 0);

	fill_oom(e, pid, sender);
	e->edge.oom.start_boot_ns = start_boot_ns;
	return e;
}

static void killed(struct run *r, struct sim_mm *m, uint32_t flags, struct ev_sender sender)
{
	struct event *e = sim_exit(&r->s, m, m->pid, KILLED);

	e->edge.exit_flags = flags;
	e->edge.sender = sender;
}

static void run(struct run *r)
{
	sim_run(&r->s, &r->g, r->model);
}

/* B3 in events: two phases kept, the third grows until it is chosen. */
static void chosen_then_exit(void **state)
{
	struct run *r = *state;
	const struct verdict *v = r->g.vd;

	r->m.limit = 256 * MIB;
	r->m.limiter = r->m.charge = 130 * MIB;
	sim_begin(&r->s, &r->m, PID, "load:users", 1);
	sim_hog(&r->s, &r->m, PID, 60);
	sim_end(&r->s, &r->m, PID, 1);
	sim_begin(&r->s, &r->m, PID, "load:groups", 2);
	sim_hog(&r->s, &r->m, PID, 60);
	sim_end(&r->s, &r->m, PID, 2);
	sim_begin(&r->s, &r->m, PID, "hook:PRE_PUSH_OAA:add_group_memberships", 3);
	r->s.ns += 5000 * MS;
	sim_hog(&r->s, &r->m, PID, 120);
	r->m.charge = r->m.limiter = 256 * MIB;
	oom(r, &r->m, kernel(&r->s));
	killed(r, &r->m, PP_EXIT_OOM, kernel(&r->s));
	run(r);
	assert_int_equal(r->g.nvd, 1);
	assert_int_equal(v->kind, VD_OOM);
	assert_int_equal(v->pid, PID);
	assert_true(v->traced);
	assert_int_equal(v->signal, KILLED);
	assert_int_equal(v->limit, 256 * MIB);
	assert_int_equal(v->limit_usage, 256 * MIB - 4096);
	assert_int_equal(v->limit_level, 1);
	assert_int_equal(v->cgroup_len, 4);
	assert_int_equal(ev_rss(&v->members), 250 * MIB);
	assert_int_equal(v->charge, 256 * MIB);
	assert_int_equal(v->open, 1);
	assert_int_equal(v->phase_kind, PH_SPAN);
	assert_int_equal(v->phase_label.len, strlen("hook:PRE_PUSH_OAA:add_group_memberships"));
	/* Within the two seconds before; what came earlier is older. */
	assert_int_equal(v->grew_bytes, 120 * (int64_t)MIB);
	assert_int_equal(v->grew_ns, 2000 * MS);
	assert_int_equal(r->g.pr[0].exit, PX_OOM);
	assert_int_equal(r->g.pr[0].status, KILLED);
	assert_int_equal(got_find(&r->g, "load:users")->ended_by, PH_BY_END);
	assert_int_equal(got_find(&r->g, "load:groups")->ended_by, PH_BY_END);
	assert_int_equal(got_find(&r->g, "hook:PRE_PUSH_OAA:add_group_memberships")->ended_by,
			 PH_BY_OOM);
	/* The phases that the verdict's window has are those that were open. */
	assert_true(got_find(&r->g, "load:groups")->end_win < v->win);
	assert_true(got_find(&r->g, "hook:PRE_PUSH_OAA:add_group_memberships")->start_win < v->win);
}

/* The record of the choice was lost, or it was made before the attach: the exit knows. */
static void choice_lost(void **state)
{
	struct run *r = *state;

	sim_begin(&r->s, &r->m, PID, "x", 1);
	sim_hog(&r->s, &r->m, PID, 60);
	killed(r, &r->m, PP_EXIT_OOM, kernel(&r->s));
	run(r);
	assert_int_equal(r->g.nvd, 1);
	assert_int_equal(r->g.vd[0].kind, VD_OOM);
	assert_int_equal(r->g.pr[0].exit, PX_OOM);
	assert_int_equal(got_find(&r->g, "x")->ended_by, PH_BY_OOM);
}

/* The victim was quicker than the killer: its exit comes first, and says nothing of the choice. */
static void choice_after_the_exit(void **state)
{
	struct run *r = *state;
	uint64_t boot = r->s.ev[0].edge.start_boot_ns;

	sim_begin(&r->s, &r->m, PID, "x", 1);
	killed(r, &r->m, 0, kernel(&r->s));
	other(r, PID, boot, kernel(&r->s));
	run(r);
	assert_int_equal(r->g.nvd, 2);
	assert_int_equal(r->g.vd[0].kind, VD_SIGNAL);
	assert_int_equal(r->g.vd[1].kind, VD_OOM);
	assert_int_equal(r->g.vd[0].id, r->g.vd[1].id); /* a correction */
	assert_int_equal(r->g.vd[1].limit, 256 * MIB);
	assert_int_equal(r->g.vd[1].phase_label.len, 1);
	assert_int_equal(r->g.npr, 1);
	assert_int_equal(r->g.nrevised, 1);
	assert_int_equal(r->g.revised[0].exit, PX_OOM);
	assert_int_equal(r->g.revised[0].phases, r->g.pr[0].phases);
}

/* The same, and its exit knew of the choice, but not who made it and where. */
static void choice_after_an_exit_that_knew(void **state)
{
	struct run *r = *state;
	uint64_t boot = r->s.ev[0].edge.start_boot_ns;
	struct event *e;

	sim_begin(&r->s, &r->m, PID, "x", 1);
	killed(r, &r->m, PP_EXIT_OOM, kernel(&r->s));
	e = oom(r, &r->m, kernel(&r->s));
	e->edge.oom.start_boot_ns = boot;
	e->edge.oom.trigger_pid = 77;
	/* Once is enough. */
	other(r, PID, boot, kernel(&r->s));
	run(r);
	assert_int_equal(r->g.nvd, 2);
	assert_int_equal(r->g.vd[0].kind, VD_OOM);
	assert_int_equal(r->g.vd[0].trigger_pid, 0);
	assert_int_equal(r->g.vd[1].kind, VD_OOM);
	assert_int_equal(r->g.vd[1].trigger_pid, 77);
	assert_int_equal(r->g.vd[1].limit, 256 * MIB);
	assert_int_equal(r->g.vd[1].cgroup_len, 4);
	assert_int_equal(r->g.vd[0].id, r->g.vd[1].id);
	assert_int_equal(r->g.revised[0].exit, PX_OOM);
	assert_int_equal(model_counts(r->model)->orphans, 0);
}

/* The same, and on the ring the killer's record had its place first, with the later window. */
static void choice_before_the_exit_of_an_earlier_window(void **state)
{
	struct run *r = *state;
	uint64_t boot = r->s.ev[0].edge.start_boot_ns;
	struct event *e, swap;

	sim_begin(&r->s, &r->m, PID, "x", 1);
	killed(r, &r->m, PP_EXIT_OOM, kernel(&r->s));
	e = oom(r, &r->m, kernel(&r->s));
	e->edge.oom.start_boot_ns = boot;
	e->edge.oom.trigger_pid = 77;
	swap = e[0];
	e[0] = e[-1];
	e[-1] = swap;
	run(r);
	assert_int_equal(r->g.nvd, 2);
	assert_int_equal(r->g.vd[1].kind, VD_OOM);
	assert_int_equal(r->g.vd[1].trigger_pid, 77);
	assert_int_equal(r->g.vd[0].id, r->g.vd[1].id);
	assert_int_equal(model_counts(r->model)->orphans, 0);
}

/* The same, and the killer still had it in hand: an edge of what has ended. */
static void edge_after_the_exit(void **state)
{
	struct run *r = *state;
	uint64_t boot = r->s.ev[0].edge.start_boot_ns;
	const struct phase *grown;

	sim_begin(&r->s, &r->m, PID, "x", 1);
	sim_hog(&r->s, &r->m, PID, 60);
	killed(r, &r->m, 0, kernel(&r->s));
	oom(r, &r->m, kernel(&r->s))->edge.oom.start_boot_ns = boot;
	run(r);
	assert_int_equal(r->g.nvd, 2);
	assert_int_equal(r->g.vd[1].kind, VD_OOM);
	assert_int_equal(r->g.vd[0].id, r->g.vd[1].id);
	assert_int_equal(r->g.nrevised, 1);
	assert_int_equal(model_counts(r->model)->orphans, 0);
	/* What it did is still known then. */
	grown = model_grown(r->model, r->m.id);
	assert_non_null(grown);
	assert_int_equal(grown->label.len, 1);
	assert_true(grown->grew_bytes >= 60 * MIB);
	assert_null(model_grown(r->model, r->m.id + 1));
}

/* An outer span grew by what its inner one did; of a living one what has ended counts. */
static void what_grew_most(void **state)
{
	struct run *r = *state;
	const struct phase *grown;

	assert_null(model_grown(r->model, r->m.id));
	sim_begin(&r->s, &r->m, PID, "small", 1);
	sim_hog(&r->s, &r->m, PID, 10);
	sim_end(&r->s, &r->m, PID, 1);
	sim_begin(&r->s, &r->m, PID, "outer", 2);
	sim_hog(&r->s, &r->m, PID, 30);
	sim_begin(&r->s, &r->m, PID, "inner", 3);
	sim_hog(&r->s, &r->m, PID, 40);
	sim_end(&r->s, &r->m, PID, 3);
	sim_end(&r->s, &r->m, PID, 2);
	for (size_t i = 0; i < r->s.n; i++)
		assert_int_equal(model_feed(r->model, &r->s.ev[i]), 0);
	grown = model_grown(r->model, r->m.id);
	assert_non_null(grown);
	assert_int_equal(grown->grew_bytes, 40 * MIB);
	assert_int_equal(grown->label.len, 5);
	assert_memory_equal(grown->label.bytes, "inner", 5);
}

/* The same pid, but a later process of it; and one that somebody killed. */
static void choice_of_another(void **state)
{
	struct run *r = *state;
	uint64_t boot = r->s.ev[0].edge.start_boot_ns;
	struct sim_mm second;

	sim_base(&r->s, &second, 2, 20, PP_BY_FORK, MIB);
	killed(r, &second, 0, somebody(&r->s, KILLED, 77));
	other(r, 20, r->s.ns, kernel(&r->s));
	killed(r, &r->m, 0, kernel(&r->s));
	other(r, PID, boot + 1, kernel(&r->s));
	run(r);
	sim_mm_free(&second);
	assert_int_equal(r->g.nvd, 2);
	assert_int_equal(r->g.vd[0].kind, VD_SIGNAL);
	assert_int_equal(r->g.vd[1].kind, VD_SIGNAL);
	assert_int_equal(r->g.nrevised, 0);
}

static void exit_lost(void **state)
{
	struct run *r = *state;

	sim_begin(&r->s, &r->m, PID, "x", 1);
	oom(r, &r->m, kernel(&r->s));
	run(r);
	assert_int_equal(r->g.nvd, 1);
	assert_int_equal(r->g.pr[0].exit, PX_OOM);
	assert_int_equal(got_find(&r->g, "x")->ended_by, PH_BY_OOM);
}

static void group(void **state)
{
	struct run *r = *state;
	struct sim_mm second, third;

	sim_base(&r->s, &second, 2, 20, PP_BY_FORK, 5 * MIB);
	sim_base(&r->s, &third, 3, 30, PP_BY_FORK, 7 * MIB);
	sim_begin(&r->s, &r->m, PID, "parent", 1);
	sim_begin(&r->s, &second, 20, "worker", 1);
	oom(r, &r->m, kernel(&r->s));
	oom(r, &second, kernel(&r->s));
	killed(r, &second, PP_EXIT_OOM, kernel(&r->s));
	oom(r, &third, kernel(&r->s));
	killed(r, &third, PP_EXIT_OOM, kernel(&r->s));
	killed(r, &r->m, PP_EXIT_OOM, kernel(&r->s));
	run(r);
	sim_mm_free(&second);
	sim_mm_free(&third);
	assert_int_equal(r->g.nvd, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(r->g.vd[i].kind, VD_OOM);
		assert_int_equal(r->g.pr[i].exit, PX_OOM);
	}
	assert_int_equal(r->g.vd[1].pid, 20);
	assert_int_equal(r->g.vd[1].phase_label.len, strlen("worker"));
	assert_int_equal(ev_rss(&r->g.vd[2].members), 7 * MIB);
	assert_int_equal(r->g.vd[2].phase_kind, PH_STARTUP);
}

/* A neighbour in the cgroup had to die for what ours wanted; and one that has nothing to do with
 * it. */
static void victim_not_traced(void **state)
{
	struct run *r = *state;
	struct event *e;

	sim_begin(&r->s, &r->m, PID, "greedy", 1);
	e = other(r, 77, 5, (struct ev_sender){0});
	e->edge.oom.trigger_mm_id = r->m.id;
	e->edge.oom.trigger_pid = PID;
	other(r, 78, 6, (struct ev_sender){0});
	finish(r, 0);
	assert_int_equal(r->g.nvd, 1);
	assert_int_equal(r->g.vd[0].kind, VD_OOM);
	assert_false(r->g.vd[0].traced);
	assert_int_equal(r->g.vd[0].pid, 77);
	assert_int_equal(r->g.vd[0].trigger_pid, PID);
	assert_int_equal(r->g.vd[0].phase_label.len, strlen("greedy"));
	assert_int_equal(r->g.vd[0].limit, 256 * MIB);
	assert_int_equal(r->g.pr[0].exit, PX_EXIT);
}

/* Somebody's SIGKILL near the limit: the kernel lets the dying one have memory, and marks it. */
static void killed_by_a_user_near_the_limit(void **state)
{
	struct run *r = *state;
	struct ev_sender by = somebody(&r->s, KILLED, 4711);

	r->m.limit = 256 * MIB;
	r->m.limiter = r->m.charge = 256 * MIB;
	sim_begin(&r->s, &r->m, PID, "x", 1);
	oom(r, &r->m, by);
	killed(r, &r->m, PP_EXIT_OOM, by);
	run(r);
	assert_int_equal(r->g.nvd, 1);
	assert_int_equal(r->g.vd[0].kind, VD_SIGNAL);
	assert_int_equal(r->g.vd[0].signal, KILLED);
	assert_int_equal(r->g.vd[0].sender.pid, 4711);
	assert_string_equal(r->g.vd[0].sender.comm, "bash");
	assert_int_equal(r->g.vd[0].limit, 256 * MIB);
	assert_int_equal(r->g.pr[0].exit, PX_SIGNAL);
	assert_int_equal(got_find(&r->g, "x")->ended_by, PH_BY_SIGNAL);
}

/* It was exiting when the killer came by: no signal, and its own status. */
static void marked_while_it_exits(void **state)
{
	struct run *r = *state;

	oom(r, &r->m, (struct ev_sender){0});
	sim_exit(&r->s, &r->m, PID, 3 << 8)->edge.exit_flags = PP_EXIT_OOM;
	run(r);
	assert_int_equal(r->g.nvd, 0);
	assert_int_equal(r->g.pr[0].exit, PX_EXIT);
	assert_int_equal(r->g.pr[0].status, 3);
}

/* The sender of a signal that did not end it is no news. */
static void other_signals(void **state)
{
	struct run *r = *state;
	struct event *e = sim_exit(&r->s, &r->m, PID, 11 | 0x80);

	e->edge.sender = somebody(&r->s, 15, 4711);
	run(r);
	assert_int_equal(r->g.nvd, 1);
	assert_int_equal(r->g.vd[0].kind, VD_SIGNAL);
	assert_int_equal(r->g.vd[0].signal, 11);
	assert_int_equal(r->g.vd[0].sender.time_ns, 0);
	assert_int_equal(r->g.pr[0].exit, PX_SIGNAL);
	assert_int_equal(r->g.pr[0].status, 11);
}

/* No cgroup was near its limit: the machine was out of memory. */
static void machine(void **state)
{
	struct run *r = *state;
	struct event *e = oom(r, &r->m, kernel(&r->s));

	e->edge.oom.hit_usage = 100 * MIB;
	killed(r, &r->m, PP_EXIT_OOM, kernel(&r->s));
	run(r);
	assert_int_equal(r->g.vd[0].kind, VD_OOM);
	assert_int_equal(r->g.vd[0].limit, EV_NONE);
	assert_int_equal(r->g.vd[0].limit_usage, EV_NONE);
}

/* A program of checkpoints has no name yet for what it is doing. */
static void since_a_checkpoint(void **state)
{
	struct run *r = *state;

	sim_mark(&r->s, &r->m, PID, "load:users");
	sim_hog(&r->s, &r->m, PID, 30);
	killed(r, &r->m, PP_EXIT_OOM, kernel(&r->s));
	run(r);
	assert_int_equal(r->g.vd[0].phase_kind, PH_AFTER);
	assert_int_equal(r->g.vd[0].phase_label.len, strlen("load:users"));
	assert_memory_equal(r->g.vd[0].phase_label.bytes, "load:users", strlen("load:users"));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, run_set_up, run_tear_down)
	const struct CMUnitTest tests[] = {
	    TEST(chosen_then_exit),
	    TEST(choice_lost),
	    TEST(choice_after_the_exit),
	    TEST(choice_after_an_exit_that_knew),
	    TEST(choice_before_the_exit_of_an_earlier_window),
	    TEST(edge_after_the_exit),
	    TEST(what_grew_most),
	    TEST(choice_of_another),
	    TEST(exit_lost),
	    TEST(group),
	    TEST(victim_not_traced),
	    TEST(killed_by_a_user_near_the_limit),
	    TEST(marked_while_it_exits),
	    TEST(other_signals),
	    TEST(machine),
	    TEST(since_a_checkpoint),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
