/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the board says of one moment: how large a process was, which phases were open in it. */
#include "view/top/board.h"

uint64_t board_rss_at(const struct board_process *bp, uint64_t at_ns)
{
	if (at_ns < bp->p.start_ns || (bp->gone && at_ns > bp->last_ns))
		return 0;
	/* Of the moment of the peak more is known than its bucket tells. */
	if (at_ns == bp->p.peak.at_ns)
		return bp->p.peak.bytes;
	return series_at(&bp->rss, at_ns);
}

const struct board_process *board_largest(const struct board *b)
{
	const struct board_process *found = b->processes;

	for (const struct board_process *bp = b->processes; bp; bp = bp->hh.next)
		if (bp->p.peak.bytes > found->p.peak.bytes)
			found = bp;
	return found;
}

struct collect {
	const struct board_process *bp;
	uint64_t at_ns;
	bool now;
	struct phase *out;
	size_t n, max;
};

static bool before(const struct phase *a, const struct phase *b)
{
	if (a->start_win != b->start_win)
		return a->start_win < b->start_win;
	if (a->end_win != b->end_win)
		return a->end_win > b->end_win;
	return a->kind > b->kind;
}

/* In its place; where there is no room the innermost go. */
static void insert(struct collect *c, const struct phase *ph)
{
	size_t i = c->n;

	while (i && before(ph, &c->out[i - 1]))
		i--;
	if (i == c->max)
		return;
	if (c->n < c->max)
		c->n++;
	memmove(&c->out[i + 1], &c->out[i], (c->n - 1 - i) * sizeof(*c->out));
	c->out[i] = *ph;
}

static void as_of(const struct collect *c, struct phase *ph)
{
	uint64_t min, max;

	ph->end_ns = c->at_ns;
	ph->end_bytes = board_rss_at(c->bp, c->at_ns);
	ph->grew_bytes = ph->shrank_bytes = ph->faults_minor = ph->faults_major = 0;
	if (ph->peak.at_ns <= c->at_ns)
		return;
	ph->exact = false;
	ph->peak = (struct peak){.bytes = ph->end_bytes, .at_ns = c->at_ns};
	if (series_range(&c->bp->rss, ph->start_ns, c->at_ns, &min, &max) && max > ph->peak.bytes)
		ph->peak.bytes = max;
}

static int collect(void *ctx, const struct phase *ph)
{
	struct collect *c = ctx;
	struct phase copy;

	if (ph->start_ns > c->at_ns)
		return 0;
	copy = *ph;
	if (!c->now)
		as_of(c, &copy);
	insert(c, &copy);
	return c->n == c->max && c->now;
}

static void each_open_at(const struct board *b, const struct board_process *bp, uint64_t at_ns,
			 bool now, int (*fn)(void *, const struct phase *), void *ctx)
{
	if (b->model && !bp->ended)
		model_each_open(b->model, bp->p.mm_id, at_ns, fn, ctx);
	if (now && !(b->over && bp->p.exit == PX_RUNNING))
		return;
	for (const struct board_phase *d = bp->phases; d; d = d->older)
		if (d->ph.end_ns > at_ns || (now && d->ph.ended_by == PH_BY_TRACE))
			fn(ctx, &d->ph);
}

size_t board_open_at(const struct board *b, const struct board_process *bp, uint64_t at_ns,
		     bool now, struct phase *out, size_t max)
{
	struct collect c = {bp, at_ns, now, out, 0, max};

	each_open_at(b, bp, at_ns, now, collect, &c);
	return c.n;
}

struct in_window {
	struct collect c;
	uint64_t win;
};

static int collect_in(void *ctx, const struct phase *ph)
{
	struct in_window *in = ctx;

	if (ph->start_win < in->win && in->win <= ph->end_win)
		insert(&in->c, ph);
	return 0;
}

size_t board_open_in(const struct board *b, const struct board_process *bp, uint64_t win,
		     struct phase *out, size_t max)
{
	struct in_window in = {.c = {.bp = bp, .out = out, .max = max}, .win = win};

	each_open_at(b, bp, 0, false, collect_in, &in);
	return in.c.n;
}

struct innermost {
	uint32_t tid;
	uint64_t at_ns;
	struct phase *out;
	bool found;
};

static int look(void *ctx, const struct phase *ph)
{
	struct innermost *in = ctx;

	if (ph->tid != in->tid || ph->kind >= PH_STARTUP || ph->start_ns > in->at_ns)
		return 0;
	if (in->found && ph->start_win < in->out->start_win)
		return 0;
	*in->out = *ph;
	in->found = true;
	return 0;
}

bool board_thread_open(const struct board *b, const struct board_process *bp, uint32_t tid,
		       uint64_t at_ns, bool now, struct phase *out)
{
	struct innermost in = {.tid = tid, .at_ns = at_ns, .out = out};

	each_open_at(b, bp, at_ns, now, look, &in);
	return in.found;
}
