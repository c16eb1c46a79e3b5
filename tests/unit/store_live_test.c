/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Read while it is written, and after its tracer was killed. */
#include "store_fixture.h"

#include <signal.h>
#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#define MARKS_MAX 4000
/*
 * design.md: at most 100 ms behind. A machine that is busy with other tests can hold up a disk for
 * longer: one round of several has to keep it.
 */
#define BEHIND_NS 100000000ull
#define ROUNDS 8

/* What the child has given, and when; shared with it. */
struct given {
	_Atomic unsigned n;
	_Atomic uint64_t at_ns[MARKS_MAX];
	_Atomic bool stop;
};

static struct given *shared_new(void)
{
	struct given *g =
	    mmap(NULL, sizeof(*g), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(g, MAP_FAILED);
	return g;
}

/* One event a millisecond until told to stop; then a proper end. */
static pid_t start_writer(const char *path, struct given *g)
{
	struct run_info info = plain_info();
	struct run_end end = {.end_ns = 77};
	struct store *s;
	struct event ev;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid)
		return pid;
	if (store_create(&s, path, &info))
		_exit(1);
	for (unsigned i = 0; i < MARKS_MAX && !g->stop; i++) {
		plain_edge(&ev, i ? PP_MARK : PP_BASE, i, i ? "live" : "");
		no_base_extras(&ev);
		store_event(s, &ev);
		g->at_ns[i] = clock_ns();
		g->n = i + 1;
		usleep(1000);
	}
	_exit(store_close(&s, &end) ? 1 : 0);
}

static void wait_for(struct given *g, unsigned n)
{
	for (int i = 0; i < 2000 && g->n < n; i++)
		usleep(10000);
	assert_true(g->n >= n);
}

static int next_seq(void *ctx, const struct event *ev)
{
	unsigned *n = ctx;

	assert_int_equal(ev->edge.win.seq, *n);
	++*n;
	return 0;
}

static unsigned events_in(struct recording *r)
{
	unsigned n = 0;

	assert_int_equal(recording_each_event(r, next_seq, &n), 0);
	return n;
}

/* How many events were given longer ago than that. */
static unsigned given_before(const struct given *g, uint64_t ns)
{
	unsigned n = 0;

	while (n < g->n && g->at_ns[n] < ns)
		n++;
	return n;
}

static void test_read_while_written(void **state)
{
	struct given *g = shared_new();
	struct recording *r;
	struct folder f;
	unsigned before, now, due = 0;
	int status;
	pid_t pid;

	(void)state;
	folder_make(&f);
	pid = start_writer(f.file, g);
	wait_for(g, 300);
	assert_int_equal(recording_open(&r, f.file), 0);
	assert_true(recording_end(r)->running);
	assert_false(recording_end(r)->finished);
	before = events_in(r);
	/* The same reader sees what comes later. */
	wait_for(g, 600);
	for (int i = 0; i < ROUNDS; i++) {
		due = given_before(g, clock_ns() - BEHIND_NS);
		now = events_in(r);
		if (now >= due)
			break;
		usleep(100000);
	}
	assert_true(now > before);
	assert_true(now >= due);
	recording_close(&r);
	g->stop = true;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(recording_open(&r, f.file), 0);
	assert_false(recording_end(r)->running);
	assert_true(recording_end(r)->finished);
	assert_int_equal(events_in(r), g->n);
	recording_close(&r);
	munmap(g, sizeof(*g));
	folder_remove(&f);
}

struct rows {
	struct phase phases[MARKS_MAX + 2];
	struct process process;
	unsigned nphases, nprocesses;
};

static void keep_phase(void *ctx, const struct process *p, const struct phase *ph)
{
	struct rows *rows = ctx;

	(void)p;
	rows->phases[ph->id - 1] = *ph;
	rows->nphases++;
}

static void forget_covered(void *ctx, uint64_t mm_id, uint64_t from, uint64_t to)
{
	struct rows *rows = ctx;

	(void)mm_id;
	for (unsigned i = 0; i < MARKS_MAX + 2; i++) {
		struct phase *ph = &rows->phases[i];

		if (ph->id && ph->kind >= PH_STARTUP && ph->start_win >= from &&
		    ph->end_win <= to) {
			memset(ph, 0, sizeof(*ph));
			rows->nphases--;
		}
	}
}

static void keep_process(void *ctx, const struct process *p)
{
	struct rows *rows = ctx;

	rows->process = *p;
	rows->nprocesses++;
}

static int same_phase(void *ctx, const struct phase *ph)
{
	struct rows *rows = ctx;
	struct phase *want = &rows->phases[ph->id - 1];

	want->where = NULL;
	assert_memory_equal(&ph->label, &want->label, sizeof(want->label));
	assert_int_equal(ph->kind, want->kind);
	assert_int_equal(ph->ended_by, want->ended_by);
	assert_int_equal(ph->start_win, want->start_win);
	assert_int_equal(ph->end_win, want->end_win);
	assert_int_equal(ph->peak.bytes, want->peak.bytes);
	assert_int_equal(ph->grew_bytes, want->grew_bytes);
	rows->nphases--;
	return 0;
}

static int same_process(void *ctx, const struct process *p)
{
	struct rows *rows = ctx;

	assert_int_equal(p->peak.bytes, rows->process.peak.bytes);
	assert_int_equal(p->windows, rows->process.windows);
	assert_int_equal(p->exit, PX_RUNNING);
	rows->nprocesses++;
	return 0;
}

/* What the model makes of the first n events, straight. */
static void model_of(struct rows *rows, unsigned n)
{
	struct model_sink sink = {.ctx = rows,
				  .phase_ended = keep_phase,
				  .implied_covered = forget_covered,
				  .process_ended = keep_process};
	struct model_options opt = {0};
	struct model *m = model_new(&opt, &sink);
	struct event ev;

	assert_non_null(m);
	for (unsigned i = 0; i < n; i++) {
		plain_edge(&ev, i ? PP_MARK : PP_BASE, i, i ? "live" : "");
		no_base_extras(&ev);
		assert_int_equal(model_feed(m, &ev), 0);
	}
	assert_int_equal(model_finish(m, ev.time_ns), 0);
	model_free(&m);
}

/* Kills a tracer in the middle: how many events of those that were 100 ms old are missing? */
static unsigned kill_round(const char *path, struct recording **r, unsigned *n)
{
	struct given *g = shared_new();
	unsigned due;
	int status;
	pid_t pid;

	pid = start_writer(path, g);
	wait_for(g, 500);
	due = given_before(g, clock_ns() - BEHIND_NS);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(recording_open(r, path), 0);
	assert_false(recording_end(*r)->running);
	assert_false(recording_end(*r)->finished);
	*n = events_in(*r);
	munmap(g, sizeof(*g));
	return *n < due ? due - *n : 0;
}

static void test_killed_tracer(void **state)
{
	static struct rows rows;
	unsigned n, missing = 1;
	struct recording *r = NULL;
	struct folder f;

	(void)state;
	for (int i = 0; i < ROUNDS && missing; i++) {
		if (i) {
			recording_close(&r);
			folder_remove(&f);
		}
		folder_make(&f);
		missing = kill_round(f.file, &r, &n);
	}
	assert_int_equal(missing, 0);
	/* Phases and process, as if the tracing had ended with the last event that was committed.
	 */
	model_of(&rows, n);
	assert_int_equal(rows.nprocesses, 1);
	assert_true(rows.nphases >= n - 1);
	assert_int_equal(recording_each_phase(r, 1, same_phase, &rows), 0);
	assert_int_equal(rows.nphases, 0);
	assert_int_equal(recording_each_process(r, same_process, &rows), 0);
	assert_int_equal(rows.nprocesses, 2);
	assert_int_equal(recording_end(r)->counts.edges, n);
	assert_int_equal(recording_end(r)->end_ns, 1000000000 + (uint64_t)(n - 1) * 1000000);
	recording_close(&r);
	folder_remove(&f);
}

static int ends_at(void *ctx, const struct phase *ph)
{
	assert_int_equal(ph->end_ns, *(const uint64_t *)ctx);
	return 0;
}

/* A tracer that saw for 40 s that nothing happened, and died: that long what is open was open. */
static void test_reached(void **state)
{
	uint64_t until = 41000000000;
	struct run_info info = plain_info();
	struct recording *r;
	struct event ev;
	struct folder f;
	struct store *s;
	int status;
	pid_t pid;

	(void)state;
	folder_make(&f);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		if (store_create(&s, f.file, &info))
			_exit(1);
		plain_edge(&ev, PP_BASE, 0, "");
		no_base_extras(&ev);
		store_event(s, &ev);
		store_reached(s, until / 2);
		store_reached(s, until);
		usleep(BEHIND_NS * ROUNDS / 1000);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(recording_open(&r, f.file), 0);
	assert_false(recording_end(r)->finished);
	assert_int_equal(events_in(r), 1);
	assert_int_equal(recording_end(r)->end_ns, until);
	assert_int_equal(recording_each_phase(r, 1, ends_at, &until), 0);
	recording_close(&r);
	folder_remove(&f);
}

/*
 * Marks, each followed by its phase, until killed: at a rate at which many come while a batch of
 * edges is written, and too few for the writer to look at its edges again before it commits.
 */
static pid_t start_flood(const char *path)
{
	struct run_info info = plain_info();
	struct phase ph = {.mm_id = 1, .pid = 4242, .tid = 4242, .kind = PH_CHECKPOINT};
	struct event ev;
	struct store *s;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (store_create(&s, path, &info))
		_exit(1);
	for (unsigned i = 1; i < 200000; i++) {
		plain_edge(&ev, PP_MARK, i, "flood");
		store_event(s, &ev);
		ph.id = i;
		ph.end_win = i;
		store_phase(s, &ph);
		usleep(250);
	}
	_exit(2);
}

/* Whenever the tracer is killed, each phase that was committed has its edge. */
static void test_no_phase_before_its_edge(void **state)
{
	static const char count[] =
	    "SELECT (SELECT count(*) FROM phases), (SELECT count(*) FROM edges)";
	unsigned changes = 0, early = 0;
	sqlite3_int64 last = 0;
	sqlite3_stmt *st;
	struct folder f;
	sqlite3 *db;
	pid_t pid;

	(void)state;
	folder_make(&f);
	pid = start_flood(f.file);
	for (int i = 0; i < 1000 && !folder_has(&f, ""); i++)
		usleep(1000);
	assert_int_equal(sqlite3_open_v2(f.file, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	sqlite3_busy_timeout(db, 5000);
	for (int i = 0; i < 2000 && changes < 30; i++) {
		usleep(2000);
		if (sqlite3_prepare_v2(db, count, -1, &st, NULL))
			continue; /* not made yet */
		if (sqlite3_step(st) == SQLITE_ROW) {
			changes += sqlite3_column_int64(st, 1) != last;
			last = sqlite3_column_int64(st, 1);
			early += sqlite3_column_int64(st, 0) > last;
		}
		sqlite3_finalize(st);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	sqlite3_close(db);
	assert_true(changes >= 30);
	assert_int_equal(early, 0);
	folder_remove(&f);
}

static volatile sig_atomic_t handled_by;

static void on_signal(int sig)
{
	(void)sig;
	handled_by = gettid();
}

/* With the main thread's signals blocked, none may reach the writer's. */
static int signals_stay_out(void *ctx)
{
	struct run_info info = plain_info();
	struct run_end end = {0};
	struct store *s;
	sigset_t set;

	if (store_create(&s, ctx, &info))
		return 1;
	signal(SIGUSR1, on_signal);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	kill(getpid(), SIGUSR1);
	usleep(50000);
	if (handled_by)
		return 2;
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	if (handled_by != gettid())
		return 3;
	return store_close(&s, &end) ? 4 : 0;
}

static void test_signals_are_for_the_main_thread(void **state)
{
	struct folder f;

	(void)state;
	folder_make(&f);
	assert_int_equal(in_child(signals_stay_out, f.file), 0);
	folder_remove(&f);
}

/* An idle store sleeps: no wake-ups, next to no CPU time. */
static void test_idle_costs_nothing(void **state)
{
	struct run_info info = plain_info();
	struct run_end end = {0};
	struct folder f;
	struct store *s;
	clock_t before;

	(void)state;
	folder_make(&f);
	assert_int_equal(store_create(&s, f.file, &info), 0);
	usleep(50000);
	before = clock();
	usleep(300000);
	assert_true(clock() - before < CLOCKS_PER_SEC / 200); /* 5 ms */
	assert_int_equal(store_close(&s, &end), 0);
	folder_remove(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_read_while_written),
	    cmocka_unit_test(test_killed_tracer),
	    cmocka_unit_test(test_reached),
	    cmocka_unit_test(test_no_phase_before_its_edge),
	    cmocka_unit_test(test_signals_are_for_the_main_thread),
	    cmocka_unit_test(test_idle_costs_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
