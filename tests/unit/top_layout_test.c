/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a frame says of what happened: state and board → cells. Whole screens: tests/screens. */
#include "top_fixture.h"

#include <locale.h>

/* One process: two phases one in the other, 40 + 60 MiB, and 30 given back. */
static struct live *two_phases(struct sim_mm *m)
{
	struct live *l = live_new();

	sim_base(&l->s, m, 1, 10, PP_BY_EXEC, 10 * MIB);
	m->charge = m->limiter = 20 * MIB;
	m->limit = 256 * MIB;
	l->s.ns += 500 * MS;
	sim_begin(&l->s, m, 10, "load", 1);
	sim_hog(&l->s, m, 10, 40);
	sim_begin(&l->s, m, 10, "join", 2);
	sim_hog(&l->s, m, 10, 60);
	live_sample(l, m);
	sim_hog(&l->s, m, 10, -30);
	live_sample(l, m);
	l->s.ns += 2000 * MS;
	return l;
}

static void as_it_happens(void **state)
{
	struct sim_mm m;
	struct live *l = two_phases(&m);

	(void)state;
	live_frame(l, 24, 120, true);
	live_has(l, "live +2.51 s");
	live_has(l, "now 80.0 MiB, 72 % of the peak 110.0 MiB (join, 2.00 s ago)");
	live_has(l, "headroom 236.0 MiB");
	live_has(l, "20.0 of 256.0 MiB limit");
	/*            time       now   peak MiB     grew     kept    spike */
	live_has(l, "2.00 s     80.0     ~110.0   ~100.0    ~70.0    ~30.0");
	live_has(
	    l, "2.00 s     80.0     ~110.0    ~60.0    ~30.0    ~30.0        -         - <- peak");
	sim_end(&l->s, &m, 10, 2);
	sim_end(&l->s, &m, 10, 1);
	live_frame(l, 24, 120, true);
	live_has(l, "(since load)");
	live_keys(l, "f");
	live_has(l, "finished phases");
	live_has(l, "join");
	sim_exit(&l->s, &m, 10, 3 << 8);
	live_over(l, 3 << 8);
	live_frame(l, 24, 80, true);
	live_has(l, "ended 2.51 s");
	live_has(l, "exit status 3 at +2.51 s; peak 110.0 MiB (join, at +0.50 s)");
	live_free(l);
	sim_mm_free(&m);
}

/* The peak on the board is the model's, to the byte, with a spike between two samples. */
static void the_peak_is_exact(void **state)
{
	struct live *l = live_new();
	struct sim_mm m;

	(void)state;
	sim_base(&l->s, &m, 1, 10, PP_BY_EXEC, 10 * MIB);
	sim_grow(&l->s, &m, 10, PP_ANON, 123456 * 4096, 10 * MS);
	sim_grow(&l->s, &m, 10, PP_ANON, -123456 * 4096, 1);
	l->s.ns += 3000 * MS;
	sim_mark(&l->s, &m, 10, "spike");
	live_frame(l, 24, 80, true);
	assert_int_equal(l->b.peak.bytes, 10 * MIB + 123456 * 4096ull);
	assert_int_equal(l->b.peak.at_ns, 1010 * MS);
	live_has(l, "of the peak 492.3 MiB (spike, 3.00 s ago)");
	live_keys(l, "p");
	live_has(l, "at +0.01 s, live +3.01 s");
	live_free(l);
	sim_mm_free(&m);
}

static void frozen_while_it_goes_on(void **state)
{
	struct sim_mm m;
	struct live *l = two_phases(&m);

	(void)state;
	live_frame(l, 24, 80, true);
	live_keys(l, " ");
	sim_hog(&l->s, &m, 10, 100);
	live_sample(l, &m);
	sim_end(&l->s, &m, 10, 2);
	sim_end(&l->s, &m, 10, 1);
	l->s.ns += 1000 * MS;
	live_frame(l, 24, 80, true);
	live_has(l, "at +2.51 s, live +3.51 s");
	live_has(l, "+2.51 s 80.0 MiB");
	live_has(l, "    join");
	live_keys(l, " ");
	live_has(l, "now 180.0 MiB");
	live_lacks(l, "    join");
	live_free(l);
	sim_mm_free(&m);
}

static void what_was_open_at_a_moment(void **state)
{
	struct live *l = live_new();
	const struct board_process *bp;
	struct phase open[4];
	struct sim_mm m;

	(void)state;
	sim_base(&l->s, &m, 1, 10, PP_BY_EXEC, 10 * MIB);
	sim_begin(&l->s, &m, 10, "a", 1); /* 1001 ms */
	sim_hog(&l->s, &m, 10, 5);
	live_sample(l, &m);
	sim_begin(&l->s, &m, 10, "b", 2); /* 1003 */
	sim_hog(&l->s, &m, 10, 50);
	live_sample(l, &m);
	sim_end(&l->s, &m, 10, 2); /* 1005 */
	sim_hog(&l->s, &m, 10, -40);
	live_sample(l, &m);
	sim_end(&l->s, &m, 10, 1); /* 1007 */
	live_feed(l);
	bp = board_find(&l->b, 1);
	assert_int_equal(board_open_at(&l->b, bp, 1004 * MS, false, open, 4), 2);
	assert_memory_equal(open[0].label.bytes, "a", 1);
	assert_memory_equal(open[1].label.bytes, "b", 1);
	assert_int_equal(open[0].end_bytes, 65 * MIB);
	assert_int_equal(board_open_at(&l->b, bp, 1006 * MS, false, open, 4), 1);
	assert_int_equal(open[0].end_bytes, 25 * MIB);
	assert_int_equal(open[0].peak.bytes, 65 * MIB);
	assert_int_equal(board_open_at(&l->b, bp, 1004 * MS, false, open, 1), 1);
	assert_memory_equal(open[0].label.bytes, "a", 1);
	assert_int_equal(board_open_at(&l->b, bp, 999 * MS, false, open, 4), 0);
	live_free(l);
	sim_mm_free(&m);
}

/*
 * A shell forks, the child becomes another program (its parent is what it was before), which forks:
 * one line each, below each other.
 */
static void a_tree(void **state)
{
	struct live *l = live_new();
	struct sim_mm sh, fork, python, worker, last;

	(void)state;
	sim_base(&l->s, &sh, 1, 10, PP_BY_EXEC, 2 * MIB);
	sim_base(&l->s, &fork, 2, 11, PP_BY_FORK, 2 * MIB)->edge.parent_mm_id = 1;
	l->s.ns += MS;
	sim_edge(&l->s, &fork, PP_EXEC, 11);
	sim_base(&l->s, &python, 3, 11, PP_BY_EXEC, 8 * MIB)->edge.parent_mm_id = 2;
	sim_base(&l->s, &worker, 4, 12, PP_BY_FORK, 8 * MIB)->edge.parent_mm_id = 3;
	sim_begin(&l->s, &worker, 12, "work", 1);
	sim_hog(&l->s, &worker, 12, 60);
	sim_exit(&l->s, &worker, 12, 9);
	live_frame(l, 24, 100, true);
	live_has(l, "\n10 (1) [etl]");
	live_has(l, "\n  11 (1) [etl]");
	live_has(l, "\n    12 (1) [e");
	live_has(l, "SIGKILL");
	live_has(l, "2 of 3 processes"); /* an image and what it became are one */
	/* One that became another, and another, and marked before that: below itself. */
	sim_mark(&l->s, &python, 11, "early");
	sim_edge(&l->s, &python, PP_EXEC, 11);
	sim_base(&l->s, &last, 5, 11, PP_BY_EXEC, 8 * MIB)->edge.parent_mm_id = 3;
	live_frame(l, 24, 100, true);
	live_has(l, "\n  11 (1) [etl]  ended by exec");
	live_has(l, "\n    11 (1) [etl]  ");
	live_has(l, "\n    12 (1) [e");
	live_keys(l, "n");
	live_has(l, "in [work]");
	live_keys(l, "nt");
	live_has(l, "\n12 (1) [e");
	/* A filter leaves what fits, and the phases by themselves. */
	live_keys(l, "t/wor\n");
	live_lacks(l, "\n10 ");
	live_free(l);
	sim_mm_free(&sh);
	sim_mm_free(&fork);
	sim_mm_free(&python);
	sim_mm_free(&worker);
	sim_mm_free(&last);
}

/* What it held at its death, not what its teardown left of it; when that was. */
static void an_ended_process(void **state)
{
	struct live *l = live_new();
	struct sim_mm a, b;

	(void)state;
	sim_base(&l->s, &a, 1, 10, PP_BY_EXEC, 10 * MIB);
	sim_base(&l->s, &b, 2, 11, PP_BY_FORK, 20 * MIB)->edge.parent_mm_id = 1;
	sim_mark(&l->s, &b, 11, "m");
	sim_hog(&l->s, &b, 11, 70);
	sim_hog(&l->s, &b, 11, -40);
	l->s.ns += 500 * MS;
	sim_exit(&l->s, &b, 11, 9);
	l->s.ns += 3000 * MS;
	live_frame(l, 24, 120, true);
	/*            time       now   peak MiB     grew     kept    spike */
	live_has(l, "0.50 s      0.0       90.0     70.0     30.0     40.0");
	live_keys(l, "j");
	for (int i = 0; i < 5 && l->facts.selected.mm_id != 2; i++)
		live_keys(l, "j");
	live_keys(l, "\n");
	live_frame(l, 24, 120, true);
	live_has(l, "killed by signal 9 (SIGKILL) at +0.50 s; peak 90.0 MiB");
	live_keys(l, "\033");
	sim_exit(&l->s, &a, 10, 0);
	live_over(l, 0);
	live_frame(l, 24, 120, true);
	live_has(l, "RSS sum 0.0 (peak 100.0) MiB");
	live_has(l, "exit status 0 at +3.51 s; peak 90.0 MiB ((after), pid 11, at +0.00 s)");
	live_free(l);
	sim_mm_free(&a);
	sim_mm_free(&b);
}

/* On a screen without a timeline the keys lead to the same moments. */
static void without_a_timeline(void **state)
{
	struct sim_mm m;
	struct live *l = two_phases(&m);

	(void)state;
	for (int rows = 24; rows >= 4; rows -= 10) {
		live_frame(l, rows, 60, true);
		assert_int_equal(l->facts.peak_ns, 1504 * MS);
		assert_int_equal(l->facts.before_ns, 1503 * MS); /* join began */
		assert_int_equal(l->facts.after_ns, TOP_NOW);
		assert_int_equal(l->facts.step_ns, 2505 * MS / 52);
	}
	live_free(l);
	sim_mm_free(&m);
}

/* A message stands beside the keys, and goes by itself or with the next key. */
static void messages_go(void **state)
{
	struct live *l = live_new();

	(void)state;
	top_state_say(&l->state, "written to x.txt");
	live_frame(l, 24, 80, true);
	live_has(l, "\nq quit  ? help  written to x.txt\n");
	top_state_tick(&l->state, &l->facts, 2000 * MS);
	live_frame(l, 24, 80, true);
	live_has(l, "written to");
	top_state_tick(&l->state, &l->facts, 7000 * MS);
	live_frame(l, 24, 80, true);
	live_has(l, "\nq quit  ? help  Enter into");
	top_state_say(&l->state, "written to x.txt");
	live_keys(l, "?");
	live_has(l, "\nq quit  any other key back\n");
	live_free(l);
}

/* Who it was stays, whatever the room: pid, container, program; arguments go. */
static void names_in_little_room(void **state)
{
	static const char args[] = "/usr/bin/python3\0-u\0/srv/etl/run_all.py\0--all";
	struct cgroup c = {.id = 77, .runtime = "docker", .name = "web-1"};
	struct live *l = live_new();
	struct event *e;
	struct sim_mm m, all, none, cut;

	(void)state;
	e = sim_base(&l->s, &m, 1, 22977, PP_BY_ATTACH, 10 * MIB);
	e->edge.cgroup_id = 77;
	memcpy(e->edge.args, args, sizeof(args));
	e->edge.args_len = sizeof(args);
	board_cgroup(&l->b, &c);
	live_frame(l, 24, 80, true);
	live_has(l, "\n22977 (1 web-1) python3     ");
	live_frame(l, 24, 170, true);
	live_has(l, "\n22977 (1 web-1) python3 -u /srv/etl/run_all.py --all  ");
	sim_exit(&l->s, &m, 22977, 9)->edge.exit_flags = PP_EXIT_OOM;
	live_frame(l, 24, 110, true);
	live_has(l, "\n22977 (1 web-1) python3  OOM kill ");
	live_frame(l, 24, 80, true);
	live_has(l, "\n22977 python3  OOM kill ");
	live_keys(l, "/etl\n");
	live_has(l, "\n22977 ");
	live_keys(l, "\033\033");
	/* As many bytes as are kept, and not one NUL; nothing but NULs. */
	e = sim_base(&l->s, &all, 2, 22978, PP_BY_FORK, 10 * MIB);
	memset(e->edge.args, '/', PP_ARGS_MAX);
	e->edge.args_len = PP_ARGS_MAX;
	e = sim_base(&l->s, &none, 3, 22979, PP_BY_FORK, 10 * MIB);
	e->edge.args_len = PP_ARGS_MAX;
	e = sim_base(&l->s, &cut, 4, 22980, PP_BY_FORK, 10 * MIB);
	memset(e->edge.args, 'x', PP_ARGS_MAX);
	memcpy(e->edge.args, "a/b", 4);
	e->edge.args_len = PP_ARGS_MAX;
	live_frame(l, 24, 80, true);
	live_has(l, "\n22978 (1) / ");
	live_has(l, "\n22979 (1) [etl] ");
	live_has(l, "\n22980 (1) b xxxx");
	live_frame(l, 24, 300, true);
	live_has(l, "xxxxxxxx... ");
	live_free(l);
	sim_mm_free(&m);
	sim_mm_free(&all);
	sim_mm_free(&none);
	sim_mm_free(&cut);
}

/* The peak of two processes is that of their common time, not of both peaks. */
static void a_sum_of_processes(void **state)
{
	struct live *l = live_new();
	struct sim_mm a, b;

	(void)state;
	sim_base(&l->s, &a, 1, 10, PP_BY_EXEC, 10 * MIB);
	sim_base(&l->s, &b, 2, 11, PP_BY_FORK, 10 * MIB)->edge.parent_mm_id = 1;
	sim_begin(&l->s, &a, 10, "first", 1);
	sim_hog(&l->s, &a, 10, 200);
	sim_hog(&l->s, &a, 10, -200);
	sim_end(&l->s, &a, 10, 1);
	sim_begin(&l->s, &b, 11, "second", 1);
	sim_hog(&l->s, &b, 11, 150);
	sim_hog(&l->s, &b, 11, -150);
	sim_end(&l->s, &b, 11, 1);
	live_frame(l, 24, 100, true);
	assert_int_equal(l->b.peak.bytes, 220 * MIB);
	live_has(l, "RSS sum 20.0 MiB");
	live_has(l, "peak 220.0 MiB (first,");
	live_free(l);
	sim_mm_free(&a);
	sim_mm_free(&b);
}

/* 3,000 threads that mark, and 5 that do not. */
static void threads_by_the_thousand(void **state)
{
	struct live *l = live_new();
	struct sim_mm m;
	size_t n;

	(void)state;
	sim_base(&l->s, &m, 1, 10, PP_BY_EXEC, 10 * MIB);
	for (unsigned i = 1; i <= 3005; i++) {
		m.thread[(10 + i) % SIM_TIDS] = (struct sim_tally){0};
		sim_edge(&l->s, &m, PP_THREAD, 10 + i);
		if (i > 3000)
			continue;
		sim_begin(&l->s, &m, 10 + i, i == 2999 ? "last" : "work", i);
		sim_hog(&l->s, &m, 10 + i, i == 2998 ? 500 : i == 2999 ? 50 : 1);
		sim_mark(&l->s, &m, 10 + i, "step");
		if (i < 2995) {
			sim_end(&l->s, &m, 10 + i, i);
			sim_edge(&l->s, &m, PP_THREAD_EXIT, 10 + i);
		}
	}
	live_frame(l, 24, 80, true);
	assert_true(l->b.nthreads <= THREADS_EACH_MAX);
	assert_int_equal(l->b.nthreads, threads_count(&board_find(&l->b, 1)->threads));
	live_keys(l, "\n");
	live_has(l, "10 (1) [etl]");
	live_has(l, "phases of the process");
	/* Eight threads, the largest first, then how many there are besides. */
	for (int i = 0; i < 40; i++)
		if (l->facts.selected.start_win != TOP_THREAD || l->facts.selected.id)
			live_keys(l, "j");
	live_has(l, " more threads, 6 without marks");
	live_keys(l, "\n");
	live_has(l, "threads of the process");
	live_has(l, "\nthread 3008  work ");
	live_has(l, "~500.0");
	live_has(l, "thread 3009  last");
	live_has(l, "ended");
	live_lacks(l, "more threads");
	live_keys(l, "/3009\n");
	live_has(l, "thread 3009");
	live_lacks(l, "thread 3008");
	/* A tid that is used again is another thread. */
	n = l->b.nthreads;
	sim_edge(&l->s, &m, PP_THREAD, 3009);
	live_frame(l, 24, 80, true);
	assert_int_equal(l->b.nthreads, n - 1);
	live_lacks(l, "thread 3009");
	live_over(l, -1);
	live_frame(l, 24, 80, true);
	live_free(l);
	sim_mm_free(&m);
}

/* The container, the pid inside; the members of a process's memory. */
static void in_a_container(void **state)
{
	struct cgroup c = {.id = 77, .runtime = "docker", .name = "web-1\n", .container = "3f2a"};
	struct cgroup none = {.id = 78, .path = "/user.slice"};
	struct live *l = live_new();
	struct sim_mm m, out;

	(void)state;
	sim_base(&l->s, &m, 1, 1191, PP_BY_ATTACH, 10 * MIB)->edge.cgroup_id = 77;
	sim_base(&l->s, &out, 2, 1200, PP_BY_FORK, 10 * MIB)->edge.cgroup_id = 78;
	sim_grow(&l->s, &m, 1191, PP_FILE, 3 * (int64_t)MIB, MS);
	sim_mark(&l->s, &m, 1191, "in");
	board_cgroup(&l->b, &c);
	board_cgroup(&l->b, &none);
	assert_null(board_cgroup_of(&l->b, 78));
	live_frame(l, 24, 120, true);
	live_has(l, "\n1191 (1 web-1\\n) [etl]");
	live_has(l, "\n1200 (1) [etl]");
	live_keys(l, "\n");
	live_frame(l, 24, 120, true);
	live_has(l, "\n1191 (1 in docker web-1\\n) [etl]");
	live_has(l, "now anon 10.0 file 3.0 shmem 0.0 swap 0.0 MiB");
	live_lacks(l, "thread");
	live_keys(l, "\033/docker\n");
	live_has(l, "\n1191 ");
	live_lacks(l, "\n1200 ");
	live_free(l);
	sim_mm_free(&m);
	sim_mm_free(&out);
}

/* A script's small processes do not bury the one with the phases. */
static void small_ones_are_one_row(void **state)
{
	struct live *l = live_new();
	struct sim_mm sh, m;

	(void)state;
	sim_base(&l->s, &sh, 1, 10, PP_BY_EXEC, 2 * MIB);
	for (unsigned i = 0; i < 80; i++) {
		l->s.ns += MS;
		sim_base(&l->s, &m, 2 + i, 100 + i, PP_BY_FORK, (i == 9 ? 7 : 3) * MIB)
		    ->edge.parent_mm_id = 1;
		if (i == 40)
			sim_mark(&l->s, &m, 140, "phase");
		if (i == 50)
			sim_hog(&l->s, &m, 150, 90);
		if (i == 60)
			l->s.ns += 1001 * MS;
		/* 70 fails by a signal. */
		sim_exit(&l->s, &m, 100 + i, i == 70 ? 11 : 0);
		sim_mm_free(&m);
	}
	live_frame(l, 40, 100, true);
	live_has(l, "\n76 processes of less than a second without marks: largest peak 7.0");
	live_has(l, "\n10 (1)");
	live_has(l, "\n  140 (1)");
	live_lacks(l, "\n  109 (1)");
	/* As it was then: the three that had ended are no row yet. */
	l->state.at_ns = 1007 * MS;
	live_frame(l, 40, 100, true);
	live_has(l, "\n  102 (1)");
	live_lacks(l, "without marks");
	live_keys(l, "G");
	sim_exit(&l->s, &sh, 10, 0);
	live_over(l, 0);
	live_frame(l, 40, 100, true);
	live_has(l, "\n10 (1)");
	live_has(l, "\n  140 (1)");
	live_has(l, "\n  150 (1)");
	live_has(l, "\n  160 (1)");
	live_has(l, "\n  170 (1)");
	live_lacks(l, "\n  109 (1)");
	live_has(
	    l, "\n76 processes of less than a second without marks: largest peak 7.0 MiB (t: all)");
	live_keys(l, "t");
	live_has(l, "\n100 (1)");
	live_keys(l, "t/109\n");
	live_has(l, "109 (1)");
	live_free(l);
	sim_mm_free(&sh);
}

/* Many marks: so many are kept, with the largest peaks, and covered ones are gone. */
static void bounded(void **state)
{
	struct live *l = live_new();
	struct sim_mm m;
	size_t n = 3 * BOARD_PHASES_MAX;

	(void)state;
	sim_base(&l->s, &m, 1, 10, PP_BY_EXEC, 10 * MIB);
	for (size_t i = 0; i < n; i++) {
		sim_hog(&l->s, &m, 10, i == 1000 ? 500 : 1);
		sim_hog(&l->s, &m, 10, i == 1000 ? -500 : -1);
		sim_mark(&l->s, &m, 10, "m");
		m.nseen = 0;
	}
	live_keys(l, "f");
	assert_true(l->b.ndone < BOARD_PHASES_MAX);
	assert_int_equal(l->b.nphases, n);
	live_has(l, "510.0"); /* the largest one, of long ago */
	live_free(l);
	sim_mm_free(&m);
}

static void short_processes_by_the_thousand(void **state)
{
	struct live *l = live_new();
	struct sim_mm m;

	(void)state;
	for (unsigned i = 0; i < 3 * BOARD_PROCESSES_MAX; i++) {
		sim_base(&l->s, &m, 1 + i, 10 + i, PP_BY_FORK, i == 7 ? 900 * MIB : MIB);
		sim_exit(&l->s, &m, 10 + i, 0);
		sim_mm_free(&m);
	}
	live_frame(l, 24, 80, true);
	assert_true(l->b.nprocesses <= BOARD_PROCESSES_MAX);
	assert_int_equal(l->b.live, 0);
	assert_int_equal(l->b.begun, 3 * BOARD_PROCESSES_MAX);
	assert_non_null(board_find(&l->b, 8)); /* the peak's */
	live_has(l, "peak 900.0 MiB");
	live_free(l);
}

/* Any size, any page, nothing to show: it fits, and nothing breaks. */
static void any_size(void **state)
{
	static const int sizes[][2] = {{1, 1},	 {4, 10},  {2, 3},     {3, 80},	  {10, 40},
				       {24, 80}, {60, 19}, {100, 300}, {1000, 2}, {12, 1000}};
	static const char *const keys[] = {"",		 "f",  "n",	    "?",
					   "\033\033\n", "\n", "\033<<+++", "/zzz\n"};
	struct sim_mm m = {0};

	(void)state;
	for (int empty = 0; empty < 2; empty++) {
		struct live *l = empty ? live_new() : two_phases(&m);

		for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
			live_keys(l, keys[k]);
			for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
				live_frame(l, sizes[i][0], sizes[i][1], i & 1);
			}
		}
		live_free(l);
	}
	sim_mm_free(&m);
}

/* A recording may say anything: who is whose child, when, how much. */
static void lies(void **state)
{
	struct live *l = live_new();
	struct sim_mm a, b;
	struct event *e;

	(void)state;
	sim_base(&l->s, &a, 1, 10, PP_BY_FORK, UINT64_MAX / 2)->edge.parent_mm_id = 2;
	sim_base(&l->s, &b, 2, 11, PP_BY_FORK, UINT64_MAX / 2)->edge.parent_mm_id = 1;
	e = sim_mark(&l->s, &a, 10, "far");
	e->time_ns = UINT64_MAX - 5;
	e->edge.charge = 1;
	e->edge.limit = 0;
	e->edge.limiter = 7;
	sim_mark(&l->s, &b, 11, "near");
	for (int i = 0; i < 3; i++) {
		live_frame(l, 40, 120, true);
		live_keys(l, "fp[]<<>>++g G+ f\n\n\033\033");
	}
	live_over(l, -1);
	live_frame(l, 40, 120, true);
	live_free(l);
	sim_mm_free(&a);
	sim_mm_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(as_it_happens),
	    cmocka_unit_test(the_peak_is_exact),
	    cmocka_unit_test(frozen_while_it_goes_on),
	    cmocka_unit_test(what_was_open_at_a_moment),
	    cmocka_unit_test(a_tree),
	    cmocka_unit_test(an_ended_process),
	    cmocka_unit_test(without_a_timeline),
	    cmocka_unit_test(messages_go),
	    cmocka_unit_test(names_in_little_room),
	    cmocka_unit_test(a_sum_of_processes),
	    cmocka_unit_test(threads_by_the_thousand),
	    cmocka_unit_test(in_a_container),
	    cmocka_unit_test(small_ones_are_one_row),
	    cmocka_unit_test(bounded),
	    cmocka_unit_test(short_processes_by_the_thousand),
	    cmocka_unit_test(any_size),
	    cmocka_unit_test(lies),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
