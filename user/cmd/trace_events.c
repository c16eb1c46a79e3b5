/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where what the session tells goes: to the model; and what the model makes of it: recording,
 * board, lines. */
#include <string.h>

#include "cmd/note_cgroup.h"
#include "cmd/trace_output.h"
#include "cmd/trace_private.h"
#include "lib/say.h"
#include "lib/text.h"
#include "view/line.h"

#define UNHEARD_SAID 8	  /* of what may be missing; the recording has it all */
#define UNHEARD_MAX 10000 /* programs of an hour's storm, each gone before it was looked at */

static void on_process_begun(void *ctx, const struct process *p)
{
	struct trace *t = ctx;
	struct cgroup cgroup;

	if (board_of(t))
		board_process_begun(board_of(t), p);
	t->live++;
	t->seen++;
	if (t->seen > 1)
		t->line_flags |= LINE_PID;
	best_process(&t->best, p);
	if (t->cgroups && note_cgroup(&cgroup, t->cgroups, p)) {
		if (board_of(t))
			board_cgroup(board_of(t), &cgroup);
		if (t->store)
			store_cgroup(t->store, &cgroup);
	}
	if (t->store)
		store_process(t->store, p);
}

static void on_process_ended(void *ctx, const struct process *p)
{
	struct trace *t = ctx;

	t->live--;
	t->outlived += p->exit == PX_RUNNING;
	if (board_of(t))
		board_process_ended(board_of(t), p);
	if (t->store)
		store_process(t->store, p);
}

static void on_phase(void *ctx, const struct process *p, const struct phase *ph)
{
	struct trace *t = ctx;
	char line[LINE_TEXT_MAX];

	t->heard |= ph->kind < PH_STARTUP;
	best_phase(&t->best, p, ph);
	if (board_of(t))
		board_phase_ended(board_of(t), ph);
	if (t->feed && !small_folds(&t->small, p, ph))
		feed_line(t->feed, line, line_format(line, p, ph, t->line_flags));
	if (t->store)
		store_phase(t->store, ph);
}

static void on_covered(void *ctx, uint64_t mm_id, uint64_t from_win, uint64_t to_win)
{
	struct trace *t = ctx;

	if (board_of(t))
		board_covered(board_of(t), mm_id, from_win, to_win);
	if (t->store)
		store_covered(t->store, mm_id, from_win, to_win);
}

static void on_job(void *ctx, const struct job *j)
{
	struct trace *t = ctx;

	if (t->store)
		store_job(t->store, j);
}

struct model_sink trace_model_sink(struct trace *t)
{
	return (struct model_sink){
	    .ctx = t,
	    .process_begun = on_process_begun,
	    .phase_ended = on_phase,
	    .implied_covered = on_covered,
	    .process_ended = on_process_ended,
	    .job = on_job,
	    .process_revised = trace_on_revised,
	    .verdict = trace_on_verdict,
	};
}

static int feed_model(struct trace *t, const struct event *ev)
{
	struct board *b = board_of(t);
	int err;

	if (!b)
		return model_feed(t->model, ev);
	board_lock(b);
	err = model_feed(t->model, ev);
	if (!err)
		board_event(b, ev);
	board_unlock(b);
	return err;
}

#define NOTE_ROW 64 /* bytes of a piece's row beside its text, about */

/* Not the model's: whose it is can be told from the phases' times. */
static void on_note(struct trace *t, const struct event *ev)
{
	if (!t->store)
		return;
	if (t->note_bytes > NOTE_BYTES_MAX) {
		t->notes_over += ev->note.flags & PP_NOTE_LAST;
		return;
	}
	t->note_bytes += ev->note.len + NOTE_ROW;
	store_event(t->store, ev);
}

int trace_take_event(void *ctx, const struct event *ev)
{
	struct trace *t = ctx;

	if (ev->kind == PP_NOTE) {
		on_note(t, ev);
		return 0;
	}
	if (t->store)
		store_event(t->store, ev);
	return feed_model(t, ev);
}

int trace_on_event(void *ctx, const struct event *ev)
{
	struct trace *t = ctx;

	looks_event(&t->looks, t->session, ev);
	t->threads_wait |=
	    ev->kind == PP_BASE && ev->edge.reason == PP_BY_JOIN && ev->edge.threads > 1;
	return t->printed ? printed_event(t->printed, ev) : trace_take_event(t, ev);
}

int trace_on_output(void *ctx, const struct ev_output *out)
{
	struct trace *t = ctx;
	int err = t->printed ? printed_output(t->printed, out) : 0;

	return err ? err : trace_output_piece(t, out);
}

void trace_on_unheard(void *ctx, const struct unheard *h)
{
	char file[sizeof(h->file) * TEXT_ESCAPED_MAX];
	struct trace *t = ctx;
	struct unheard numbered = *h;

	numbered.id = ++t->unheard;
	if (t->store && t->unheard <= UNHEARD_MAX)
		store_unheard(t->store, &numbered);
	if (t->unheard > UNHEARD_SAID)
		return;
	text_escape(file, sizeof(file), h->file, strlen(h->file));
	say_warning(
	    "pid %u: marks of %s may be missing for %llu us: it was mapped before it was probed",
	    h->pid, file, (unsigned long long)(h->to_ns - h->from_ns) / 1000);
}
