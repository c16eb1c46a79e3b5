/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a program can make the model hold, and how long it takes. Memory is what malloc has handed
 * out and mapped (mallinfo2), so under a sanitizer, which has its own, only the counts are checked.
 */
#include <malloc.h>
#include <stdio.h>
#include <time.h>

#include "events.h"
#include "model/stack.h"

#define PID 10u

#ifdef __SANITIZE_ADDRESS__
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

static size_t memory(void)
{
	struct mallinfo2 i = mallinfo2();

	return i.uordblks + i.hblkhd;
}

struct count {
	uint64_t checkpoints, spans, cut, last_id;
	bool ordered;
};

static void count(void *ctx, const struct process *p, const struct phase *ph)
{
	struct count *c = ctx;

	(void)p;
	c->checkpoints += ph->kind == PH_CHECKPOINT;
	c->spans += ph->kind == PH_SPAN;
	c->cut += ph->kind == PH_SPAN && ph->ended_by == PH_BY_TRACE;
	c->ordered = c->ordered && ph->id == c->last_id + 1;
	c->last_id = ph->id;
}

struct rig {
	struct model *m;
	struct count c;
	struct event ev;
	uint64_t rss;
};

static void open_rig(struct rig *r, enum pp_reason reason)
{
	struct model_options opt = {0};
	struct model_sink sink = {.ctx = &r->c, .phase_ended = count};

	memset(r, 0, sizeof(*r));
	r->c.ordered = true;
	r->m = model_new(&opt, &sink);
	assert_non_null(r->m);
	r->ev.kind = PP_BASE;
	r->ev.mm_id = 1;
	r->ev.pid = r->ev.tid = PID;
	r->ev.edge.reason = reason;
	r->ev.edge.charge = r->ev.edge.limit = r->ev.edge.limiter = EV_NONE;
	r->ev.edge.win.charge_max = r->ev.edge.win.limiter_max = EV_NONE;
	assert_int_equal(model_feed(r->m, &r->ev), 0);
}

static void feed(struct rig *r, enum pp_kind kind, uint64_t token, uint64_t rss)
{
	struct ev_edge *e = &r->ev.edge;

	r->ev.kind = kind;
	r->ev.time_ns += 1000;
	e->win.seq = (e->win.seq + 1) & 0xffffff;
	e->now.m[PP_ANON] = rss;
	e->win.max = rss > r->rss ? rss : r->rss;
	e->win.max_at_ns = r->ev.time_ns;
	e->win.max_members.m[PP_ANON] = e->win.max;
	e->token = token;
	r->rss = rss;
	assert_int_equal(model_feed(r->m, &r->ev), 0);
}

/* A12: every mark a row, in order; memory is that of one. */
static void a12_a_hundred_thousand_marks(void **state)
{
	size_t before = memory();
	struct rig r;

	(void)state;
	open_rig(&r, PP_BY_EXEC);
	sim_label(&r.ev, "tight:loop");
	/* Falling RSS never pops a stack: the worst for its size. */
	for (uint64_t i = 0; i < 100000; i++)
		feed(&r, PP_MARK, 0, (200000 - i) * 4096);
	/* 640 KiB of it wait for the job's sum. */
	if (!SANITIZED)
		assert_true(memory() - before < (640 + 256) << 10);
	feed(&r, PP_EXIT, 0, 4096);
	assert_int_equal(r.c.checkpoints, 100000);
	assert_true(r.c.ordered);
	assert_int_equal(model_counts(r.m)->edges, 100002);
	model_free(&r.m);
}

/* Ten million begun and never ended: the oldest are let go, counted, and memory stays. */
static void spans_without_end(void **state)
{
	uint64_t n = SANITIZED ? 300000 : 10000000;
	size_t before = memory(), most = 0;
	struct rig r;

	(void)state;
	open_rig(&r, PP_BY_EXEC);
	r.ev.edge.label.len = PP_LABEL_MAX;
	for (uint64_t i = 0; i < n; i++) {
		feed(&r, PP_BEGIN, i, (20000000 - i) * 4096);
		if (i % 100000 == 0 && memory() - before > most)
			most = memory() - before;
	}
	assert_int_equal(r.c.cut, model_counts(r.m)->cut_open);
	assert_true(r.c.cut > n - 98304 && r.c.cut < n);
	feed(&r, PP_EXIT, 0, 4096);
	assert_int_equal(r.c.spans, n); /* none was dropped */
	/* 96 Ki of 224 bytes, labels up to 16 MiB, two stack entries each: 64 MiB. */
	if (!SANITIZED)
		assert_true(most < 64 << 20);
	model_free(&r.m);
}

/* All with one token: each hangs on the next, and cutting one takes no walk. */
static void one_token_for_all(void **state)
{
	uint64_t n = 400000;
	struct rig r;
	struct timespec a, b;

	(void)state;
	open_rig(&r, PP_BY_EXEC);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	for (uint64_t i = 0; i < n; i++)
		feed(&r, PP_BEGIN, 5, 4096);
	for (uint64_t i = 0; i < 90000; i++)
		feed(&r, PP_END, 5, 4096);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	assert_int_equal(r.c.spans - r.c.cut, 90000);
	assert_true(r.c.ordered);
	/* A walk over 90,000 open ones at each cut would be 10^10 steps: minutes, not seconds. */
	assert_true(b.tv_sec - a.tv_sec < 20);
	model_free(&r.m);
}

/* A hog's spans do not push out those of another process. */
static void a_hog_and_a_quiet_one(void **state)
{
	struct rig r;
	struct event quiet;

	(void)state;
	open_rig(&r, PP_BY_EXEC);
	quiet = r.ev;
	quiet.mm_id = 2;
	quiet.kind = PP_BASE;
	assert_int_equal(model_feed(r.m, &quiet), 0);
	quiet.kind = PP_BEGIN;
	quiet.edge.win.seq = 1;
	quiet.edge.token = 1;
	assert_int_equal(model_feed(r.m, &quiet), 0);
	for (uint64_t i = 0; i < 200000; i++)
		feed(&r, PP_BEGIN, i, 4096);
	quiet.kind = PP_END;
	quiet.edge.win.seq = 2;
	assert_int_equal(model_feed(r.m, &quiet), 0);
	assert_int_equal(model_counts(r.m)->bad_ends, 0); /* it was still open */
	assert_int_equal(r.c.spans - r.c.cut, 1);
	model_free(&r.m);
}

/* A million threads that never mark: their ends are not told. The one that does is not forgotten.
 */
static void threads_without_end(void **state)
{
	uint32_t n = SANITIZED ? 100000 : 1000000;
	size_t before = memory();
	struct rig r;

	(void)state;
	open_rig(&r, PP_BY_EXEC);
	feed(&r, PP_MARK, 0, 4096);
	for (uint32_t i = 0; i < n; i++) {
		r.ev.tid = 1000 + i;
		feed(&r, PP_THREAD, 0, 4096);
	}
	/* 32 Ki of 360 bytes, up to four stack entries of 64 each; what waits for the job's sum. */
	if (!SANITIZED)
		assert_true(memory() - before < 25 << 20);
	r.ev.tid = PID;
	feed(&r, PP_MARK, 0, 4096);
	assert_int_equal(r.c.checkpoints, 2);
	model_free(&r.m);
}

/* Edges that are no marks leave a gap open: what it began with is not forgotten. */
static void a_long_gap(void **state)
{
	struct got g;
	struct sim s = {0};
	struct sim_mm m;
	struct model *model = got_model(&g, 0);

	(void)state;
	s.ns = 100 * MS;
	sim_base(&s, &m, 1, PID, PP_BY_EXEC, 9000 * MIB);
	sim_begin(&s, &m, PID, "x", 1);
	sim_hog(&s, &m, PID, -1000);
	sim_end(&s, &m, PID, 1);
	sim_hog(&s, &m, PID, 500);
	for (int i = 0; i < 2000; i++) {
		sim_end(&s, &m, PID, 99); /* of nothing */
		sim_hog(&s, &m, PID, -2);
	}
	sim_exit(&s, &m, PID, 0);
	sim_run(&s, &g, model);
	assert_int_equal(got_kind(&g, PH_AFTER)->peak.bytes, 8500 * MIB);
	assert_int_equal(over_start(got_kind(&g, PH_AFTER)), 500);
	assert_int_equal(g.pr[0].bad_ends, 2000);
	model_free(&model);
	got_free(&g);
	sim_mm_free(&m);
	sim_free(&s);
}

/* The stack beside the plainest maximum there is, with starts that come and go. */
static void stack_against_a_list(void **state)
{
	enum { N = 20000, LIVE = 40 };
	uint64_t *value = calloc(N + 1, sizeof(*value)), start[LIVE] = {0},
		 rng = 88172645463325252ull;
	struct stack_key key;
	struct stack_point pt;
	struct stack s;
	size_t most = 0;

	(void)state;
	assert_non_null(value);
	stack_init(&s, true);
	for (uint64_t w = 1; w <= N; w++) {
		rng ^= rng << 13, rng ^= rng >> 7, rng ^= rng << 17;
		value[w] = w % 1000 < 700 ? N - w % 700 : rng % 50; /* falling runs, then noise */
		pt = (struct stack_point){.at_ns = w * 10};
		assert_int_equal(stack_push(&s, w, value[w], &pt), 0);
		most = s.n > most ? s.n : most;
		if (rng % 3 == 0) { /* the oldest start is done, a new one begins here */
			memmove(start, start + 1, (LIVE - 1) * sizeof(*start));
			start[LIVE - 1] = w;
		}
		for (int i = 0; i < LIVE; i += 7) {
			uint64_t top = 0, at = 0;

			for (uint64_t k = start[i] + 1; k <= w; k++)
				if (value[k] > top || !at)
					top = value[k], at = k;
			assert_int_equal(stack_max(&s, start[i], &key, &pt), at != 0);
			if (at) {
				assert_int_equal(key.value, top);
				assert_int_equal(key.win, at); /* the first of equal ones */
				assert_int_equal(pt.at_ns, at * 10);
			}
		}
		if (stack_due(&s)) {
			stack_keep_begin(&s);
			for (int i = 0; i < LIVE; i++)
				stack_keep(&s, start[i]);
			stack_keep_end(&s);
			assert_true(s.n <= LIVE);
		}
	}
	assert_true(most <= 256);
	stack_free(&s);
	free(value);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a12_a_hundred_thousand_marks),
	    cmocka_unit_test(spans_without_end),
	    cmocka_unit_test(one_token_for_all),
	    cmocka_unit_test(a_hog_and_a_quiet_one),
	    cmocka_unit_test(threads_without_end),
	    cmocka_unit_test(a_long_gap),
	    cmocka_unit_test(stack_against_a_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
