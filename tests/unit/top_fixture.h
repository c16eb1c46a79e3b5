/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A small kernel (events.h), a model and a board, as the tracer has them; and frames as text. */
#ifndef PEAKPHASE_TESTS_TOP_FIXTURE_H
#define PEAKPHASE_TESTS_TOP_FIXTURE_H

#include "events.h"

#include <stdio.h>

#include "view/top/layout.h"

struct live {
	struct sim s;
	size_t fed;
	struct model *model;
	struct board b;
	struct top_state state;
	struct top_facts facts;
	struct top_list *list;
	struct cells g;
	char *text;
};

static inline void live_begun(void *ctx, const struct process *p)
{
	board_process_begun(&((struct live *)ctx)->b, p);
}

static inline void live_phase(void *ctx, const struct process *p, const struct phase *ph)
{
	(void)p;
	board_phase_ended(&((struct live *)ctx)->b, ph);
}

static inline void live_covered(void *ctx, uint64_t mm_id, uint64_t from, uint64_t to)
{
	board_covered(&((struct live *)ctx)->b, mm_id, from, to);
}

static inline void live_ended(void *ctx, const struct process *p)
{
	board_process_ended(&((struct live *)ctx)->b, p);
}

static inline void live_verdict(void *ctx, const struct process *p, const struct verdict *v)
{
	(void)p;
	board_verdict(&((struct live *)ctx)->b, v);
}

static inline struct live *live_new(void)
{
	struct live *l = calloc(1, sizeof(*l));
	struct model_options opt = {0};
	struct model_sink sink = {.ctx = l,
				  .process_begun = live_begun,
				  .phase_ended = live_phase,
				  .implied_covered = live_covered,
				  .process_ended = live_ended,
				  .verdict = live_verdict};

	assert_non_null(l);
	l->s.ns = 1000 * MS;
	assert_int_equal(board_init(&l->b), 0);
	l->model = model_new(&opt, &sink);
	assert_non_null(l->model);
	l->b.model = l->model;
	l->list = top_list_new();
	assert_non_null(l->list);
	top_state_init(&l->state);
	return l;
}

static inline void live_free(struct live *l)
{
	model_free(&l->model);
	board_free(&l->b);
	top_list_free(&l->list);
	cells_free(&l->g);
	free(l->text);
	sim_free(&l->s);
	free(l);
}

/* What happened since the last time. */
static inline void live_feed(struct live *l)
{
	for (; l->fed < l->s.n; l->fed++) {
		assert_int_equal(model_feed(l->model, &l->s.ev[l->fed]), 0);
		board_event(&l->b, &l->s.ev[l->fed]);
	}
}

static inline void live_over(struct live *l, int status)
{
	live_feed(l);
	assert_int_equal(model_finish(l->model, l->s.ns), 0);
	board_over(&l->b, l->s.ns, status);
}

static inline void live_sample(struct live *l, struct sim_mm *m)
{
	struct event *e = sim_event(&l->s, m, PP_SAMPLE, m->pid);

	e->sample.seq = m->win & 0xffffff;
	e->sample.now = m->now;
	e->sample.max = m->max;
	e->sample.min = m->min;
	e->sample.charge = m->charge;
}

/* One frame of that size. */
static inline const char *live_frame(struct live *l, int rows, int cols, bool ascii)
{
	size_t len;
	FILE *f;

	live_feed(l);
	assert_int_equal(cells_reset(&l->g, rows, cols, ascii), 0);
	assert_int_equal(top_layout(&l->b, &l->state, &l->facts, l->list, &l->g, l->s.ns), 0);
	free(l->text);
	l->text = NULL;
	f = open_memstream(&l->text, &len);
	assert_non_null(f);
	cells_print(&l->g, f);
	assert_int_equal(fclose(f), 0);
	return l->text;
}

static inline void live_keys(struct live *l, const char *keys)
{
	for (; *keys; keys++) {
		uint32_t key = (unsigned char)*keys;

		top_state_key(&l->state, &l->facts,
			      key == '\n'     ? (uint32_t)TOP_KEY_ENTER
			      : key == '\033' ? (uint32_t)TOP_KEY_ESCAPE
					      : key);
		live_frame(l, 24, 80, true);
	}
}

static inline void live_has(const struct live *l, const char *what)
{
	if (!strstr(l->text, what)) {
		fputs(l->text, stderr);
		fail_msg("no \"%s\"", what);
	}
}

static inline void live_lacks(const struct live *l, const char *what)
{
	if (strstr(l->text, what)) {
		fputs(l->text, stderr);
		fail_msg("\"%s\"", what);
	}
}

#endif
