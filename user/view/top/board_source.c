/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The board as a source of what views of a verdict ask for. */
#include "view/top/board.h"

#define OPEN_MAX 16u /* of one process; fewer are named */

static int each_process(void *ctx, report_process_fn fn, void *arg)
{
	const struct board *b = ctx;
	int err = 0;

	for (const struct board_process *bp = b->processes; bp && !err; bp = bp->hh.next)
		err = fn(arg, &bp->p);
	return err;
}

static int each_phase(void *ctx, uint64_t mm_id, report_phase_fn fn, void *arg)
{
	const struct board *b = ctx;
	const struct board_process *bp = board_find(b, mm_id);
	int err = 0;

	for (const struct board_phase *d = bp ? bp->phases : NULL; d && !err; d = d->older)
		err = fn(arg, &d->ph);
	if (!err && bp && b->model && !bp->ended)
		err = model_each_open(b->model, mm_id, b->last_ns, fn, arg);
	return err;
}

static int hand_out(const struct phase *open, size_t n, report_phase_fn fn, void *arg)
{
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		err = fn(arg, &open[i]);
	return err;
}

static int phases_at(void *ctx, uint64_t mm_id, uint64_t win, report_phase_fn fn, void *arg)
{
	const struct board_process *bp = board_find(ctx, mm_id);
	struct phase open[OPEN_MAX];

	return hand_out(open, bp ? board_open_in(ctx, bp, win, open, OPEN_MAX) : 0, fn, arg);
}

static int phases_at_time(void *ctx, uint64_t mm_id, uint64_t ns, report_phase_fn fn, void *arg)
{
	const struct board_process *bp = board_find(ctx, mm_id);
	struct phase open[OPEN_MAX];

	return hand_out(open, bp ? board_open_at(ctx, bp, ns, false, open, OPEN_MAX) : 0, fn, arg);
}

static int rss_at(void *ctx, uint64_t mm_id, uint64_t from_ns, uint64_t to_ns, uint64_t *bytes)
{
	const struct board_process *bp = board_find(ctx, mm_id);

	(void)from_ns;
	if (bp)
		*bytes = board_rss_at(bp, to_ns);
	return bp != NULL;
}

static int cgroup(void *ctx, uint64_t id, struct cgroup *out)
{
	const struct cgroup *c = board_cgroup_of(ctx, id);

	if (c)
		*out = *c;
	return c != NULL;
}

struct report_source board_source(struct board *b)
{
	return (struct report_source){
	    .ctx = b,
	    .run = &b->run,
	    .each_process = each_process,
	    .each_phase = each_phase,
	    .phases_at = phases_at,
	    .phases_at_time = phases_at_time,
	    .rss_at = rss_at,
	    .cgroup = cgroup,
	};
}

struct verdict_who board_who(const struct board *b, const struct verdict *v)
{
	const struct board_process *bp = v->traced ? board_find(b, v->mm_id) : NULL;

	if (!bp)
		return (struct verdict_who){0};
	return (struct verdict_who){bp->p.ns_pid, board_cgroup_of(b, bp->p.cgroup_id)};
}
