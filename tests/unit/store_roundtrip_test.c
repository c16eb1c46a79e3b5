/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What goes into a recording comes out of it, to the bit. */
#include "store_fixture.h"

#define EVENTS 3000
#define PHASES 1200
#define MMS 3

static struct random seed(void)
{
	return (struct random){.state = 0x9e3779b97f4a7c15ull};
}

struct check {
	struct random r;
	unsigned n;
	uint64_t mm_id;
};

static int same_event(void *ctx, const struct event *ev)
{
	struct check *c = ctx;
	struct event want;

	rnd_event(&c->r, &want);
	assert_memory_equal(ev, &want, sizeof(want));
	c->n++;
	return 0;
}

static int same_sample(void *ctx, const struct event *ev)
{
	struct check *c = ctx;
	struct event want;

	do
		rnd_event(&c->r, &want);
	while (want.kind != PP_SAMPLE || want.mm_id != c->mm_id);
	assert_memory_equal(ev, &want, sizeof(want));
	c->n++;
	return 0;
}

static unsigned count_samples(uint64_t mm_id)
{
	struct random r = seed();
	struct event ev;
	unsigned n = 0;

	for (int i = 0; i < EVENTS; i++) {
		rnd_event(&r, &ev);
		n += ev.kind == PP_SAMPLE && ev.mm_id == mm_id;
	}
	return n;
}

static int stop_at_third(void *ctx, const struct event *ev)
{
	(void)ev;
	return ++*(unsigned *)ctx == 3 ? 77 : 0;
}

static void test_events(void **state)
{
	struct run_info info = plain_info();
	struct run_end end = {.status = -1};
	struct check c = {.r = seed()};
	struct random r = seed();
	struct recording *rec;
	struct folder f;
	struct store *s;
	struct event ev;
	unsigned n = 0;

	(void)state;
	folder_make(&f);
	assert_int_equal(store_create(&s, f.file, &info), 0);
	for (int i = 0; i < EVENTS; i++) {
		rnd_event(&r, &ev);
		assert_int_equal(store_event(s, &ev), 0);
	}
	ev.kind = PP_KIND_MAX;
	assert_int_equal(store_event(s, &ev), -EINVAL);
	assert_int_equal(store_dropped(s), 1);
	assert_int_equal(store_close(&s, &end), 0);
	assert_null(s);
	assert_int_equal(recording_open(&rec, f.file), 0);
	assert_int_equal(recording_each_event(rec, same_event, &c), 0);
	assert_int_equal(c.n, EVENTS);
	for (uint64_t mm = 1; mm <= 5; mm++) {
		struct check cs = {.r = seed(), .mm_id = mm};

		assert_int_equal(recording_each_sample(rec, mm, same_sample, &cs), 0);
		assert_int_equal(cs.n, count_samples(mm));
		assert_true(cs.n > 20);
	}
	assert_int_equal(recording_each_event(rec, stop_at_third, &n), 77);
	assert_int_equal(n, 3);
	recording_close(&rec);
	folder_remove(&f);
}

#define WINDOW_NS 1000u

static struct phase phases[PHASES];
static struct phase_where where[PHASES][3];
static bool gone[PHASES];

struct got {
	unsigned n;
	const struct phase *last;
	bool at;
	uint64_t mm_id, win; /* win 0: at an instant */
};

/* Outer before inner: by start, later end first. At a window: implied ones before all others. */
static bool ordered(const struct got *g, const struct phase *b)
{
	const struct phase *a = g->last;

	if (!a)
		return true;
	if (g->at && (a->kind >= PH_STARTUP) != (b->kind >= PH_STARTUP))
		return a->kind >= PH_STARTUP;
	if (a->start_win != b->start_win)
		return a->start_win < b->start_win;
	if ((a->end_win > a->start_win) != (b->end_win > b->start_win))
		return a->end_win <= a->start_win;
	return a->end_win >= b->end_win;
}

static int same_phase(void *ctx, const struct phase *ph)
{
	struct got *g = ctx;
	const struct phase *want = &phases[ph->id - 1];
	struct phase plain = *ph;

	assert_false(gone[ph->id - 1]);
	assert_int_equal(ph->mm_id, g->mm_id);
	assert_int_equal(ph->nwhere, want->nwhere);
	for (uint32_t i = 0; i < ph->nwhere; i++)
		assert_memory_equal(&ph->where[i], &want->where[i], sizeof(ph->where[i]));
	plain.where = want->where;
	assert_memory_equal(&plain, want, sizeof(plain));
	if (g->win)
		assert_true(ph->start_win < g->win && g->win <= ph->end_win);
	assert_true(ordered(g, ph));
	g->last = want;
	g->n++;
	return 0;
}

static void make_phases(void)
{
	struct random r = seed();

	for (int i = 0; i < PHASES; i++) {
		rnd_phase(&r, &phases[i], (uint64_t)i + 1, 1 + (uint64_t)i % MMS);
		/* Windows are in the order of time; some share an instant. */
		phases[i].start_ns = phases[i].start_win / 2 * WINDOW_NS;
		phases[i].end_ns = phases[i].end_win / 2 * WINDOW_NS;
		phases[i].nwhere = (uint32_t)rnd_below(&r, 4);
		memset(where[i], 0, sizeof(where[i]));
		for (uint32_t k = 0; k < phases[i].nwhere; k++) {
			where[i][k].mapping = (uint32_t)rnd_below(&r, PP_MAPPING_MAX);
			rnd_text(&r, where[i][k].name, rnd_below(&r, PP_NAME_MAX));
			where[i][k].hits = rnd_u64(&r);
		}
		phases[i].where = phases[i].nwhere ? where[i] : NULL;
	}
}

/* Windows (40, 60] of mm 2: its implied phases there were covered. */
static unsigned cover(void)
{
	unsigned n = 0;

	for (int i = 0; i < PHASES; i++) {
		gone[i] = phases[i].mm_id == 2 && phases[i].kind >= PH_STARTUP &&
			  phases[i].start_win >= 40 && phases[i].end_win <= 60;
		n += gone[i];
	}
	return n;
}

static void check_at(struct recording *rec, uint64_t mm_id, uint64_t win)
{
	struct got g = {.at = true, .mm_id = mm_id, .win = win};
	unsigned want = 0;

	for (int i = 0; i < PHASES; i++)
		want += !gone[i] && phases[i].mm_id == mm_id && phases[i].start_win < win &&
			win <= phases[i].end_win;
	assert_int_equal(recording_phases_at(rec, mm_id, win, same_phase, &g), 0);
	assert_int_equal(g.n, want);
}

static void check_at_time(struct recording *rec, uint64_t mm_id, uint64_t ns)
{
	struct got g = {.at = true, .mm_id = mm_id};
	unsigned want = 0;

	for (int i = 0; i < PHASES; i++)
		want += !gone[i] && phases[i].mm_id == mm_id && phases[i].start_ns < ns &&
			ns <= phases[i].end_ns;
	assert_int_equal(recording_phases_at_time(rec, mm_id, ns, same_phase, &g), 0);
	assert_int_equal(g.n, want);
}

static void check_headroom(struct recording *rec, uint64_t mm_id)
{
	struct got g = {.mm_id = mm_id};
	uint64_t least = EV_NONE;
	unsigned want = 0;

	for (int i = 0; i < PHASES; i++)
		if (!gone[i] && phases[i].mm_id == mm_id && phases[i].headroom_min < least)
			least = phases[i].headroom_min;
	for (int i = 0; i < PHASES; i++)
		want += !gone[i] && phases[i].mm_id == mm_id && phases[i].headroom_min == least;
	assert_int_equal(recording_phases_of_headroom(rec, mm_id, least, same_phase, &g), 0);
	assert_int_equal(g.n, want);
	assert_true(want > 0);
}

static void test_phases(void **state)
{
	struct run_info info = plain_info();
	struct run_end end = {0};
	struct recording *rec;
	struct folder f;
	struct store *s;
	unsigned total = 0, covered;

	(void)state;
	folder_make(&f);
	make_phases();
	assert_int_equal(store_create(&s, f.file, &info), 0);
	for (int i = 0; i < PHASES; i++)
		assert_int_equal(store_phase(s, &phases[i]), 0);
	covered = cover();
	assert_true(covered > 5);
	assert_int_equal(store_covered(s, 2, 40, 60), 0);
	assert_int_equal(store_close(&s, &end), 0);
	assert_int_equal(recording_open(&rec, f.file), 0);
	for (uint64_t mm = 1; mm <= MMS; mm++) {
		struct got g = {.mm_id = mm};

		assert_int_equal(recording_each_phase(rec, mm, same_phase, &g), 0);
		total += g.n;
		for (uint64_t win = 0; win < 125; win++)
			check_at(rec, mm, win);
		for (uint64_t ns = 0; ns < 63 * WINDOW_NS; ns += WINDOW_NS / 2) {
			check_at_time(rec, mm, ns);
			check_at_time(rec, mm, ns + 1);
		}
		check_headroom(rec, mm);
	}
	assert_int_equal(total, PHASES - covered);
	recording_close(&rec);
	folder_remove(&f);
}

#define PROCESSES 200
static struct process processes[PROCESSES];
static uint64_t last_start;

static int same_process(void *ctx, const struct process *p)
{
	assert_true(p->mm_id >= 1 && p->mm_id <= PROCESSES);
	assert_memory_equal(p, &processes[p->mm_id - 1], sizeof(*p));
	assert_true(p->start_ns >= last_start);
	last_start = p->start_ns;
	++*(unsigned *)ctx;
	return 0;
}

static void test_processes_begun_and_ended(void **state)
{
	struct run_info info = plain_info();
	struct run_end end = {0};
	struct random r = seed();
	struct recording *rec;
	struct folder f;
	struct store *s;
	unsigned n = 0;

	(void)state;
	folder_make(&f);
	assert_int_equal(store_create(&s, f.file, &info), 0);
	/* Twice: the second replaces the first. */
	for (int i = 0; i < 2 * PROCESSES; i++) {
		rnd_process(&r, &processes[i % PROCESSES], 1 + (uint64_t)i % PROCESSES);
		assert_int_equal(store_process(s, &processes[i % PROCESSES]), 0);
	}
	assert_int_equal(store_close(&s, &end), 0);
	assert_int_equal(recording_open(&rec, f.file), 0);
	last_start = 0;
	assert_int_equal(recording_each_process(rec, same_process, &n), 0);
	assert_int_equal(n, PROCESSES);
	recording_close(&rec);
	folder_remove(&f);
}

static int same_share(void *ctx, const struct job_share *s)
{
	const struct job_share **want = ctx;

	assert_memory_equal(s, *want, sizeof(*s));
	++*want;
	return 0;
}

static void test_job(void **state)
{
	static const struct job_share shares[] = {{7, 500}, {2, 500}, {1ull << 62, 3}};
	/* Read in this order: largest first, then by mm. */
	static const struct job_share want[] = {{2, 500}, {7, 500}, {1ull << 62, 3}};
	const struct job_share *at = want;
	struct job job = {3, 1003, 42, 5, shares, 3, EV_NONE, 43, 7};
	struct run_info info = plain_info();
	struct run_end end = {0};
	struct recording *rec;
	struct folder f;
	struct store *s;

	(void)state;
	folder_make(&f);
	assert_int_equal(store_create(&s, f.file, &info), 0);
	assert_int_equal(store_job(s, &job), 0);
	assert_int_equal(store_close(&s, &end), 0);
	assert_int_equal(recording_open(&rec, f.file), 0);
	job.shares = NULL;
	job.nshares = 0;
	assert_memory_equal(&recording_end(rec)->job, &job, sizeof(job));
	assert_int_equal(recording_each_share(rec, same_share, &at), 0);
	assert_ptr_equal(at, want + 3);
	recording_close(&rec);
	folder_remove(&f);
}

static void test_cgroups(void **state)
{
	struct run_info info = plain_info();
	struct cgroup in = {.id = UINT64_MAX - 5, .runtime = "containerd"}, out;
	struct run_end end = {0};
	struct recording *rec;
	struct folder f;
	struct store *s;

	(void)state;
	/* As long as they may be, and any bytes. */
	memset(in.path, '/', sizeof(in.path) - 1);
	memset(in.container, 'f', sizeof(in.container) - 1);
	memset(in.name, '\xff', sizeof(in.name) - 1);
	strcpy(in.pod, "\033[2J");
	folder_make(&f);
	assert_int_equal(store_create(&s, f.file, &info), 0);
	assert_int_equal(store_cgroup(s, &(struct cgroup){.id = in.id, .path = "/before"}), 0);
	assert_int_equal(store_cgroup(s, &in), 0);
	assert_int_equal(store_close(&s, &end), 0);
	assert_int_equal(recording_open(&rec, f.file), 0);
	assert_int_equal(recording_cgroup(rec, in.id, &out), 1);
	assert_memory_equal(&out, &in, sizeof(in));
	assert_int_equal(recording_cgroup(rec, 5, &out), 0);
	assert_int_equal(recording_cgroup(rec, in.id, &out), 1);
	recording_close(&rec);
	folder_remove(&f);
}

static int keep_unheard(void *ctx, const struct unheard *u)
{
	struct unheard **at = ctx;

	*(*at)++ = *u;
	return 0;
}

static void test_unheard(void **state)
{
	struct run_info info = plain_info();
	struct unheard in[2] = {{.id = 1,
				 .mm_id = 7,
				 .pid = UINT32_MAX,
				 .from_ns = 5,
				 .to_ns = UINT64_MAX,
				 .looked = true,
				 .file = "/lib/\xff\n.so"},
				{.id = 2, .mm_id = 8}};
	struct unheard out[2], *at = out;
	struct run_end end = {0};
	struct recording *rec;
	struct folder f;
	struct store *s;

	(void)state;
	memset(in[1].file, 'f', sizeof(in[1].file) - 1);
	memset(out, 0, sizeof(out));
	folder_make(&f);
	assert_int_equal(store_create(&s, f.file, &info), 0);
	assert_int_equal(store_unheard(s, &in[0]), 0);
	assert_int_equal(store_unheard(s, &in[1]), 0);
	assert_int_equal(store_close(&s, &end), 0);
	assert_int_equal(recording_open(&rec, f.file), 0);
	assert_int_equal(recording_each_unheard(rec, keep_unheard, &at), 0);
	assert_ptr_equal(at, out + 2);
	assert_memory_equal(out, in, sizeof(in));
	recording_close(&rec);
	folder_remove(&f);
}

static void test_info_and_end(void **state)
{
	struct run_info info = plain_info();
	struct run_end end = {.end_ns = 42,
			      .losses = {1, 2, 3, 4, 5, UINT64_MAX},
			      .missed = 7,
			      .counts = {10, 11, 12, 13, 14, 15, 16},
			      .status = 0x8b};
	uint64_t losses[PP_LOSS_MAX] = {9, 9, 9, 9, 9, 9, 9};
	const struct run_info *i;
	const struct run_end *e;
	struct recording *rec;
	struct folder f;
	struct store *s;

	(void)state;
	folder_make(&f);
	info.machine = NULL;
	assert_int_equal(store_create(&s, f.file, &info), 0);
	assert_int_equal(store_losses(s, losses, 9), 0);
	assert_int_equal(store_reached(s, 41), 0);
	assert_int_equal(store_close(&s, &end), 0);
	assert_int_equal(recording_open(&rec, f.file), 0);
	i = recording_info(rec);
	e = recording_end(rec);
	assert_string_equal(i->version, info.version);
	assert_string_equal(i->kernel, info.kernel);
	assert_null(i->machine);
	assert_string_equal(i->command, info.command);
	assert_string_equal(i->mode, info.mode);
	assert_string_equal(i->options, info.options);
	assert_string_equal(i->counters, info.counters);
	assert_string_equal(i->probe, info.probe);
	assert_int_equal(i->wall_ns, info.wall_ns);
	assert_int_equal(i->mono_ns, info.mono_ns);
	assert_int_equal(i->boot_ns, info.boot_ns);
	assert_int_equal(i->boot_id_hash, info.boot_id_hash);
	assert_int_equal(i->page_size, 4096);
	assert_int_equal(i->cpus, 2);
	assert_int_equal(i->where_every, 64);
	assert_true(i->exact);
	assert_true(e->finished);
	assert_false(e->running);
	assert_int_equal(e->end_ns, 42);
	assert_memory_equal(e->losses, end.losses, sizeof(end.losses));
	assert_int_equal(e->missed, 7);
	assert_memory_equal(&e->counts, &end.counts, sizeof(end.counts));
	assert_int_equal(e->status, 0x8b);
	assert_int_equal(e->error, 0);
	assert_int_equal(e->dropped, 0);
	recording_close(&rec);
	folder_remove(&f);
}

/* More than the queue holds: the giver waits, nothing is dropped, memory stays bounded. */
static int count_event(void *ctx, const struct event *ev)
{
	unsigned *n = ctx;

	assert_int_equal(ev->edge.win.seq, *n);
	++*n;
	return 0;
}

static void test_more_than_the_queue_holds(void **state)
{
	const unsigned many = 60000; /* 400 bytes each: 24 MB through a lane of twice 8 MiB */
	struct run_info info = plain_info();
	struct run_end end = {0};
	struct recording *rec;
	struct folder f;
	struct store *s;
	struct event ev;
	unsigned n = 0;

	(void)state;
	folder_make(&f);
	assert_int_equal(store_create(&s, f.file, &info), 0);
	for (unsigned i = 0; i < many; i++) {
		plain_edge(&ev, PP_MARK, i, "flood");
		assert_int_equal(store_event(s, &ev), 0);
	}
	assert_int_equal(store_dropped(s), 0);
	assert_int_equal(store_close(&s, &end), 0);
	assert_int_equal(recording_open(&rec, f.file), 0);
	assert_int_equal(recording_each_event(rec, count_event, &n), 0);
	assert_int_equal(n, many);
	recording_close(&rec);
	folder_remove(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_events),
	    cmocka_unit_test(test_phases),
	    cmocka_unit_test(test_processes_begun_and_ended),
	    cmocka_unit_test(test_job),
	    cmocka_unit_test(test_cgroups),
	    cmocka_unit_test(test_unheard),
	    cmocka_unit_test(test_info_and_end),
	    cmocka_unit_test(test_more_than_the_queue_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
