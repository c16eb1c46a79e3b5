/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "model/model.h"

#include <errno.h>
#include <stdlib.h>

#include "model/fold.h"
#include "model/mm.h"
#include "model/mms.h"
#include "model/order.h"
#include "model/verdict_private.h"
#include "model/where.h"

struct model *model_new(const struct model_options *opt, const struct model_sink *sink)
{
	struct model *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->opt = *opt;
	m->sink = *sink;
	job_init(&m->job, opt->error_per_thread);
	/* A program that chooses its tokens must not choose where they fall in our tables. */
	m->seed = (uintptr_t)m * 0x9e3779b97f4a7c15ull;
	return m;
}

void model_free(struct model **mp)
{
	struct model *m = *mp;

	if (!m)
		return;
	while (m->mms) {
		struct mm *p = m->mms;

		mm_free(m, &p);
	}
	job_free(&m->job);
	free(m->where);
	free(m);
	*mp = NULL;
}

static bool ended(const struct model *m, uint64_t id)
{
	size_t n = sizeof(m->ended) / sizeof(*m->ended);

	for (size_t i = 0; i < n && i < m->nended; i++)
		if (m->ended[i] == id)
			return true;
	return false;
}

static int feed_edge(struct model *m, const struct event *ev)
{
	struct mm *p = mm_find(m, ev->mm_id);
	int err;

	m->counts.edges++;
	if (!p && ev->kind != PP_BASE && ended(m, ev->mm_id)) {
		/* The killer marks its victim when the signal is sent: it may run ahead and end. */
		if (ev->kind != PP_OOM || !verdict_oom_late(m, ev))
			m->counts.orphans++;
		return 0;
	}
	err = job_feed(&m->job, ev);
	if (err)
		return err;
	if (!p)
		p = mm_new(m, ev->mm_id);
	return p ? order_edge(m, p, ev) : -ENOMEM;
}

static int feed_other(struct model *m, const struct event *ev)
{
	struct mm *p = mm_find(m, ev->mm_id);
	bool begun = p && p->begun;

	if (ev->kind == PP_FAULT) {
		m->counts.faults++;
		return begun ? where_fault(m, p, ev) : 0;
	}
	m->counts.samples++;
	if (begun)
		fold_sample(p, ev);
	return job_feed(&m->job, ev);
}

int model_feed(struct model *m, const struct event *ev)
{
	int err = 0;

	if (m->finished)
		return -EINVAL;
	if (event_is_edge(ev->kind))
		err = feed_edge(m, ev);
	else if (ev->kind == PP_OOM_OTHER)
		verdict_oom_other(m, ev);
	else if (ev->kind == PP_SAMPLE || ev->kind == PP_FAULT)
		err = feed_other(m, ev);
	else
		return -EINVAL;
	return err || !m->waiting ? err : order_timeouts(m, ev->time_ns);
}

static int by_id(const struct mm *a, const struct mm *b)
{
	return (a->id > b->id) - (a->id < b->id);
}

static int finish_one(struct model *m, struct mm *p, uint64_t end_ns)
{
	int err = order_force(m, &p);

	if (err || !p)
		return err;
	if (!p->begun) {
		mm_free(m, &p);
		return 0;
	}
	/* No edge ended its last window: a sample tells what it saw, not what came after it. */
	mm_doubt(p);
	if (p->tail.win == p->next && p->tail.time_ns > p->last_ns)
		p->last_ns = p->tail.time_ns;
	if (end_ns > p->last_ns)
		p->last_ns = end_ns;
	err = fold_tail(p);
	if (err)
		return err;
	/* Its exit was lost: the kernel kills what it has chosen. */
	return p->oom_verdict ? mm_end(m, &p, PX_OOM, 9) : mm_end(m, &p, PX_RUNNING, 0);
}

int model_finish(struct model *m, uint64_t end_ns)
{
	struct job job;
	int err = 0;

	if (m->finished)
		return -EINVAL;
	m->finished = true;
	HASH_SORT(m->mms, by_id);
	while (!err && m->mms)
		err = finish_one(m, m->mms, end_ns);
	if (!err)
		err = job_finish(&m->job, &job);
	if (!err && m->sink.job)
		m->sink.job(m->sink.ctx, &job);
	return err;
}

const struct model_counts *model_counts(const struct model *m)
{
	return &m->counts;
}

void model_each_process(const struct model *m, void (*fn)(void *, const struct process *),
			void *ctx)
{
	struct process now;

	for (const struct mm *p = m->mms; p; p = p->hh.next) {
		if (!p->begun)
			continue;
		fold_preview(p, &now);
		fn(ctx, &now);
	}
}
