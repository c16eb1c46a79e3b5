/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Phases that nothing ended: the tracer was killed, or goes on. */
#include "events.h"

/* A process of 10 MiB, and a span that thread 10 began in it. */
static struct model *begun(struct sim *s, struct sim_mm *m, struct got *g)
{
	struct model *model = got_model(g, 0);

	*s = (struct sim){.ns = 1000 * MS};
	sim_base(s, m, 1, 10, PP_BY_EXEC, 10 * MIB);
	sim_begin(s, m, 10, "sp", 1);
	return model;
}

struct previews {
	struct phase ph[4];
	size_t n;
};

static int keep(void *ctx, const struct phase *ph)
{
	struct previews *v = ctx;

	assert_true(v->n < 4);
	v->ph[v->n++] = *ph;
	return 0;
}

/* What is open now is as it would be if the recording ended now. */
static void same(const struct phase *a, const struct phase *b)
{
	assert_true(phase_open(a) && phase_open(b));
	assert_int_equal(a->ended_by, PH_BY_TRACE);
	assert_int_equal(a->ended_by, b->ended_by);
	assert_int_equal(a->grew_bytes, b->grew_bytes);
	assert_int_equal(a->faults_minor, b->faults_minor);
	assert_int_equal(a->faults_major, b->faults_major);
	assert_int_equal(a->start_bytes, b->start_bytes);
	assert_int_equal(a->end_bytes, b->end_bytes);
	assert_int_equal(a->peak.bytes, b->peak.bytes);
	assert_int_equal(a->end_ns, b->end_ns);
	assert_false(a->exact || b->exact);
}

/* Feeds all, looks at what is open, finishes, and compares the two. */
static void finish(struct sim *s, struct got *g, struct model *model)
{
	struct previews v = {.n = 0};
	size_t n;

	for (size_t i = 0; i < s->n; i++)
		assert_int_equal(model_feed(model, &s->ev[i]), 0);
	assert_int_equal(model_each_open(model, 1, s->ns, keep, &v), 0);
	n = g->n;
	assert_int_equal(model_finish(model, s->ns), 0);
	got_check(g, &g->pr[0]);
	/* Outermost first there, innermost first here. */
	for (size_t i = 0; i < v.n; i++)
		same(&v.ph[i], &g->ph[n + v.n - 1 - i]);
	model_free(&model);
}

static void done(struct sim *s, struct sim_mm *m, struct got *g)
{
	got_free(g);
	sim_free(s);
	sim_mm_free(m);
}

/* The timeline says what it grew by at least, and what it keeps; of its faults it says nothing. */
static void by_the_timeline(void **state)
{
	struct sim s;
	struct sim_mm m;
	struct got g;
	struct model *model = begun(&s, &m, &g);
	const struct phase *ph;

	(void)state;
	sim_hog(&s, &m, 10, 20);
	sim_sample(&s, &m);
	sim_hog(&s, &m, 10, -5);
	sim_sample(&s, &m);
	sim_hog(&s, &m, 10, 2);
	sim_sample(&s, &m);
	finish(&s, &g, model);
	ph = got_find(&g, "sp");
	assert_int_equal(ph->grew_bytes, 22 * MIB);
	assert_int_equal(phase_kept(ph), 17 * MIB);
	assert_int_equal(ph->peak.bytes, 30 * MIB);
	assert_int_equal(ph->faults_minor, EV_NONE);
	assert_int_equal(ph->faults_major, EV_NONE);
	assert_int_equal(g.pr[0].grew_bytes, 22 * MIB);
	done(&s, &m, &g);
}

/* No sample, no later edge: nothing is known of the growth, which is not that it was none. */
static void nothing_known(void **state)
{
	struct sim s;
	struct sim_mm m;
	struct got g;
	struct model *model = begun(&s, &m, &g);
	const struct phase *ph;

	(void)state;
	s.ns += 500 * MS;
	finish(&s, &g, model);
	ph = got_find(&g, "sp");
	assert_int_equal(ph->grew_bytes, EV_NONE);
	assert_int_equal(ph->faults_minor, EV_NONE);
	assert_int_equal(phase_kept(ph), 0);
	assert_int_equal(ph->end_ns - ph->start_ns, 500 * MS);
	done(&s, &m, &g);
}

/* Edges of its own thread within it are exact; what came after them is added where it is known. */
static void by_edges(void **state)
{
	struct sim s;
	struct sim_mm m;
	struct got g;
	struct model *model = begun(&s, &m, &g);
	const struct phase *ph;

	(void)state;
	sim_hog(&s, &m, 10, 8);
	sim_begin(&s, &m, 10, "in", 2);
	sim_hog(&s, &m, 10, 4);
	sim_sample(&s, &m);
	finish(&s, &g, model);
	ph = got_find(&g, "sp");
	assert_int_equal(ph->grew_bytes, 12 * MIB);
	assert_int_equal(ph->faults_minor, 8 * MIB / 4096);
	assert_int_equal(ph->faults_major, 0);
	ph = got_find(&g, "in");
	assert_int_equal(ph->grew_bytes, 4 * MIB);
	assert_int_equal(ph->faults_minor, EV_NONE);
	done(&s, &m, &g);
}

/* Whose a growth is the timeline does not say: with another thread it is not known to be ours. */
static void whose(void **state)
{
	struct sim s;
	struct sim_mm m;
	struct got g;
	struct model *model = begun(&s, &m, &g);
	const struct phase *ph;

	(void)state;
	s.ev[0].edge.threads = 2;
	sim_hog(&s, &m, 11, 20);
	sim_sample(&s, &m);
	finish(&s, &g, model);
	ph = got_find(&g, "sp");
	assert_int_equal(ph->grew_bytes, EV_NONE);
	assert_int_equal(phase_kept(ph), 20 * MIB);
	assert_int_equal(g.pr[0].grew_bytes, 20 * MIB);
	done(&s, &m, &g);
}

/* Of an implied phase it is that of all threads. */
static void implied(void **state)
{
	struct sim s = {.ns = 1000 * MS};
	struct sim_mm m;
	struct got g;
	struct model *model = got_model(&g, 0);
	const struct phase *ph;

	(void)state;
	sim_base(&s, &m, 1, 10, PP_BY_ATTACH, 10 * MIB)->edge.threads = 2;
	sim_hog(&s, &m, 11, 20);
	sim_sample(&s, &m);
	finish(&s, &g, model);
	ph = got_kind(&g, PH_STARTUP);
	assert_int_equal(ph->grew_bytes, 20 * MIB);
	assert_int_equal(ph->faults_minor, EV_NONE);
	done(&s, &m, &g);
}

/* The end of the tracing is an edge: all is known, also that there was nothing. */
static void detached(void **state)
{
	struct sim s;
	struct sim_mm m;
	struct got g;
	struct model *model = begun(&s, &m, &g);
	const struct phase *ph;

	(void)state;
	s.ns += MS;
	sim_edge(&s, &m, PP_DETACH, 10);
	sim_run(&s, &g, model);
	ph = got_find(&g, "sp");
	assert_false(phase_open(ph));
	assert_true(ph->exact);
	assert_int_equal(ph->ended_by, PH_BY_TRACE);
	assert_int_equal(ph->grew_bytes, 0);
	assert_int_equal(ph->faults_minor, 0);
	model_free(&model);
	done(&s, &m, &g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(by_the_timeline), cmocka_unit_test(nothing_known),
	    cmocka_unit_test(by_edges),	       cmocka_unit_test(whose),
	    cmocka_unit_test(implied),	       cmocka_unit_test(detached),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
