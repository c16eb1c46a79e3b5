/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A kernel small enough for a test: memories that grow and shrink, threads that mark, and the
 * events that the BPF side would send of them; and a sink that keeps what the model hands out.
 * It also keeps every RSS there ever was, so that a test can find any peak by looking.
 */
#ifndef PEAKPHASE_TESTS_EVENTS_H
#define PEAKPHASE_TESTS_EVENTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"

#define MIB (1ull << 20)
#define MS 1000000ull
#define SIM_TIDS 64

struct sim_instant {
	uint64_t win, ns, rss; /* unwrapped number of the window */
};

struct sim_tally {
	uint64_t grew, shrank, minflt;
};

/* One mm. */
struct sim_mm {
	uint64_t id;
	uint32_t pid;
	uint64_t win; /* open window; wraps on the wire only */
	struct ev_members now, max_members, member_max;
	uint64_t max, max_at_ns, min, peak;
	uint64_t grew, shrank, ext_grew, ext_shrank;
	struct sim_tally thread[SIM_TIDS];
	uint64_t charge, charge_max, charge_max_at_ns, limit, limiter, limiter_max;
	uint32_t limit_level, lost;
	struct sim_instant *seen;
	size_t nseen, cap;
};

struct sim {
	uint64_t ns;
	struct event *ev; /* all events, in order */
	size_t n, cap;
};

static inline void *sim_room(void *p, size_t n, size_t *cap, size_t size)
{
	if (n < *cap)
		return p;
	*cap = *cap ? *cap * 2 : 64;
	p = realloc(p, *cap * size);
	assert_non_null(p);
	return p;
}

static inline void sim_see(struct sim *s, struct sim_mm *m)
{
	uint64_t rss = ev_rss(&m->now);

	if (rss > m->max) {
		m->max = rss;
		m->max_at_ns = s->ns;
		m->max_members = m->now;
	}
	for (int i = 0; i < PP_NMEMBERS; i++)
		if (m->now.m[i] > m->member_max.m[i])
			m->member_max.m[i] = m->now.m[i];
	if (rss < m->min)
		m->min = rss;
	if (rss > m->peak)
		m->peak = rss;
	m->seen = sim_room(m->seen, m->nseen, &m->cap, sizeof(*m->seen));
	m->seen[m->nseen++] = (struct sim_instant){m->win, s->ns, rss};
}

static inline struct event *sim_event(struct sim *s, struct sim_mm *m, enum pp_kind kind,
				      uint32_t tid)
{
	struct event *e;

	s->ev = sim_room(s->ev, s->n, &s->cap, sizeof(*s->ev));
	e = &s->ev[s->n++];
	memset(e, 0, sizeof(*e));
	e->kind = kind;
	e->time_ns = s->ns;
	e->mm_id = m->id;
	e->pid = m->pid;
	e->tid = tid;
	return e;
}

/* An edge: the window ends here, the next begins with what is now. */
static inline struct event *sim_edge(struct sim *s, struct sim_mm *m, enum pp_kind kind,
				     uint32_t tid)
{
	struct event *e = sim_event(s, m, kind, tid);
	struct ev_edge *d = &e->edge;
	struct sim_tally *t = &m->thread[tid % SIM_TIDS];

	d->now = m->now;
	d->win = (struct ev_window){
	    .seq = m->win & 0xffffff,
	    .max = m->max,
	    .max_at_ns = m->max_at_ns,
	    .max_members = m->max_members,
	    .member_max = m->member_max,
	    .min = m->min,
	    .charge_max = m->charge_max,
	    .charge_max_at_ns = m->charge_max_at_ns,
	    .limiter_max = m->limiter_max,
	};
	d->thread_grew = t->grew;
	d->thread_shrank = t->shrank;
	d->minflt = t->minflt;
	d->mm_grew = m->grew;
	d->mm_shrank = m->shrank;
	d->ext_grew = m->ext_grew;
	d->ext_shrank = m->ext_shrank;
	d->charge = m->charge;
	d->limit = m->limit;
	d->limiter = m->limiter;
	d->limit_level = m->limit_level;
	d->peak = m->peak;
	d->lost = m->lost;
	m->lost = 0;
	m->win++;
	m->max = 0;
	m->min = UINT64_MAX;
	m->member_max = m->now;
	m->charge_max = m->charge;
	m->charge_max_at_ns = s->ns;
	m->limiter_max = m->limiter;
	sim_see(s, m);
	return e;
}

/* The mark whose record the ring did not take: its window goes on. */
static inline void sim_lose(struct sim_mm *m)
{
	m->lost++;
}

/* A memory of `bytes` (ANON) begins to be traced. */
static inline struct event *sim_base(struct sim *s, struct sim_mm *m, uint64_t id, uint32_t pid,
				     enum pp_reason reason, uint64_t bytes)
{
	struct event *e;

	memset(m, 0, sizeof(*m));
	m->id = id;
	m->pid = pid;
	m->min = UINT64_MAX;
	m->charge = m->charge_max = m->limit = m->limiter = m->limiter_max = EV_NONE;
	m->now.m[PP_ANON] = bytes;
	sim_see(s, m);
	e = sim_edge(s, m, PP_BASE, pid);
	e->edge.reason = reason;
	e->edge.threads = 1;
	e->edge.ns_pid = 1;
	e->edge.ppid = 1;
	e->edge.start_boot_ns = s->ns + 7;
	memcpy(e->edge.comm, "etl", 4);
	return e;
}

/* delta ns later thread tid (0: another process) has changed a member by `bytes`. */
static inline void sim_grow(struct sim *s, struct sim_mm *m, uint32_t tid, enum pp_member member,
			    int64_t bytes, uint64_t delta)
{
	uint64_t by = (uint64_t)(bytes < 0 ? -bytes : bytes);
	struct sim_tally *t = &m->thread[tid % SIM_TIDS];

	s->ns += delta;
	m->now.m[member] += (uint64_t)bytes;
	if (!tid) {
		*(bytes < 0 ? &m->ext_shrank : &m->ext_grew) += by;
	} else {
		*(bytes < 0 ? &m->shrank : &m->grew) += by;
		*(bytes < 0 ? &t->shrank : &t->grew) += by;
		t->minflt += bytes > 0 ? by / 4096 : 0;
	}
	sim_see(s, m);
}

static inline void sim_hog(struct sim *s, struct sim_mm *m, uint32_t tid, int64_t mib)
{
	sim_grow(s, m, tid, PP_ANON, mib * (int64_t)MIB, MS);
}

static inline void sim_label(struct event *e, const char *label)
{
	e->edge.label.len = (uint16_t)strlen(label);
	memcpy(e->edge.label.bytes, label, e->edge.label.len);
	e->edge.label.hash = strlen(label);
}

static inline struct event *sim_mark(struct sim *s, struct sim_mm *m, uint32_t tid,
				     const char *label)
{
	struct event *e;

	s->ns += MS;
	e = sim_edge(s, m, PP_MARK, tid);
	sim_label(e, label);
	return e;
}

static inline struct event *sim_begin(struct sim *s, struct sim_mm *m, uint32_t tid,
				      const char *label, uint64_t token)
{
	struct event *e = sim_mark(s, m, tid, label);

	e->kind = PP_BEGIN;
	e->edge.token = token;
	return e;
}

static inline struct event *sim_end(struct sim *s, struct sim_mm *m, uint32_t tid, uint64_t token)
{
	struct event *e = sim_mark(s, m, tid, "");

	e->kind = PP_END;
	e->edge.token = token;
	return e;
}

static inline struct event *sim_exit(struct sim *s, struct sim_mm *m, uint32_t tid, uint32_t code)
{
	struct event *e;

	s->ns += MS;
	e = sim_edge(s, m, PP_EXIT, tid);
	e->edge.exit_code = code;
	return e;
}

/* Of another ring: may be fed later than edges that came after it. */
static inline struct event *sim_sample(struct sim *s, struct sim_mm *m)
{
	struct event *e = sim_event(s, m, PP_SAMPLE, m->pid);

	e->sample = (struct ev_sample){
	    .seq = m->win & 0xffffff,
	    .now = m->now,
	    .max = m->max,
	    .min = m->min,
	    .charge = m->charge,
	};
	return e;
}

static inline void sim_free(struct sim *s)
{
	free(s->ev);
	*s = (struct sim){0};
}

static inline void sim_mm_free(struct sim_mm *m)
{
	free(m->seen);
	m->seen = NULL;
}

/* What a model handed out. */
struct got {
	struct phase *ph; /* where: copied into `where` */
	struct phase_where (*where)[8];
	size_t n, cap, wcap;
	struct process pr[16];
	size_t npr, begun;
	struct verdict vd[16];
	size_t nvd;
	struct process revised[4];
	size_t nrevised;
	size_t covered; /* calls */
	struct job job;
	struct job_share shares[64];
};

static inline void got_begun(void *ctx, const struct process *p)
{
	struct got *g = ctx;

	(void)p;
	g->begun++;
}

static inline void got_phase(void *ctx, const struct process *p, const struct phase *ph)
{
	struct got *g = ctx;

	assert_int_equal(p->mm_id, ph->mm_id);
	g->ph = sim_room(g->ph, g->n, &g->cap, sizeof(*g->ph));
	g->where = sim_room(g->where, g->n, &g->wcap, sizeof(*g->where));
	g->ph[g->n] = *ph;
	for (uint32_t i = 0; i < ph->nwhere && i < 8; i++)
		g->where[g->n][i] = ph->where[i];
	g->ph[g->n++].where = NULL;
}

/* As the recording does: implied phases within are forgotten. */
static inline void got_covered(void *ctx, uint64_t mm_id, uint64_t from, uint64_t to)
{
	struct got *g = ctx;
	size_t kept = 0;

	g->covered++;
	for (size_t i = 0; i < g->n; i++) {
		const struct phase *p = &g->ph[i];

		if (p->kind >= PH_STARTUP && p->mm_id == mm_id && p->start_win >= from &&
		    p->end_win <= to)
			continue;
		g->ph[kept] = *p;
		memmove(g->where[kept++], g->where[i], sizeof(*g->where));
	}
	g->n = kept;
}

static inline void got_ended(void *ctx, const struct process *p)
{
	struct got *g = ctx;

	assert_true(g->npr < 16);
	g->pr[g->npr++] = *p;
}

static inline void got_job(void *ctx, const struct job *j)
{
	struct got *g = ctx;

	assert_true(j->nshares <= 64);
	g->job = *j;
	memcpy(g->shares, j->shares, j->nshares * sizeof(*j->shares));
	g->job.shares = g->shares;
}

static inline void got_verdict(void *ctx, const struct process *p, const struct verdict *v)
{
	struct got *g = ctx;

	assert_true(g->nvd < 16);
	assert_int_equal(p->mm_id, v->mm_id);
	g->vd[g->nvd++] = *v;
}

static inline void got_revised(void *ctx, const struct process *p)
{
	struct got *g = ctx;

	assert_true(g->nrevised < 4);
	g->revised[g->nrevised++] = *p;
}

static inline void got_free(struct got *g)
{
	free(g->ph);
	free(g->where);
	*g = (struct got){0};
}

static inline struct model *got_model_with(struct got *g, const struct model_options *opt)
{
	struct model_sink sink = {
	    .ctx = g,
	    .process_begun = got_begun,
	    .phase_ended = got_phase,
	    .implied_covered = got_covered,
	    .process_ended = got_ended,
	    .process_revised = got_revised,
	    .verdict = got_verdict,
	    .job = got_job,
	};
	struct model *m;

	*g = (struct got){0};
	m = model_new(opt, &sink);
	assert_non_null(m);
	return m;
}

static inline struct model *got_model(struct got *g, uint64_t error_per_thread)
{
	return got_model_with(g, &(struct model_options){.error_per_thread = error_per_thread});
}

static inline const struct phase *got_find(const struct got *g, const char *label)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->ph[i].label.len == strlen(label) &&
		    !memcmp(g->ph[i].label.bytes, label, strlen(label)))
			return &g->ph[i];
	fail_msg("no phase %s", label);
	return NULL;
}

static inline const struct phase *got_kind(const struct got *g, enum phase_kind kind)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->ph[i].kind == kind)
			return &g->ph[i];
	fail_msg("no phase of kind %d", kind);
	return NULL;
}

static inline size_t got_count(const struct got *g, enum phase_kind kind)
{
	size_t n = 0;

	for (size_t i = 0; i < g->n; i++)
		n += g->ph[i].kind == kind;
	return n;
}

/* Peak over the RSS at the start, in MiB, as cases.md states numbers. */
static inline int64_t over_start(const struct phase *p)
{
	return (int64_t)(p->peak.bytes - p->start_bytes) / (int64_t)MIB;
}

/* The invariants of docs/design.md over all that was handed out of one process. */
static inline void got_check(const struct got *g, const struct process *pr)
{
	uint64_t most = 0;
	size_t owners = 0;

	for (size_t i = 0; i < g->n; i++) {
		const struct phase *p = &g->ph[i];

		if (p->mm_id != pr->mm_id)
			continue;
		assert_true(p->start_ns <= p->end_ns && p->start_win <= p->end_win);
		assert_true(p->peak.bytes >= p->start_bytes && p->peak.bytes >= p->end_bytes);
		assert_true(p->start_ns <= p->peak.at_ns && p->peak.at_ns <= p->end_ns);
		if (p->peak.members_exact)
			assert_int_equal(ev_rss(&p->peak.members), p->peak.bytes);
		if (p->peak.bytes > most)
			most = p->peak.bytes;
		if (p->start_win < pr->peak.win && pr->peak.win <= p->end_win) {
			owners++;
			assert_int_equal(p->peak.bytes, pr->peak.bytes);
			assert_int_equal(p->peak.at_ns, pr->peak.at_ns);
		}
		for (size_t j = 0; j < g->n; j++) {
			const struct phase *q = &g->ph[j];
			bool inside = q->mm_id == p->mm_id && p->start_win <= q->start_win &&
				      q->end_win <= p->end_win;

			if (inside)
				assert_true(p->peak.bytes >= q->peak.bytes);
			if (p->kind == PH_CHECKPOINT && q->kind == PH_CHECKPOINT && i < j &&
			    p->mm_id == q->mm_id && p->tid == q->tid)
				assert_true(q->start_win >= p->end_win);
		}
	}
	assert_int_equal(most, pr->peak.bytes);
	assert_true(owners > 0);
}

/* Feeds all, finishes at the clock's now, checks the invariants of every process. */
static inline void sim_run(const struct sim *s, struct got *g, struct model *m)
{
	for (size_t i = 0; i < s->n; i++)
		assert_int_equal(model_feed(m, &s->ev[i]), 0);
	assert_int_equal(model_finish(m, s->ns), 0);
	for (size_t i = 0; i < g->npr; i++)
		got_check(g, &g->pr[i]);
}

#endif
