/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One process from its base to its exit, as a cmocka state. */
#ifndef PEAKPHASE_TESTS_RUN_H
#define PEAKPHASE_TESTS_RUN_H

#include "events.h"

#define PID 10u

struct run {
	struct sim s;
	struct sim_mm m;
	struct got g;
	struct model *model;
};

/* Nothing has happened yet. */
static inline int run_set_up_empty(void **state)
{
	struct run *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	r->s.ns = 1000 * MS;
	r->model = got_model(&r->g, 0);
	*state = r;
	return 0;
}

static inline int run_set_up(void **state)
{
	struct run *r;

	run_set_up_empty(state);
	r = *state;
	sim_base(&r->s, &r->m, 1, PID, PP_BY_EXEC, 10 * MIB);
	return 0;
}

static inline int run_tear_down(void **state)
{
	struct run *r = *state;

	model_free(&r->model);
	assert_null(r->model);
	got_free(&r->g);
	sim_mm_free(&r->m);
	sim_free(&r->s);
	free(r);
	return 0;
}

static inline void finish(struct run *r, uint32_t code)
{
	sim_exit(&r->s, &r->m, PID, code);
	sim_run(&r->s, &r->g, r->model);
}

#endif
