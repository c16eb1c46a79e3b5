/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Random programs against the plainest possible reference: it keeps every RSS there ever was, every
 * begin and every end, and finds each phase's peak by looking at all instants between the two.
 */
#include "events.h"
#include "why_check.h"

#define STREAMS 400
#define STEPS 300
#define LONG_STREAMS 12
#define LONG_STEPS 3000
#define THREADS 4

struct want {
	bool checkpoint, open;
	uint64_t token;
	uint32_t tid, ended_tid;
	uint64_t begin_win, end_win, begin_ns, end_ns, begin_rss, end_rss;
	uint64_t begin_grew, end_grew; /* of its thread; end: at that thread's last edge */
	bool seen;
};

struct world {
	struct sim s;
	struct sim_mm m;
	struct want w[LONG_STEPS + 8];
	size_t n;
	uint64_t token;
	/* Of each thread: its last checkpoint or its beginning, and its counters at its last edge.
	 */
	struct want from[THREADS];
	uint64_t grew_seen[THREADS];
	int64_t drift; /* MiB added to each change */
	uint64_t rng;
};

static uint32_t roll(struct world *w, uint32_t n)
{
	w->rng ^= w->rng << 13;
	w->rng ^= w->rng >> 7;
	w->rng ^= w->rng << 17;
	return (uint32_t)((w->rng >> 16) % n);
}

static uint32_t tid_of(uint32_t i)
{
	return i ? 20 + i : 10;
}

static void start_of(struct world *w, struct want *x, uint32_t i)
{
	*x = (struct want){
	    .tid = tid_of(i),
	    .begin_win = w->m.win - 1,
	    .begin_ns = w->s.ns,
	    .begin_rss = ev_rss(&w->m.now),
	    .begin_grew = w->m.thread[tid_of(i) % SIM_TIDS].grew,
	};
}

static void end_of(struct world *w, struct want *x)
{
	x->open = false;
	x->end_win = w->m.win - 1;
	x->end_ns = w->s.ns;
	x->end_rss = ev_rss(&w->m.now);
}

static void saw(struct world *w, uint32_t i)
{
	w->grew_seen[i] = w->m.thread[tid_of(i) % SIM_TIDS].grew;
}

static void step_mark(struct world *w, uint32_t i)
{
	struct want *x = &w->w[w->n++];

	sim_mark(&w->s, &w->m, tid_of(i), "c");
	saw(w, i);
	*x = w->from[i];
	x->checkpoint = true;
	x->tid = tid_of(i);
	end_of(w, x);
	x->end_grew = w->grew_seen[i];
	start_of(w, &w->from[i], i);
}

static void step_begin(struct world *w, uint32_t i)
{
	struct want *x = &w->w[w->n++];

	sim_begin(&w->s, &w->m, tid_of(i), "s", ++w->token);
	saw(w, i);
	start_of(w, x, i);
	x->token = w->token;
	x->open = true;
}

static void step_end(struct world *w, uint32_t i)
{
	size_t open[LONG_STEPS + 8], n = 0;
	struct want *x;

	for (size_t k = 0; k < w->n; k++)
		if (w->w[k].open)
			open[n++] = k;
	if (!n)
		return;
	/* Mostly the newest, as nesting has it; sometimes any, on any thread. */
	x = &w->w[open[roll(w, 4) ? n - 1 : roll(w, (uint32_t)n)]];
	if (roll(w, 8))
		i = x->tid == 10 ? 0 : x->tid - 20;
	sim_end(&w->s, &w->m, tid_of(i), x->token);
	saw(w, i);
	end_of(w, x);
	x->end_grew = w->grew_seen[x->tid == 10 ? 0 : x->tid - 20];
}

static void step(struct world *w, const uint32_t mix[3])
{
	uint32_t i = roll(w, THREADS), what = roll(w, 100);
	int64_t mib = (int64_t)roll(w, 40) - 18 + w->drift;

	if (what < mix[0]) {
		step_mark(w, i);
	} else if (what < mix[1]) {
		step_begin(w, i);
	} else if (what < mix[2]) {
		step_end(w, i);
	} else {
		if ((int64_t)w->m.now.m[PP_ANON] + mib * (int64_t)MIB < 0)
			mib = -mib;
		w->s.ns += roll(w, 3) * MS;
		sim_hog(&w->s, &w->m, roll(w, 20) ? tid_of(i) : 0, mib);
	}
}

static uint64_t look(const struct world *w, uint64_t from_win, uint64_t to_win, uint64_t *at)
{
	uint64_t most = 0;

	for (size_t i = 0; i < w->m.nseen; i++) {
		const struct sim_instant *x = &w->m.seen[i];

		/* The last instant of a window is the edge; the next begins with a copy of it. */
		if (x->win > from_win && x->win <= to_win && (x->rss > most || !*at)) {
			most = x->rss;
			*at = x->ns;
		}
	}
	return most;
}

static void compare(struct world *w, const struct phase *p)
{
	uint64_t at = 0, most = look(w, p->start_win, p->end_win, &at);

	assert_int_equal(p->peak.bytes, most);
	assert_int_equal(p->peak.at_ns, at);
	assert_int_equal(p->anon_peak, most); /* nothing else is there */
	assert_int_equal(p->file_peak, 0);
	assert_true(p->peak.members_exact && p->exact);
	if (p->kind >= PH_STARTUP)
		return;
	for (size_t i = 0; i < w->n; i++) {
		struct want *x = &w->w[i];

		if (x->seen || x->checkpoint != (p->kind == PH_CHECKPOINT) || x->tid != p->tid ||
		    x->token != p->token || x->end_win != p->end_win)
			continue;
		x->seen = true;
		assert_int_equal(p->start_win, x->begin_win);
		assert_int_equal(p->start_ns, x->begin_ns);
		assert_int_equal(p->end_ns, x->end_ns);
		assert_int_equal(p->start_bytes, x->begin_rss);
		assert_int_equal(p->end_bytes, x->end_rss);
		assert_int_equal(p->grew_bytes, x->end_grew - x->begin_grew);
		return;
	}
	fail_msg("a phase that nobody marked");
}

/* Is every window of the process in some phase? Nothing hides between marks. */
static void covered(const struct world *w, const struct got *g)
{
	for (uint64_t win = 1; win < w->m.win; win++) {
		bool in = false;

		for (size_t i = 0; i < g->n && !in; i++)
			in = g->ph[i].start_win < win && win <= g->ph[i].end_win;
		assert_true(in);
	}
}

/* Two labelled phases overlap by the words of overlap.c, seen from outside and afterwards. */
static bool share(const struct phase *a, const struct phase *b)
{
	bool nested = (a->start_win <= b->start_win && b->end_win <= a->end_win) ||
		      (b->start_win <= a->start_win && a->end_win <= b->end_win);

	if (a->end_win <= b->start_win || b->end_win <= a->start_win)
		return false;
	return a->tid != b->tid || !nested;
}

/* What a checkpoint that was not known yet would have said is the one exception. */
static void overlaps(const struct got *g)
{
	for (size_t i = 0; i < g->n; i++) {
		const struct phase *p = &g->ph[i];
		bool yes = false;

		for (size_t j = 0; j < g->n && !yes; j++) {
			const struct phase *q = &g->ph[j];

			if (i == j || q->kind >= PH_STARTUP)
				continue;
			if (q->kind == PH_CHECKPOINT && q->end_win > p->end_win)
				continue;
			yes = share(p, q);
		}
		assert_int_equal(p->overlaps, yes && p->kind < PH_STARTUP);
	}
}

static void shuffle(struct world *w)
{
	/* Neighbours change places, as CPUs race: no record is more than a few places off. */
	for (size_t i = 0; i + 1 < w->s.n; i++) {
		struct event t = w->s.ev[i];

		if (roll(w, 4))
			continue;
		w->s.ev[i] = w->s.ev[i + 1];
		w->s.ev[i + 1] = t;
	}
}

static void one(uint64_t seed, const uint32_t mix[3], bool reorder, int steps)
{
	struct world *w = calloc(1, sizeof(*w));
	struct got g;
	struct model *m = got_model(&g, 0);

	assert_non_null(w);
	w->rng = seed * 0x9e3779b97f4a7c15ull + 1;
	w->s.ns = 5000 * MS;
	/* Falling from on high the stacks are at their fullest, and have to be compacted. */
	w->drift = steps == LONG_STEPS ? -12 : 0;
	sim_base(&w->s, &w->m, seed, 10, PP_BY_EXEC, (steps == LONG_STEPS ? 40000 : 20) * MIB);
	for (uint32_t i = 0; i < THREADS; i++) {
		if (i) {
			w->s.ns += MS;
			sim_edge(&w->s, &w->m, PP_THREAD, tid_of(i));
		}
		start_of(w, &w->from[i], i);
	}
	for (int i = 0; i < steps; i++)
		step(w, mix);
	sim_exit(&w->s, &w->m, 10, 0);
	saw(w, 0);
	for (size_t i = 0; i < w->n; i++) {
		if (!w->w[i].open)
			continue;
		end_of(w, &w->w[i]);
		w->w[i].end_grew = w->grew_seen[w->w[i].tid == 10 ? 0 : w->w[i].tid - 20];
	}
	if (reorder)
		shuffle(w);
	sim_run(&w->s, &g, m);
	assert_int_equal(g.npr, 1);
	for (size_t i = 0; i < g.n; i++)
		compare(w, &g.ph[i]);
	for (size_t i = 0; i < w->n; i++)
		assert_true(w->w[i].seen);
	covered(w, &g);
	overlaps(&g);
	if (steps == STEPS)
		why_check_all(&w->m, &g, g.n / 8 + 1);
	assert_int_equal(model_counts(m)->bad_ends, 0);
	model_free(&m);
	got_free(&g);
	sim_mm_free(&w->m);
	sim_free(&w->s);
	free(w);
}

static void spans(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < STREAMS; i++)
		one(i, (uint32_t[]){0, 25, 50}, false, STEPS);
}

static void checkpoints(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < STREAMS; i++)
		one(i, (uint32_t[]){40, 40, 40}, false, STEPS);
}

static void both(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < STREAMS; i++)
		one(i, (uint32_t[]){15, 35, 55}, false, STEPS);
}

static void both_out_of_order(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < STREAMS; i++)
		one(i, (uint32_t[]){15, 35, 55}, true, STEPS);
}

static void falling(void **state)
{
	(void)state;
	for (uint64_t i = 1; i <= LONG_STREAMS; i++)
		one(i, i % 2 ? (uint32_t[]){0, 30, 56} : (uint32_t[]){8, 34, 59}, i % 3 == 0,
		    LONG_STEPS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(spans),   cmocka_unit_test(checkpoints),
	    cmocka_unit_test(both),    cmocka_unit_test(both_out_of_order),
	    cmocka_unit_test(falling),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
