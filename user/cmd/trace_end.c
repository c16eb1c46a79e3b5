/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The end of a tracing: all is drained, written and printed while the probes are still there, for
 * taking them away can last as long as a traced thread is stuck in one.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd/trace_output.h"
#include "cmd/trace_printed.h"
#include "cmd/budgets.h"
#include "cmd/cmd.h"
#include "cmd/show.h"
#include "cmd/trace_private.h"
#include "lib/say.h"
#include "sink/live.h"

#define LAST_EDGES_NS (SECOND / 2)

static int close_recording(struct trace *t, const struct run_end *end)
{
	struct store_times times = {0};
	int err;

	if (t->sink)
		live_release(t->sink);
	err = store_close_timed(&t->store, end, &times);
	if (t->sink)
		live_final(t->sink);

	/* Why was said when it happened. */
	if (err)
		say_error("the recording %s is incomplete: %llu rows are missing", t->path,
			  (unsigned long long)times.dropped);
	return err;
}

static void say_answer(const struct trace *t)
{
	char text[BEST_TEXT_MAX];

	if (!t->best.any || t->opt.quiet)
		return;
	if (t->small.folded) {
		small_format(&t->small, text);
		say_info("%s", text);
	}
	best_format(&t->best, text, t->line_flags);
	say_info("%s", text);
}

/* A command that puts a server into the background, for one: nobody expects the end of this then.
 */
static void say_outlived(const struct trace *t, int status)
{
	unsigned int n = t->outlived;

	if (n && t->mode == TRACE_RUN && status >= 0 && !t->opt.quiet)
		say_info(
		    "%u process%s that the command started %s on, not recorded from here: attach -p, or wait in the command",
		    n, n == 1 ? "" : "es", n == 1 ? "goes" : "go");
}

static void say_losses(const struct run_end *end)
{
	static const char *const what[PP_LOSS_MAX] = {
	    [PP_LOSS_EDGES] =
		"marks or ends were lost on a full ring; peaks hold over the gap (--ring-edges)",
	    [PP_LOSS_SAMPLES] =
		"points of the timeline were lost; peaks are not touched (--ring-samples)",
	    [PP_LOSS_FAULTS] = "fault samples were lost; the shares of --where rest on the others",
	    [PP_LOSS_MMS] = "processes were not traced: too many at once (--processes)",
	    [PP_LOSS_GROWTH] = "pages of growth could not be booked on their thread",
	    [PP_LOSS_MARKS] = "marks could not be read",
	    [PP_LOSS_NOTES] =
		"notes were lost, or their rest: too many at once, or more than 256 MiB",
	    [PP_LOSS_OUTPUT] =
		"writes to stdout or stderr were not seen as a whole: marks may be missing (--ring-output)",
	    [PP_LOSS_BYTES] =
		"bytes of the output are not kept: they came too fast (--ring-output)",
	};

	for (int i = 0; i < PP_LOSS_MAX; i++)
		if (end->losses[i])
			say_warning("%llu %s", (unsigned long long)end->losses[i], what[i]);
	if (end->missed)
		say_warning(
		    "%llu events were passed over by the kernel while it handled another one",
		    (unsigned long long)end->missed);
}

static int finish_model(struct trace *t, const struct run_end *end)
{
	struct board *b = board_of(t);
	int err;

	if (!b)
		return model_finish(t->model, end->end_ns);
	trace_board_losses(b, end->losses, end->missed);
	board_lock(b);
	err = model_finish(t->model, end->end_ns);
	board_over(b, end->end_ns, end->status);
	board_unlock(b);
	t->opt.watch->over(t->opt.watch->ctx, t->interrupted);
	return err;
}

/*
 * A marker's program that was preempted between taking its place on the ring and filling it holds
 * up what lies behind: the last edges may need a moment.
 */
static int poll_the_last(struct trace *t)
{
	uint64_t until = clock_mono_ns() + LAST_EDGES_NS;
	int err = trace_take(t, 0);

	while (!err && (t->live || session_behind(t->session)) && clock_mono_ns() < until)
		err = trace_take(t, 5);
	return err ? err : session_poll_last(t->session);
}

static int measure(const struct trace *t)
{
	int status = show_budgets(t->path, t->opt.budgets);

	return status == STATUS_OVER_BUDGET ? 1 : status ? -EIO : 0;
}

/* 0, -errno, or 1: over a budget. */
static int print_json(struct trace *t)
{
	FILE *f = t->json ? t->json : stdout;
	struct show_options opt = {.json = true, .budgets = t->opt.budgets};
	int status = show_recording(t->path, &opt, f);
	bool over = status == STATUS_OVER_BUDGET;
	bool failed = fflush(f) || ferror(f);

	if (t->json) {
		failed |= fclose(t->json) != 0;
		t->json = NULL;
		if (failed && (over || status == STATUS_DONE))
			say_error("cannot write the report to %s: %s", t->opt.json_file,
				  strerror(errno));
		return failed ? -EIO : over ? 1 : status ? -EIO : 0;
	}
	return over ? 1 : status ? -EIO : 0; /* main() looks at stdout */
}

int trace_end(struct trace *t, int status)
{
	struct run_end end = {.finished = true, .status = status};
	uint64_t dropped;
	int err;

	err = trace_take(t, 0);
	if (session_stop(t->session))
		say_warning(
		    "no last reading of the processes that go on: their last windows are missing");
	err = err ? err : poll_the_last(t);
	end.end_ns = clock_mono_ns();
	trace_losses(t, end.losses, &end.missed);
	if (!err && t->printed)
		err = printed_finish(t->printed);
	if (t->printed)
		trace_printed_losses(printed_counts(t->printed), t->opt.quiet, end.losses);
	if (!err)
		err = finish_model(t, &end);
	trace_output_finish(t);
	end.counts = *model_counts(t->model);
	dropped = feed_close(&t->feed, 2000);
	if (dropped)
		say_warning("%llu lines were not shown: nobody read them in time",
			    (unsigned long long)dropped);
	say_answer(t);
	if (t->mode == TRACE_RUN)
		trace_say_unmarked(t);
	say_outlived(t, status);
	say_losses(&end);
	if (session_unseen(t->session))
		say_warning(
		    "%llu mappings of code were told too fast: marks of some may be missing",
		    (unsigned long long)session_unseen(t->session));
	if (t->not_run)
		say_warning("--on-cross was not run for %u crossings: too many at once",
			    t->not_run);
	if (!t->seen)
		say_warning("no process was traced");
	else if (t->opt.spans)
		spans_say_unmet(t->opt.spans);
	if (t->store) {
		int store_err = close_recording(t, &end);

		err = err ? err : store_err;
	}
	if (!err && t->opt.json)
		err = print_json(t);
	else if (!err && t->opt.budgets)
		err = measure(t);
	return err;
}
