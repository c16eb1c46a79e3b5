/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of processes, phases and moments. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "view/container.h"
#include "view/top/view.h"

void top_process_name(const struct top_view *v, const struct board_process *bp, char *out,
		      size_t cap)
{
	char command[VIEW_COMMAND_MAX], in[VIEW_CONTAINER_MAX] = "",
					inner[VIEW_CONTAINER_MAX + 24] = "";
	const struct cgroup *c = board_cgroup_of(v->b, bp->p.cgroup_id);

	view_command(command, &bp->p, v->text);
	if (c)
		view_container(in, c, v->text);
	if (bp->p.ns_pid && in[0])
		snprintf(inner, sizeof(inner), " (%" PRIu32 " in %s)", bp->p.ns_pid, in);
	else if (bp->p.ns_pid && bp->p.ns_pid != bp->p.pid)
		snprintf(inner, sizeof(inner), " (%" PRIu32 ")", bp->p.ns_pid);
	snprintf(out, cap, "%" PRIu32 "%s %s", bp->p.pid, inner, command);
}

/* The last mark before a moment that no span covers. */
static const struct phase *last_marked(const struct board_process *bp, uint64_t ns)
{
	for (const struct board_phase *d = bp->phases; d; d = d->older)
		if (d->ph.kind < PH_STARTUP && d->ph.end_ns <= ns)
			return &d->ph;
	return NULL;
}

void top_phase_name(const struct top_view *v, const struct board_process *bp,
		    const struct phase *ph, char out[static TOP_NAME_MAX])
{
	const struct phase *last = NULL;
	size_t n;

	if (ph->kind == PH_BETWEEN && !ph->id)
		last = last_marked(bp, ph->start_ns);
	if (!last) {
		view_label(out, ph, v->text);
		return;
	}
	memcpy(out, "(since ", 7);
	n = 7 + view_label(out + 7, last, v->text);
	memcpy(out + n, ")", 2);
}

struct owner {
	uint64_t at_ns, win;
	struct phase *out;
	bool found;
};

/* Innermost: it began last; an implied one only without others. */
static void consider(struct owner *o, const struct phase *ph)
{
	bool named = ph->kind < PH_STARTUP, was = o->found && o->out->kind < PH_STARTUP;

	if (o->win ? ph->start_win >= o->win || o->win > ph->end_win
		   : ph->start_ns >= o->at_ns || o->at_ns > ph->end_ns)
		return;
	if (o->found && (named != was ? was : ph->start_win < o->out->start_win))
		return;
	*o->out = *ph;
	o->found = true;
}

static int consider_open(void *ctx, const struct phase *ph)
{
	consider(ctx, ph);
	return 0;
}

bool top_owner(struct top_view *v, const struct board_process *bp, uint64_t at_ns, uint64_t win,
	       struct phase *out)
{
	struct owner o = {.at_ns = at_ns, .win = win, .out = out};

	if (v->b->model && !bp->ended)
		model_each_open(v->b->model, bp->p.mm_id, v->end, consider_open, &o);
	for (const struct board_phase *d = bp->phases; d; d = d->older) {
		if (win ? d->ph.end_win < win : d->ph.end_ns < at_ns)
			break;
		consider(&o, &d->ph);
	}
	return o.found;
}

void top_since(const struct top_view *v, uint64_t ns, char out[static 32])
{
	uint64_t cs = ns > v->b->first_ns ? (ns - v->b->first_ns + 5000000) / 10000000 : 0;
	uint64_t s = cs / 100;

	if (s < 60)
		snprintf(out, 32, "+%" PRIu64 ".%02" PRIu64 " s", s, cs % 100);
	else if (s < 3600)
		snprintf(out, 32, "+%" PRIu64 ":%02" PRIu64 ".%" PRIu64, s / 60, s % 60,
			 cs % 100 / 10);
	else
		snprintf(out, 32, "+%" PRIu64 ":%02" PRIu64 ":%02" PRIu64, s / 3600, s / 60 % 60,
			 s % 60);
}

/* Of a command its status; else how the last process went. */
void top_ended(const struct top_view *v, char *out, size_t cap)
{
	const struct board *b = v->b;
	const struct board_process *last = NULL;
	struct process p = {0};
	char how[64];

	out[0] = '\0';
	if (!b->over)
		return;
	for (const struct board_process *bp = b->processes; bp; bp = bp->hh.next)
		if (!last || bp->last_ns >= last->last_ns)
			last = bp;
	if (b->status >= 0) {
		p.exit = WIFSIGNALED(b->status) ? PX_SIGNAL : PX_EXIT;
		p.status = (uint32_t)(WIFSIGNALED(b->status) ? WTERMSIG(b->status)
							     : WEXITSTATUS(b->status));
		/* The kernel's OOM killer sends the signal: the model knows of it. */
		if (p.exit == PX_SIGNAL && last && last->p.exit == PX_OOM)
			p.exit = PX_OOM;
	} else if (last) {
		p.exit = last->p.exit;
		p.status = last->p.status;
	}
	if (!last)
		snprintf(out, cap, "nothing was traced");
	else
		snprintf(out, cap, "%s", view_exit(how, &p));
}
