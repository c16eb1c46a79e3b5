/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "view/answer.h"

#include <string.h>

struct last {
	struct phase *ph;
	bool found;
};

static int keep_last(void *arg, const struct phase *ph)
{
	struct last *l = arg;

	*l->ph = *ph;
	l->ph->where = NULL; /* valid during the call only */
	l->ph->nwhere = 0;
	l->found = true;
	return 0;
}

int answer_owner(const struct report_source *src, const struct process *p, struct phase *owner)
{
	struct last l = {.ph = owner};
	int err = src->phases_at(src->ctx, p->mm_id, p->peak.win, keep_last, &l);

	return err ? err : l.found;
}

bool answer_encloses(const struct phase *outer, const struct phase *inner)
{
	return outer->tid == inner->tid && outer->start_win <= inner->start_win &&
	       outer->end_win >= inner->end_win;
}

struct death {
	report_phase_fn fn;
	void *arg;
	bool found;
};

static int open_at_death(void *arg, const struct phase *ph)
{
	struct death *d = arg;

	if (ph->ended_by != PH_BY_SIGNAL && ph->ended_by != PH_BY_OOM)
		return 0;
	d->found = true;
	return d->fn(d->arg, ph);
}

/* The exit ends the last window; lost edges leave windows uncounted, then all phases are read. */
int answer_each_open_at_death(const struct report_source *src, const struct process *p,
			      report_phase_fn fn, void *arg)
{
	struct death d = {.fn = fn, .arg = arg};
	int err = 0;

	if (p->windows)
		err = src->phases_at(src->ctx, p->mm_id, p->windows - 1, open_at_death, &d);
	if (!err && !d.found)
		err = src->each_phase(src->ctx, p->mm_id, open_at_death, &d);
	return err;
}

/* The first that had the least headroom, or what lies within it: rows come by start. */
static int keep_innermost(void *arg, const struct phase *ph)
{
	struct last *l = arg;

	return l->found && ph->start_win >= l->ph->end_win ? 1 : keep_last(l, ph);
}

static int find_tight_phase(struct answer *a, const struct report_source *src)
{
	struct last l = {.ph = &a->tight_phase};
	int err;

	if (!a->tight.mm_id)
		return 0;
	err = src->phases_of_headroom(src->ctx, a->tight.mm_id, a->tight.headroom_min,
				      keep_innermost, &l);
	a->has_tight_phase = l.found;
	return err < 0 ? err : 0;
}

static int add_process(void *arg, const struct process *p)
{
	struct answer *a = arg;

	if (!a->images || p->start_ns < a->start_ns)
		a->start_ns = p->start_ns;
	if (!a->images || p->peak.bytes > a->top.peak.bytes)
		a->top = *p;
	if (p->charge_peak != EV_NONE &&
	    (a->charge_peak == EV_NONE || p->charge_peak > a->charge_peak))
		a->charge_peak = p->charge_peak;
	if (p->headroom_min != EV_NONE && p->limit != EV_NONE &&
	    (!a->tight.mm_id || p->headroom_min < a->tight.headroom_min))
		a->tight = *p;
	if (p->error_bytes > a->error_bytes)
		a->error_bytes = p->error_bytes;
	if (p->exit == PX_SIGNAL || p->exit == PX_OOM)
		a->killed++;
	a->exact &= p->exact;
	a->images++;
	a->processes += p->exit != PX_EXEC;
	return 0;
}

int answer_find(struct answer *a, const struct report_source *src)
{
	const struct report_run *run = src->run;
	int err;

	memset(a, 0, sizeof(*a));
	a->charge_peak = EV_NONE;
	a->exact = run->exact && !run->missed;
	for (int i = 0; i < PP_LOSS_MAX; i++)
		if (i != PP_LOSS_SAMPLES && i != PP_LOSS_FAULTS && i != PP_LOSS_NOTES &&
		    i != PP_LOSS_BYTES && run->losses[i])
			a->exact = false;
	err = src->each_process(src->ctx, add_process, a);
	if (err || !a->images)
		return err;
	err = answer_owner(src, &a->top, &a->owner);
	if (err < 0)
		return err;
	a->has_owner = err;
	return find_tight_phase(a, src);
}
