/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "view/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "view/container.h"
#include "view/report_text.h"

struct others {
	struct report *r;
	uint64_t n;
};

static int name_other(void *arg, const struct phase *ph)
{
	struct others *o = arg;

	if (ph->id == o->r->answer.owner.id || answer_encloses(ph, &o->r->answer.owner))
		return 0;
	if (o->n++ < REPORT_NAMES_MAX) {
		out_str(&o->r->out, o->n == 1 ? " beside " : ", ");
		report_label(o->r, ph);
	}
	return 0;
}

/* Phases of other threads that were open at the peak too: it is theirs as well. */
static int put_others(struct report *r)
{
	struct others o = {.r = r};
	const struct process *top = &r->answer.top;
	int err = r->src->phases_at(r->src->ctx, top->mm_id, top->peak.win, name_other, &o);

	report_unnamed(r, o.n);
	return err;
}

static void put_member(struct report *r, const char *name, uint64_t bytes)
{
	out_str(&r->out, name);
	out_mib(&r->out, bytes);
}

static int put_peak_line(struct report *r)
{
	const struct answer *a = &r->answer;
	const struct peak *peak = &a->top.peak;
	int err = 0;

	report_bold(r, true);
	out_str(&r->out, a->top.exact ? "peak " : "peak ~");
	out_mib(&r->out, peak->bytes);
	report_bound(r, a->top.error_bytes);
	out_str(&r->out, " MiB in ");
	if (a->has_owner)
		report_label(r, &a->owner);
	else
		out_str(&r->out, "no recorded phase");
	report_bold(r, false);
	if (a->has_owner)
		err = put_others(r);
	out_str(&r->out, "   ");
	report_pid(r, &a->top);
	out_str(&r->out, " ");
	report_command(r, &a->top);
	out_str(&r->out, "   at ");
	report_since(r, peak->at_ns);
	put_member(r, peak->members_exact ? "   anon " : "   anon ~", peak->members.m[PP_ANON]);
	put_member(r, peak->members_exact ? " file " : " file ~", peak->members.m[PP_FILE]);
	put_member(r, peak->members_exact ? " shmem " : " shmem ~", peak->members.m[PP_SHMEM]);
	if (peak->members.m[PP_SWAP])
		put_member(r, "   swap ", peak->members.m[PP_SWAP]);
	out_str(&r->out, "\n");
	return err;
}

static void put_owner(struct report *r, const struct process *p)
{
	char owner[VIEW_CONTAINER_MAX] = "";
	struct cgroup c;

	if (r->src->cgroup(r->src->ctx, p->cgroup_id, &c) > 0)
		view_limit_owner(owner, &c, p->limit_level, r->flags);
	if (owner[0]) {
		out_str(&r->out, " MiB (");
		out_str(&r->out, owner);
		out_str(&r->out, ")");
	} else if (!p->limit_level) {
		out_str(&r->out, " MiB (of its own cgroup)");
	} else {
		out_str(&r->out, " MiB (of the cgroup ");
		out_u64(&r->out, p->limit_level);
		out_str(&r->out, p->limit_level == 1 ? " level up)" : " levels up)");
	}
}

static void put_limit_line(struct report *r)
{
	const struct process *p = &r->answer.tight;

	if (!p->mm_id)
		return;
	out_str(&r->out, "limit ");
	out_mib(&r->out, p->limit);
	put_owner(r, p);
	out_str(&r->out, ", lowest headroom ");
	out_mib(&r->out, p->headroom_min);
	out_str(&r->out, " MiB");
	if (r->answer.has_tight_phase) {
		out_str(&r->out, " in ");
		report_label(r, &r->answer.tight_phase);
	}
	if (r->answer.images > 1) {
		out_str(&r->out, "   pid ");
		out_u64(&r->out, p->pid);
	}
	out_str(&r->out, "\n");
}

/* "…: No space left on device, 1234 rows are missing" */
static void put_write_error(struct report *r, const char *before)
{
	const struct report_run *run = r->src->run;

	out_str(&r->out, before);
	out_str(&r->out, strerror(-run->error));
	if (!run->dropped)
		return;
	out_str(&r->out, ", ");
	out_u64(&r->out, run->dropped);
	out_str(&r->out, run->dropped == 1 ? " row is missing" : " rows are missing");
}

static void put_unfinished(struct report *r)
{
	const struct report_run *run = r->src->run;

	if (run->finished)
		return;
	if (run->running)
		out_str(&r->out, "the tracing goes on");
	else if (run->error)
		put_write_error(r, "the recording ended before the tracing: ");
	else
		out_str(&r->out, "the tracer ended before the program");
	out_str(&r->out, ": what follows is up to ");
	report_since(r, run->end_ns);
	out_str(&r->out, "\n");
}

static void put_nothing(struct report *r)
{
	const struct report_run *run = r->src->run;

	if (run->running)
		out_str(&r->out, "no process was traced so far: the tracing goes on");
	else if (run->error)
		put_write_error(r, "nothing was recorded: ");
	else if (!run->finished)
		out_str(&r->out, "nothing was recorded: the tracer ended before it could write");
	else
		out_str(&r->out, "no process was traced");
	out_str(&r->out, "\n");
}

static int put_head(struct report *r)
{
	int err = put_peak_line(r);

	err = err ? err : report_before(r);
	if (err)
		return err;
	put_limit_line(r);
	err = report_job(r);
	if (err)
		return err;
	err = report_verdicts(r);
	if (err < 0)
		return err;
	if (r->answer.images == 1) {
		err = report_ended(r, &r->answer.top);
		out_str(&r->out, "\n");
		err = err ? err : report_ended_tail(r, &r->answer.top);
	}
	put_unfinished(r);
	return err;
}

static void put_count(struct report *r, const char *before, uint64_t n, const char *after)
{
	if (!n)
		return;
	out_str(&r->out, before);
	out_u64(&r->out, n);
	out_str(&r->out, after);
	out_str(&r->out, "\n");
}

/* What the marks on the numbers mean, and what is missing. Nothing where all is exact. */
static void put_foot(struct report *r)
{
	const struct report_run *run = r->src->run;

	if (r->answer.exact && !run->losses[PP_LOSS_SAMPLES] && !run->losses[PP_LOSS_FAULTS] &&
	    !run->losses[PP_LOSS_NOTES] && !run->losses[PP_LOSS_BYTES] && !r->bad_ends &&
	    !run->counts.orphans && !run->counts.cut_open)
		return;
	out_str(&r->out, "\n");
	if (r->answer.error_bytes) {
		out_str(&r->out, "~ up to");
		report_bound(r, r->answer.error_bytes);
		out_str(
		    &r->out,
		    " MiB off: before Linux 6.2 each thread counts up to 64 pages ahead of its process\n");
	} else if (!r->answer.exact) {
		out_str(
		    &r->out,
		    r->src->run->finished
			? "~ touched by what was lost\n"
			: "~ less sure: open where the recording ends, or touched by what was lost\n");
	}
	for (int i = 0; i < PP_LOSS_MAX; i++) {
		if (!run->losses[i])
			continue;
		out_str(&r->out, "lost: ");
		out_u64(&r->out, run->losses[i]);
		out_str(&r->out, " ");
		out_str(&r->out, loss_names[i].text);
		out_str(&r->out, "\n");
	}
	put_count(r, "lost: ", run->missed,
		  " events that the kernel did not hand to a BPF program");
	put_count(r, "", r->bad_ends,
		  r->bad_ends == 1
		      ? " end of a span that had no beginning here: no row was made of it"
		      : " ends of spans that had no beginning here: no rows were made of them");
	put_count(r, "", run->counts.orphans, " events of processes whose beginning was lost");
	put_count(r, "", run->counts.cut_open, " open spans were closed early: too many at once");
}

static int put_body(struct report *r)
{
	if (!r->asked->why && !r->asked->rank)
		return report_tables(r);
	if (r->asked->why)
		report_why(r);
	if (r->asked->rank)
		report_rank(r);
	return r->out.err;
}

int report_text(const struct report_source *src, const struct report_style *style,
		const struct report_asked *asked, FILE *f)
{
	static const struct report_asked nothing;
	struct report *r = calloc(1, sizeof(*r));
	int err, closed;

	if (!r)
		return -ENOMEM;
	r->src = src;
	r->style = style;
	r->asked = asked ? asked : &nothing;
	r->flags = style->ascii ? TEXT_ASCII : 0;
	err = out_open(&r->out, f);
	if (err)
		goto out;
	err = answer_find(&r->answer, src);
	if (err)
		goto close;
	if (!r->answer.images) {
		put_nothing(r);
		put_foot(r);
		err = -ENODATA;
		goto close;
	}
	err = put_head(r);
	if (!err)
		err = put_body(r);
	if (!err) {
		put_foot(r);
		err = report_output_totals(r);
		err = err ? err : report_unheard(r);
	}
close:
	closed = out_close(&r->out);
	if (!err)
		err = closed;
out:
	notes_free(&r->notes);
	notes_free(&r->output);
	free(r);
	return err;
}
