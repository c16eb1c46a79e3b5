/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Recordings made by hand, always the same: scenes DIR writes DIR/NAME.peak for each of them, and
 * `scenes DIR many` one of 1,000 processes and 10,000 phases. What the screens of `top` are tested
 * with.
 */
#include <stdio.h>
#include <unistd.h>

#include "events.h"
#include "store/store.h"

#define PAGE 4096u
#define WEB 77 /* memory cgroup of a container */

static void on_process(void *ctx, const struct process *p)
{
	store_process(ctx, p);
}

static void on_phase(void *ctx, const struct process *p, const struct phase *ph)
{
	(void)p;
	store_phase(ctx, ph);
}

static void on_covered(void *ctx, uint64_t mm_id, uint64_t from_win, uint64_t to_win)
{
	store_covered(ctx, mm_id, from_win, to_win);
}

static void on_job(void *ctx, const struct job *j)
{
	store_job(ctx, j);
}

static void on_verdict(void *ctx, const struct process *p, const struct verdict *v)
{
	(void)p;
	store_verdict(ctx, v);
}

/* As `run` writes it. */
static void record(const struct sim *s, const char *path, const char *command, int status,
		   uint64_t lost)
{
	struct run_info info = {
	    .version = "0.1.0",
	    .kernel = "6.18.0",
	    .machine = "x86_64",
	    .command = command,
	    .mode = "run",
	    .options = "{}",
	    .counters = "percpu",
	    .probe = "nop5",
	    .wall_ns = 1700000000000000000,
	    .mono_ns = 1000000000,
	    .page_size = PAGE,
	    .cpus = 2,
	    .exact = true,
	};
	struct run_end end = {.finished = true, .end_ns = s->ns, .status = status};
	struct model_options mo = {0};
	struct cgroup web = {.id = WEB,
			     .path = "/docker/3f2a",
			     .runtime = "docker",
			     .container = "3f2a",
			     .name = "web-1"};
	struct store *store;
	struct model_sink sink;
	struct model *m;

	unlink(path);
	if (store_create(&store, path, &info))
		exit(1);
	sink = (struct model_sink){
	    .ctx = store,
	    .process_begun = on_process,
	    .phase_ended = on_phase,
	    .implied_covered = on_covered,
	    .process_ended = on_process,
	    .job = on_job,
	    .verdict = on_verdict,
	};
	store_cgroup(store, &web);
	m = model_new(&mo, &sink);
	for (size_t i = 0; i < s->n; i++) {
		store_event(store, &s->ev[i]);
		if (model_feed(m, &s->ev[i]))
			exit(1);
	}
	if (model_finish(m, s->ns))
		exit(1);
	end.losses[PP_LOSS_SAMPLES] = lost;
	end.counts = *model_counts(m);
	model_free(&m);
	if (store_close(&store, &end))
		exit(1);
}

/* The timeline's word on the open window. */
static void sample(struct sim *s, struct sim_mm *m)
{
	struct event *e = sim_event(s, m, PP_SAMPLE, m->pid);

	e->sample.seq = m->win;
	e->sample.now = m->now;
	e->sample.max = m->max;
	e->sample.min = m->min;
	e->sample.charge = m->charge;
}

/* mib more (or less) in steps, over ms; each a sample. */
static void ramp(struct sim *s, struct sim_mm *m, uint32_t tid, int mib, int ms)
{
	int steps = mib < 0 ? -mib : mib;

	if (steps > 40)
		steps = 40;
	for (int i = 0; i < steps; i++) {
		int64_t by = (int64_t)mib * (i + 1) / steps - (int64_t)mib * i / steps;

		sim_grow(s, m, tid, PP_ANON, by * (int64_t)MIB,
			 (uint64_t)ms * MS / (unsigned)steps);
		if (m->charge != EV_NONE) {
			m->charge += (uint64_t)by * MIB;
			m->limiter = m->charge;
			if (m->charge > m->charge_max)
				m->charge_max = m->limiter_max = m->charge;
		}
		sample(s, m);
	}
}

static void rest(struct sim *s, int ms)
{
	s->ns += (uint64_t)ms * MS;
}

static void name(struct event *e, const char *args, const char *comm, uint32_t ns_pid,
		 uint32_t ppid)
{
	struct ev_edge *d = &e->edge;

	d->args_len = (uint32_t)strlen(args) + 1;
	memcpy(d->args, args, d->args_len);
	for (uint32_t i = 0; i < d->args_len; i++)
		if (d->args[i] == ' ')
			d->args[i] = '\0';
	snprintf(d->comm, sizeof(d->comm), "%s", comm);
	d->ns_pid = ns_pid;
	d->ppid = ppid;
}

static struct sim begin_at(uint64_t ns)
{
	return (struct sim){.ns = ns};
}

static void limit(struct sim_mm *m, uint64_t charge, uint64_t at_most)
{
	m->charge = m->charge_max = m->limiter = m->limiter_max = charge * MIB;
	m->limit = at_most * MIB;
}

/* One process below a limit: spans, a spike of 2 ms, a checkpoint. */
static void pipeline(const char *path)
{
	struct sim s = begin_at(5000 * MS);
	struct sim_mm m;

	name(sim_base(&s, &m, 1, 4242, PP_BY_EXEC, 2 * MIB), "python3 etl.py --all", "python3",
	     4242, 4000);
	limit(&m, 60, 1024);
	rest(&s, 200);
	ramp(&s, &m, 4242, 46, 300);
	sim_begin(&s, &m, 4242, "load:users", 1);
	ramp(&s, &m, 4242, 210, 1500);
	rest(&s, 500);
	sim_end(&s, &m, 4242, 1);
	sim_begin(&s, &m, 4242, "transform:users", 2);
	ramp(&s, &m, 4242, 100, 800);
	sim_begin(&s, &m, 4242, "join", 3);
	ramp(&s, &m, 4242, 200, 1);
	ramp(&s, &m, 4242, -200, 1);
	ramp(&s, &m, 4242, 60, 700);
	rest(&s, 600);
	sim_end(&s, &m, 4242, 3);
	ramp(&s, &m, 4242, -180, 900);
	sim_end(&s, &m, 4242, 2);
	rest(&s, 900);
	sim_mark(&s, &m, 4242, "push");
	rest(&s, 300);
	ramp(&s, &m, 4242, -220, 200);
	sim_exit(&s, &m, 4242, 3 << 8);
	record(&s, path, "python3 etl.py --all", 3 << 8, 0);
	sim_mm_free(&m);
	sim_free(&s);
}

/* A parent with workers in a container: one is killed, two go on when the tracing ends. */
static void tree(const char *path)
{
	struct sim s = begin_at(5000 * MS);
	struct sim_mm p, w[3];
	static const char *const labels[] = {"worker:users", "worker:groups", "worker:roles"};
	struct event *e;

	e = sim_base(&s, &p, 1, 100, PP_BY_ATTACH, 80 * MIB);
	e->edge.cgroup_id = WEB;
	name(e, "gunicorn master", "gunicorn", 1, 90);
	rest(&s, 100);
	sim_begin(&s, &p, 100, "serve", 1);
	for (unsigned i = 0; i < 3; i++) {
		rest(&s, 150);
		e = sim_base(&s, &w[i], 2 + i, 101 + i, PP_BY_FORK, 80 * MIB);
		e->edge.parent_mm_id = 1;
		e->edge.cgroup_id = WEB;
		name(e, "gunicorn worker", "gunicorn", 7 + i, 100);
		sim_begin(&s, &w[i], 101 + i, labels[i], 1);
	}
	for (uint32_t tid = 112; tid <= 115; tid++)
		sim_edge(&s, &w[1], PP_THREAD, tid);
	for (int round = 0; round < 4; round++)
		for (unsigned i = 0; i < 3; i++) {
			ramp(&s, &w[i], 101 + i, 20 + 30 * (int)i, 120);
			if (round == 2 && i == 0)
				sim_begin(&s, &w[0], 101, "sql", 2);
		}
	sim_begin(&s, &w[1], 112, "flush", 2);
	ramp(&s, &w[1], 112, 25, 30);
	sim_mark(&s, &w[1], 112, "written");
	sim_mark(&s, &w[1], 113, "idle");
	rest(&s, 200);
	sim_exit(&s, &w[2], 103, 9);
	ramp(&s, &w[0], 101, -30, 300);
	rest(&s, 700);
	record(&s, path, "web-1", -1, 12);
	for (int i = 0; i < 3; i++)
		sim_mm_free(&w[i]);
	sim_mm_free(&p);
	sim_free(&s);
}

/* Labels that would move a cursor, turn text round, or take no or two columns. */
static void labels(const char *path)
{
	static const char *const marks[] = {
	    "plain",
	    "größe:日本語のデータ",
	    "e\xcc\x81"
	    "a\xcc\x8a\xcc\xa7 combining",
	    "\033]0;pwned\007\033[2J",
	    "rtl \xe2\x80\xaegnp.exe",
	    "tab\tnewline\n",
	    "(startup)",
	    "",
	    "日",
	    "a very long label whose end tells it apart from all the others: number one",
	    "a very long label whose end tells it apart from all the others: number two",
	};
	struct sim s = begin_at(5000 * MS);
	struct sim_mm m;

	name(sim_base(&s, &m, 1, 7, PP_BY_EXEC, 4 * MIB), "./labels \xff\033[31m", "labels", 7, 1);
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		ramp(&s, &m, 7, 10 + 3 * (int)i, 60);
		sim_mark(&s, &m, 7, marks[i]);
	}
	sim_exit(&s, &m, 7, 0);
	record(&s, path, "./labels \xff\033[31m", 0, 0);
	sim_mm_free(&m);
	sim_free(&s);
}

static void nothing(const char *path)
{
	struct sim s = begin_at(5000 * MS);

	record(&s, path, "true", 0, 0);
}

static void many(const char *path)
{
	struct sim s = begin_at(5000 * MS);
	struct sim_mm *m = calloc(1000, sizeof(*m));

	for (unsigned i = 0; i < 1000; i++) {
		struct event *e = sim_base(&s, &m[i], 1 + i, 1000 + i, PP_BY_FORK, 4 * MIB);

		e->edge.parent_mm_id = i ? 1 + i / 10 : 0;
		name(e, "worker --queue default", "worker", 1000 + i, 1);
		s.ns += MS;
	}
	for (unsigned k = 0; k < 10; k++)
		for (unsigned i = 0; i < 1000; i++) {
			char label[32];

			sim_hog(&s, &m[i], 1000 + i, 1 + (i * 7 + k) % 13);
			snprintf(label, sizeof(label), "task:%u", (i + k) % 37);
			sim_mark(&s, &m[i], 1000 + i, label);
			free(m[i].seen);
			m[i].seen = NULL;
			m[i].nseen = m[i].cap = 0;
		}
	record(&s, path, "workers", -1, 0);
	for (unsigned i = 0; i < 1000; i++)
		sim_mm_free(&m[i]);
	free(m);
	sim_free(&s);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*make)(const char *path);
	} scenes[] = {
	    {"pipeline", pipeline}, {"tree", tree}, {"labels", labels}, {"nothing", nothing}};
	char path[512];

	if (argc == 3 && !strcmp(argv[2], "many")) {
		snprintf(path, sizeof(path), "%s/many.peak", argv[1]);
		many(path);
		return 0;
	}
	if (argc != 2)
		return 2;
	for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s.peak", argv[1], scenes[i].name);
		scenes[i].make(path);
	}
	return 0;
}
