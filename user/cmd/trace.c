/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/trace_private.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/note_cgroup.h"
#include "cmd/targets.h"
#include "cmd/trace_output.h"
#include "cmd/trace_printed.h"
#include "lib/say.h"
#include "lib/text.h"
#include "sink/live.h"
#include "source/abilities.h"
#include "source/oncross.h"
#include "source/privilege.h"
#include "view/line.h"

#define PROGRESS_MIN (SECOND / 10)

int trace_open(struct trace **out, const struct trace_options *opt, enum trace_mode mode,
	       const char *name, const char *command)
{
	struct trace *t = calloc(1, sizeof(*t));
	struct session_options so = {
	    .ring_edges = opt->ring_edges,
	    .ring_samples = opt->ring_samples,
	    .mms = opt->mms,
	    .where_every = opt->where_every,
	    .no_follow = opt->no_follow,
	    .cgroups = targets_in_cgroups(opt),
	    .ceiling = opt->ceiling,
	    .headroom = opt->headroom,
	    .spans = opt->spans,
	    .event = trace_on_event,
	    .unheard = trace_on_unheard,
	    .ctx = t,
	};
	char missing[256];
	int err;

	if (!t)
		return -ENOMEM;
	t->opt = *opt;
	t->mode = mode;
	t->name = strdup(name);
	t->command = strdup(command);
	if (!t->name || !t->command) {
		trace_drop(&t);
		return -ENOMEM;
	}
	if (privilege_missing(PRIVILEGE_TRACE, missing, sizeof(missing)) > 0) {
		struct abilities a;

		abilities_get(&a, "");
		say_error("not allowed to trace: missing %s", missing);
		say_remedy("%s", privilege_remedy(&a.privilege, a.types.uprobe_multi));
		err = -EPERM;
	} else {
		if (opt->patterns)
			t->printed = printed_new(opt->patterns, trace_take_event, t);
		if (opt->patterns || opt->keep)
			so.output.piece = trace_on_output;
		trace_printed_options(&so.output, opt);
		err = opt->patterns && !t->printed ? -ENOMEM : 0;
		if (!err && opt->on_cross)
			err = oncross_start(&t->oncross, opt->on_cross, opt->inherit,
					    opt->stdio ? opt->stdio[2] : STDERR_FILENO);
		if (!err && opt->sink)
			err = live_start(&t->sink, opt->sink, opt->quiet, trace_sink_become);
		err = err ? err : session_open(&t->session, &so);
	}
	if (err)
		trace_drop(&t);
	else
		*out = t;
	return err;
}

struct session *trace_session(struct trace *t)
{
	return t->session;
}

int trace_begin(struct trace *t)
{
	struct model_sink sink = trace_model_sink(t);
	struct model_options mo = {
	    .error_per_thread = session_facts(t->session)->error_per_thread,
	    .ceiling = t->opt.ceiling,
	    .headroom = t->opt.headroom,
	};
	int err = trace_name(t);

	if (!err)
		err = trace_open_json(t);
	if (err)
		return err;
	err = privilege_drop(PRIVILEGE_TRACE | PRIVILEGE_LOOK |
			     (session_facts(t->session)->late_needs_admin ? PRIVILEGE_UPROBE : 0) |
			     PRIVILEGE_SIGNAL | trace_files(t));
	if (err)
		say_warning("could not give up privileges: %s", strerror(-err));
	session_listen(t->session);
	t->model = model_new(&mo, &sink);
	if (!t->model)
		return -ENOMEM;
	err = t->opt.no_record ? 0 : trace_record(t);
	err = err ? err : trace_output_begin(t);
	if (err)
		return err;
	if (t->sink)
		live_recording(t->sink, t->path);
	if (!t->opt.quiet && !t->opt.watch)
		t->feed = feed_open(STDERR_FILENO);
	if (t->store || board_of(t) || t->feed || t->oncross)
		t->cgroups = noted_cgroups_new();
	if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
		t->line_flags |= LINE_ASCII;
	t->began_ns = clock_mono_ns();
	if (t->store && !t->opt.output)
		say_info("recording to %s", t->path);
	return 0;
}

void trace_board_losses(struct board *b, const uint64_t lost[PP_LOSS_MAX], uint64_t missed)
{
	board_lock(b);
	memcpy(b->run.losses, lost, sizeof(b->run.losses));
	b->run.missed = missed;
	board_unlock(b);
}

/*
 * What is recorded is behind by no more than a second, and than half of the time it goes on: also
 * of a tracing that is cut short soon it is told how far it came.
 */
static bool progress_due(const struct trace *t, uint64_t now)
{
	uint64_t age = t->progress_ns > t->began_ns ? t->progress_ns - t->began_ns : 0;
	uint64_t wait = age < PROGRESS_MIN ? PROGRESS_MIN : age > SECOND ? SECOND : age;

	return now - t->progress_ns >= wait;
}

/* Losses so far, and that all there was until now has been taken. */
static void record_progress(struct trace *t, uint64_t now)
{
	uint64_t lost[PP_LOSS_MAX], missed;

	if ((!t->store && !board_of(t)) || !progress_due(t, now))
		return;
	t->progress_ns = now;
	trace_losses(t, lost, &missed);
	if (t->store)
		store_losses(t->store, lost, missed);
	if (t->store && !session_behind(t->session))
		store_reached(t->store, now);
	if (board_of(t))
		trace_board_losses(board_of(t), lost, missed);
}

int trace_watch(struct trace *t)
{
	struct board *b = board_of(t);

	if (!b)
		return 0;
	board_lock(b);
	b->model = t->model;
	board_unlock(b);
	return t->opt.watch->begin(t->opt.watch->ctx);
}

int trace_take(struct trace *t, int timeout_ms)
{
	int err = session_poll(t->session, timeout_ms);

	if (!err && t->printed)
		err = printed_poll(t->printed, clock_mono_ns());
	trace_output_poll(t);
	return err;
}

int trace_poll(struct trace *t, int timeout_ms)
{
	uint64_t now = clock_mono_ns();
	int err = trace_take(t, timeout_ms);

	if (err)
		return err;
	if (t->threads_wait) {
		t->threads_wait = false;
		err = session_adopt(t->session);
		if (err)
			return err;
	}
	looks_poll(&t->looks, t->session, t->model);
	record_progress(t, now);
	return 0;
}

static void add_baseline(void *ctx, const struct process *p)
{
	*(uint64_t *)ctx += p->baseline_bytes;
}

void trace_say_baseline(const struct trace *t, unsigned int markers)
{
	unsigned int functions = session_functions(t->session);
	uint64_t bytes = 0;
	char size[24], spans[48] = "";

	if (t->opt.watch)
		return; /* the view shows it */
	model_each_process(t->model, add_baseline, &bytes);
	if (t->opt.spans)
		snprintf(spans, sizeof(spans), ", %u function%s", functions,
			 functions == 1 ? "" : "s");
	say_info("attached to %u process%s, RSS %s; %u marker%s%s", t->live,
		 t->live == 1 ? "" : "es", text_size(size, bytes), markers, markers == 1 ? "" : "s",
		 spans);
	trace_say_unmarked(t);
}

unsigned int trace_live(const struct trace *t)
{
	/*
	 * The kernel's own table is the last word: the record of an end may have been lost, and
	 * between the two records of an exec the old program has ended, the new one not begun.
	 */
	if (!session_follows_any(t->session))
		return 0;
	return t->live ? t->live : 1;
}

unsigned int trace_seen(const struct trace *t)
{
	return t->seen;
}

void trace_interrupt(struct trace *t)
{
	t->interrupted = true;
}

bool trace_over(const struct trace *t)
{
	if (t->opt.watch && t->opt.watch->enough(t->opt.watch->ctx))
		return true;
	return t->opt.duration_ns && clock_mono_ns() - t->began_ns >= t->opt.duration_ns;
}

int trace_drop(struct trace **tp)
{
	struct trace *t = *tp;
	int err;

	if (!t)
		return 0;
	feed_close(&t->feed, 0);
	oncross_stop(&t->oncross);
	if (t->store)
		store_close(&t->store, &(struct run_end){.finished = false, .status = -1});
	noted_cgroups_free(&t->cgroups);
	session_close(&t->session);
	err = t->sink ? live_wait(t->sink) : 0;
	live_drop(&t->sink);
	printed_free(&t->printed);
	trace_output_close(t);
	model_free(&t->model);
	if (t->json)
		fclose(t->json);
	free(t->name);
	free(t->command);
	free(t->path);
	free(t);
	*tp = NULL;
	return err;
}

void trace_discard(struct trace **tp)
{
	struct trace *t = *tp;
	char *path = NULL;

	if (t && t->store) {
		path = t->path;
		t->path = NULL;
	}
	trace_drop(tp);
	if (path)
		unlink(path);
	free(path);
}

int trace_ended(int err)
{
	return err > 0 ? STATUS_OVER_BUDGET : err ? STATUS_FAILED : STATUS_DONE;
}

int trace_status(int err)
{
	return err == -ENOMEM ? STATUS_FAILED : STATUS_CANNOT_TRACE;
}
