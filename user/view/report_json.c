/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The report for programs: docs/json.md. One phase a line, so that line tools work on it too. */
#include "view/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "view/answer.h"
#include "view/budget.h"
#include "view/columns.h"
#include "view/container.h"
#include "view/explain.h"
#include "view/freed.h"
#include "view/job_json.h"
#include "view/notes.h"
#include "view/output_json.h"
#include "view/put.h"
#include "view/rank.h"
#include "view/verdict_json.h"

#define FORMAT 1

struct report {
	const struct report_source *src;
	struct jw j;
	struct answer answer;
	struct row row;
	struct cgroup cgroup;	    /* that of the row's process, or of the limit's */
	struct notes notes, output; /* of the row's process */
	struct around around;	    /* of the verdicts; src NULL: there is none yet */
};

static void put_run(struct report *r)
{
	const struct report_run *run = r->src->run;
	struct jw *j = &r->j;

	put_u64(j, "format", FORMAT);
	put_text(j, "peakphase", run->version);
	put_text(j, "kernel", run->kernel);
	put_text(j, "machine", run->machine);
	put_text(j, "counters", run->counters);
	put_text(j, "probe", run->probe);
	put_bool(j, "exact", r->answer.exact);
	put_bool(j, "finished", run->finished);
	put_bool(j, "running", run->running);
	put_text(j, "error", run->error ? strerror(-run->error) : NULL);
	put_u64(j, "wall_ns", run->wall_ns);
	put_u64(j, "mono_ns", run->mono_ns);
	put_known(j, "start_ns", r->answer.images ? r->answer.start_ns : EV_NONE);
	put_known(j, "end_ns", run->end_ns ? run->end_ns : EV_NONE);
	jw_key(j, "target");
	jw_inline(j);
	jw_begin_object(j);
	put_text(j, "mode", run->mode);
	put_text(j, "command", run->command);
	jw_end_object(j);
}

static int put_open_label(void *arg, const struct phase *ph)
{
	label_json(arg, ph);
	return 0;
}

/* The peak of a process, or null members where nothing was traced. */
static int put_peak(struct report *r, const struct process *p, const struct phase *owner)
{
	struct jw *j = &r->j;
	int err;

	jw_key(j, "peak");
	jw_inline(j);
	jw_begin_object(j);
	put_u64(j, "bytes", p->peak.bytes);
	put_u64(j, "at_ns", p->peak.at_ns);
	put_u64(j, "pid", p->pid);
	jw_key(j, "phase");
	if (owner)
		label_json(j, owner);
	else
		jw_null(j);
	jw_key(j, "open");
	jw_begin_array(j);
	err = r->src->phases_at(r->src->ctx, p->mm_id, p->peak.win, put_open_label, j);
	jw_end_array(j);
	jw_key(j, "members");
	members_json(j, &p->peak.members);
	put_bool(j, "members_exact", p->peak.members_exact);
	jw_end_object(j);
	return err;
}

static int put_answer(struct report *r)
{
	const struct answer *a = &r->answer;

	if (!a->images) {
		jw_key(&r->j, "peak");
		jw_null(&r->j);
		return 0;
	}
	return put_peak(r, &a->top, a->has_owner ? &a->owner : NULL);
}

static int put_job(struct report *r)
{
	const struct answer *a = &r->answer;
	bool limited = a->tight.mm_id;
	struct jw *j = &r->j;
	int err;

	jw_key(j, "job");
	jw_inline(j);
	jw_begin_object(j);
	put_u64(j, "processes", a->processes);
	err = job_json(j, r->src, a->charge_peak);
	put_known(j, "limit_bytes", limited ? a->tight.limit : EV_NONE);
	put_known(j, "headroom_min_bytes", limited ? a->tight.headroom_min : EV_NONE);
	jw_key(j, "headroom_phase");
	if (a->has_tight_phase)
		label_json(j, &a->tight_phase);
	else
		jw_null(j);
	jw_key(j, "limit_owner");
	if (limited) {
		bool known = r->src->cgroup(r->src->ctx, a->tight.cgroup_id, &r->cgroup) > 0;

		view_limit_owner_json(j, known ? &r->cgroup : NULL, a->tight.limit_level);
	} else {
		jw_null(j);
	}
	jw_end_object(j);
	return err;
}

static const char *exit_kind(enum process_exit e)
{
	switch (e) {
	case PX_RUNNING:
		return "running";
	case PX_EXIT:
		return "exit";
	case PX_SIGNAL:
		return "signal";
	case PX_OOM:
		return "oom";
	case PX_EXEC:
		return "exec";
	}
	return "running";
}

static void put_exit(struct jw *j, const struct process *p)
{
	bool signal = p->exit == PX_SIGNAL || p->exit == PX_OOM;

	jw_key(j, "exit");
	jw_inline(j);
	jw_begin_object(j);
	put_text(j, "kind", exit_kind(p->exit));
	put_known(j, "status", p->exit == PX_EXIT ? p->status : EV_NONE);
	put_known(j, "signal", signal ? p->status : EV_NONE);
	jw_end_object(j);
}

static int put_note(void *arg, const struct note *n, const char *text)
{
	struct jw *j = arg;

	jw_begin_object(j);
	put_u64(j, "at_ns", n->time_ns);
	put_bool(j, "whole", note_whole(n));
	jw_key(j, "text");
	jw_string(j, text, n->bytes);
	jw_end_object(j);
	return j->err;
}

static int put_notes(struct report *r, const struct phase *ph)
{
	size_t count;
	int err;

	notes_of(r->notes.rows, r->notes.n, ph->id, &count);
	if (!count)
		return 0;
	jw_key(&r->j, "notes");
	jw_begin_array(&r->j);
	err = notes_each(&r->notes, ph, put_note, &r->j);
	jw_end_array(&r->j);
	return err;
}

static int put_phase(void *arg, const struct phase *ph)
{
	struct report *r = arg;
	struct freed freed;
	int err = freed_later(r->src, ph, &freed);

	if (err)
		return err;
	r->row.ph = ph;
	r->row.freed_later = &freed.bytes;
	jw_inline(&r->j);
	jw_begin_object(&r->j);
	for (size_t i = 0; i < phase_ncolumns; i++)
		column_json(&r->j, &phase_columns[i], &r->row);
	err = put_notes(r, ph);
	err = err ? err : output_json(&r->j, r->src, &r->output, ph);
	r->row.freed_later = NULL;
	jw_end_object(&r->j);
	return err ? err : r->j.err;
}

static int put_process(void *arg, const struct process *p)
{
	struct report *r = arg;
	struct phase owner;
	int found = answer_owner(r->src, p, &owner), err, known;

	if (found < 0)
		return found;
	known = r->src->cgroup(r->src->ctx, p->cgroup_id, &r->cgroup);
	if (known < 0)
		return known;
	r->row = (struct row){.run = r->src->run, .p = p, .owner_id = found ? owner.id : 0};
	r->row.cgroup = known ? &r->cgroup : NULL;
	jw_begin_object(&r->j);
	for (size_t i = 0; i < process_ncolumns; i++)
		column_json(&r->j, &process_columns[i], &r->row);
	err = put_peak(r, p, found ? &owner : NULL);
	put_exit(&r->j, p);
	jw_key(&r->j, "phases");
	jw_begin_array(&r->j);
	if (!err)
		err = notes_load(&r->notes, r->src, p->mm_id);
	if (!err)
		err = notes_load_output(&r->output, r->src, p->mm_id);
	if (!err)
		err = r->src->each_phase(r->src->ctx, p->mm_id, put_phase, r);
	jw_end_array(&r->j);
	jw_end_object(&r->j);
	return err;
}

static int put_verdict(void *arg, const struct verdict *v)
{
	struct report *r = arg;
	int err = r->around.src ? 0 : around_load(&r->around, r->src);

	return err ? err : verdict_json(&r->j, &r->around, v);
}

static int put_verdicts(struct report *r)
{
	int err;

	jw_key(&r->j, "verdicts");
	jw_begin_array(&r->j);
	err = r->src->each_verdict(r->src->ctx, 0, put_verdict, r);
	jw_end_array(&r->j);
	return err;
}

static int put_unheard(void *arg, const struct unheard *u)
{
	struct jw *j = arg;

	jw_inline(j);
	jw_begin_object(j);
	put_u64(j, "pid", u->pid);
	put_u64(j, "from_ns", u->from_ns);
	put_u64(j, "to_ns", u->to_ns);
	put_text(j, "file", u->file);
	put_bool(j, "looked", u->looked);
	jw_end_object(j);
	return j->err;
}

static int put_all_unheard(struct report *r)
{
	int err;

	jw_key(&r->j, "unheard");
	jw_begin_array(&r->j);
	err = r->src->each_unheard(r->src->ctx, put_unheard, &r->j);
	jw_end_array(&r->j);
	return err;
}

static void put_losses(struct report *r)
{
	const struct report_run *run = r->src->run;
	struct jw *j = &r->j;

	jw_key(j, "losses");
	jw_inline(j);
	jw_begin_object(j);
	for (int i = 0; i < PP_LOSS_MAX; i++)
		put_u64(j, loss_names[i].json, run->losses[i]);
	put_u64(j, "missed_events", run->missed);
	put_u64(j, "orphan_events", run->counts.orphans);
	put_u64(j, "bad_ends", run->counts.bad_ends);
	put_u64(j, "cut_open", run->counts.cut_open);
	put_u64(j, "rows", run->dropped);
	jw_end_object(j);
}

static int put_list(struct report *r, const char *key, report_process_fn fn)
{
	int err;

	jw_key(&r->j, key);
	jw_begin_array(&r->j);
	err = r->src->each_process(r->src->ctx, fn, r);
	jw_end_array(&r->j);
	return err;
}

/* On an error of the source what was begun is closed, so that the text stays JSON. */
int report_json(const struct report_source *src, const struct report_asked *asked, FILE *f)
{
	struct report *r = calloc(1, sizeof(*r));
	int err, closed;

	if (!r)
		return -ENOMEM;
	r->src = src;
	err = answer_find(&r->answer, src);
	if (!err)
		err = jw_open(&r->j, f);
	if (err)
		goto out;
	jw_begin_object(&r->j);
	put_run(r);
	err = put_answer(r);
	if (!err)
		err = put_job(r);
	if (!err && asked && asked->why) {
		jw_key(&r->j, "why");
		explain_json(&r->j, asked->why);
	}
	if (!err && asked && asked->rank) {
		jw_key(&r->j, "rank");
		rank_json(&r->j, asked->rank);
	}
	if (!err && asked && asked->budgets) {
		jw_key(&r->j, "budgets");
		budgets_json(&r->j, asked->budgets);
	}
	if (!err)
		err = put_list(r, "processes", put_process);
	if (!err)
		err = put_verdicts(r);
	if (!err)
		err = put_all_unheard(r);
	if (!err)
		err = output_totals_json(&r->j, src);
	put_losses(r);
	jw_end_object(&r->j);
	closed = jw_close(&r->j);
	if (!err)
		err = closed;
out:
	notes_free(&r->notes);
	notes_free(&r->output);
	around_free(&r->around);
	free(r);
	return err;
}
