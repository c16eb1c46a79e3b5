/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Peaks explained, against the plainest possible reference: it goes from window to window and looks
 * among all phases for the one that each change belongs to.
 */
#ifndef PEAKPHASE_TESTS_WHY_CHECK_H
#define PEAKPHASE_TESTS_WHY_CHECK_H

#include "events.h"
#include "model/why.h"

#define WHY_NAMES 3 /* 's', 'c', implied */

struct why_ref {
	struct phase *ph; /* by start, as a recording hands them out */
	size_t n;
	uint64_t *edge; /* RSS at each */
};

static inline int why_by_start(const void *va, const void *vb)
{
	const struct phase *a = va, *b = vb;
	bool a_lasts = a->end_win > a->start_win, b_lasts = b->end_win > b->start_win;

	if (a->start_win != b->start_win)
		return a->start_win < b->start_win ? -1 : 1;
	if (a_lasts != b_lasts)
		return b_lasts ? -1 : 1;
	if (a->end_win != b->end_win)
		return a->end_win > b->end_win ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind > b->kind ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

static inline bool why_implied(const struct phase *ph)
{
	return ph->kind >= PH_STARTUP;
}

/* The last labelled one before i that has all of it, on its thread; -1: none. */
static inline long why_outer(const struct why_ref *r, long i)
{
	const struct phase *in = &r->ph[i];

	for (long k = i - 1; k >= 0; k--) {
		const struct phase *p = &r->ph[k];

		if (!why_implied(p) && p->end_win > p->start_win && p->tid == in->tid &&
		    p->start_win <= in->start_win && p->end_win >= in->end_win)
			return k;
	}
	return -1;
}

static inline long why_innermost(const struct why_ref *r, uint64_t win)
{
	long found = -1;

	for (size_t i = 0; i < r->n; i++) {
		const struct phase *p = &r->ph[i];

		if (p->start_win >= win || p->end_win < win)
			continue;
		if (found < 0 || !why_implied(p) || why_implied(&r->ph[found]))
			found = (long)i;
	}
	return found;
}

static inline enum why_part why_part_of(const struct why_ref *r, long i, long x, uint64_t win)
{
	const struct phase *p = &r->ph[i], *e = &r->ph[x];

	if (i == x)
		return WHY_INSIDE;
	for (long o = why_outer(r, i); o >= 0; o = why_outer(r, o))
		if (o == x)
			return WHY_INNER;
	if (p->end_win < win)
		return p->tid == e->tid && !why_implied(p) && why_outer(r, i) == why_outer(r, x)
			   ? WHY_SIBLING
			   : WHY_EARLIER;
	return p->tid == e->tid && p->start_win <= e->start_win && p->end_win >= e->end_win
		   ? WHY_OUTER
		   : WHY_BESIDE;
}

static inline int why_name_of(bool implied, char first)
{
	return implied ? 2 : first == 'c';
}

/* The explanation of phase x of r, line by line, is that of the reference. */
static inline void why_check(const struct why_ref *r, const struct process *p, long x)
{
	const struct phase *e = &r->ph[x];
	bool lasts = e->end_win > e->start_win;
	uint64_t win = lasts ? e->peak.win : e->start_win + 1;
	int64_t want[WHY_PARTS][WHY_NAMES] = {0}, total = 0;
	const struct why_row *rows;
	struct why *w;
	size_t n;
	int stop = 0;

	for (uint64_t at = 1; at <= win; at++) {
		uint64_t now = at < win ? r->edge[at] : e->peak.bytes;
		long i = why_innermost(r, at), o;

		if (i < 0) {
			assert_int_equal(now, r->edge[at - 1]);
			continue;
		}
		for (o = why_outer(r, i); o >= 0 && r->ph[o].end_win < win; o = why_outer(r, o))
			i = o;
		want[why_part_of(r, i, x, win)]
		    [why_name_of(why_implied(&r->ph[i]), r->ph[i].label.bytes[0])] +=
		    (int64_t)(now - r->edge[at - 1]);
	}
	assert_int_equal(why_begin(&w, p, &e->peak, e), 0);
	for (size_t i = 0; i < r->n && !stop; i++)
		stop = why_phase(w, &r->ph[i]);
	assert_true(stop >= 0);
	assert_int_equal(why_end(w, &rows, &n), 0);
	for (size_t i = 0; i < n; i++) {
		assert_true(!i || rows[i].bytes <= rows[i - 1].bytes);
		total += rows[i].bytes;
		assert_true(rows[i].part != WHY_UNKNOWN && rows[i].part != WHY_OTHERS);
		if (rows[i].part == WHY_START) {
			assert_int_equal(rows[i].bytes, p->baseline_bytes);
			continue;
		}
		want[rows[i].part][why_name_of(rows[i].name->implied, rows[i].name->bytes[0])] -=
		    rows[i].bytes;
	}
	assert_int_equal(total, e->peak.bytes);
	for (int part = 0; part < WHY_PARTS; part++)
		for (int k = 0; k < WHY_NAMES; k++)
			assert_int_equal(want[part][k], 0);
	why_free(&w);
}

/* Of every step-th phase that the model handed out. Exact streams only. */
static inline void why_check_all(const struct sim_mm *m, const struct got *g, size_t step)
{
	struct why_ref r = {.n = g->n};

	r.ph = calloc(g->n + 1, sizeof(*r.ph));
	r.edge = calloc(m->win + 2, sizeof(*r.edge));
	assert_true(r.ph && r.edge);
	memcpy(r.ph, g->ph, g->n * sizeof(*r.ph));
	qsort(r.ph, r.n, sizeof(*r.ph), why_by_start);
	for (size_t i = 0; i < m->nseen; i++)
		r.edge[m->seen[i].win] = m->seen[i].rss;
	for (size_t x = 0; x < r.n; x += step)
		why_check(&r, &g->pr[0], (long)x);
	free(r.ph);
	free(r.edge);
}

#endif
