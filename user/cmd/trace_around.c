/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/trace_around.h"

struct each {
	report_process_fn fn;
	void *arg;
	int err;
};

static void on_process(void *ctx, const struct process *p)
{
	struct each *e = ctx;

	if (!e->err)
		e->err = e->fn(e->arg, p);
}

static int each_process(void *ctx, report_process_fn fn, void *arg)
{
	const struct trace_around *ta = ctx;
	struct each e = {.fn = fn, .arg = arg};

	model_each_process(ta->model, on_process, &e);
	return e.err;
}

struct open {
	report_phase_fn fn;
	void *arg;
};

/*
 * The counters of a thread are as of its last edge, and a kill is none of its own: it grew by what
 * the process's RSS is above that at its begin, if by no more.
 */
static int on_open(void *ctx, const struct phase *ph)
{
	const struct open *o = ctx;
	struct phase now = *ph;

	if (phase_kept(ph) > 0 && (uint64_t)phase_kept(ph) > phase_grew(ph))
		now.grew_bytes = (uint64_t)phase_kept(ph);
	return o->fn(o->arg, &now);
}

static int each_phase(void *ctx, uint64_t mm_id, report_phase_fn fn, void *arg)
{
	const struct trace_around *ta = ctx;
	const struct phase *grown = model_grown(ta->model, mm_id);
	struct open o = {fn, arg};
	int err = grown ? fn(arg, grown) : 0;

	return err ? err : model_each_open(ta->model, mm_id, ta->at_ns, on_open, &o);
}

/* Its window is the one that has just ended. */
static int phases_at(void *ctx, uint64_t mm_id, uint64_t win, report_phase_fn fn, void *arg)
{
	const struct trace_around *ta = ctx;

	(void)win;
	return model_each_open(ta->model, mm_id, ta->at_ns, fn, arg);
}

static int phases_at_time(void *ctx, uint64_t mm_id, uint64_t ns, report_phase_fn fn, void *arg)
{
	const struct trace_around *ta = ctx;

	return model_each_open(ta->model, mm_id, ns, fn, arg);
}

/* Every open phase is as of now. */
static int rss_at(void *ctx, uint64_t mm_id, uint64_t from_ns, uint64_t to_ns, uint64_t *bytes)
{
	(void)ctx;
	(void)mm_id;
	(void)from_ns;
	(void)to_ns;
	(void)bytes;
	return 0;
}

static int cgroup(void *ctx, uint64_t id, struct cgroup *out)
{
	const struct trace_around *ta = ctx;
	const struct cgroup *c = ta->cgroups ? noted_cgroup(ta->cgroups, id) : NULL;

	if (c)
		*out = *c;
	return c != NULL;
}

void trace_around_init(struct trace_around *ta, const struct model *m,
		       const struct noted_cgroups *cgroups, const struct verdict *v)
{
	*ta = (struct trace_around){
	    .model = m,
	    .cgroups = cgroups,
	    .at_ns = v->at_ns,
	    .src = {.ctx = ta,
		    .each_process = each_process,
		    .each_phase = each_phase,
		    .phases_at = phases_at,
		    .phases_at_time = phases_at_time,
		    .rss_at = rss_at,
		    .cgroup = cgroup},
	};
}
