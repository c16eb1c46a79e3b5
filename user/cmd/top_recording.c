/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* top RECORDING: its events through the model onto the board, while the screen is there already. */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/show_source.h"
#include "cmd/top.h"
#include "lib/say.h"
#include "store/store.h"

#define STOP 1 /* ends the replay: nobody looks any more */
#define ASK_EVERY 8192

struct load {
	struct top *top;
	uint64_t events;
};

static struct board *board_of(void *ctx)
{
	return &((struct load *)ctx)->top->board;
}

static void on_begun(void *ctx, const struct process *p)
{
	board_process_begun(board_of(ctx), p);
}

static void on_phase(void *ctx, const struct process *p, const struct phase *ph)
{
	(void)p;
	board_phase_ended(board_of(ctx), ph);
}

static void on_covered(void *ctx, uint64_t mm_id, uint64_t from_win, uint64_t to_win)
{
	board_covered(board_of(ctx), mm_id, from_win, to_win);
}

static void on_ended(void *ctx, const struct process *p)
{
	board_process_ended(board_of(ctx), p);
}

static void on_revised(void *ctx, const struct process *p)
{
	board_process_revised(board_of(ctx), p);
}

/* The board is ours from event to event: the lock is given to who draws between some of them. */
static int on_event(void *ctx, const struct event *ev)
{
	struct load *l = ctx;

	board_event(&l->top->board, ev);
	if (++l->events % ASK_EVERY)
		return 0;
	board_unlock(&l->top->board);
	/* A mutex is not fair: without a pause the one who draws would wait until the end. */
	nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
	board_lock(&l->top->board);
	return screen_done(l->top->screen) ? STOP : 0;
}

/* As they were recorded: with what was read of the moment itself. */
static int on_verdict(void *ctx, const struct verdict *v)
{
	board_verdict(board_of(ctx), v);
	return 0;
}

/* Containers' names. */
static int load_cgroups(struct load *l, struct recording *r)
{
	const struct board_process *bp = l->top->board.processes;
	struct cgroup c;
	int n = 0;

	for (; bp && n >= 0; bp = bp->hh.next) {
		n = recording_cgroup(r, bp->p.cgroup_id, &c);
		if (n > 0)
			board_cgroup(&l->top->board, &c);
	}
	return n < 0 ? n : 0;
}

static int load_verdicts(struct load *l, struct recording *r)
{
	const struct board_process *bp = l->top->board.processes;
	int err = 0;

	for (; bp && !err; bp = bp->hh.next)
		err = recording_each_verdict(r, bp->p.mm_id, on_verdict, l);
	return err;
}

static int load(struct top *top, struct recording *r)
{
	struct load l = {.top = top};
	struct model_sink sink = {
	    .ctx = &l,
	    .process_begun = on_begun,
	    .phase_ended = on_phase,
	    .implied_covered = on_covered,
	    .process_ended = on_ended,
	    .process_revised = on_revised,
	};
	const struct run_end *end = recording_end(r);
	uint64_t end_ns = 0;
	int err;

	board_lock(&top->board);
	err = recording_replay_events(r, &sink, on_event, &l, NULL, &end_ns);
	if (!err)
		err = load_verdicts(&l, r);
	if (!err)
		err = load_cgroups(&l, r);
	if (!err)
		board_over(&top->board, end_ns, end->finished ? end->status : -1);
	board_unlock(&top->board);
	screen_complete(top->screen);
	return err == STOP ? 0 : err;
}

int top_recording(const struct trace_options *opt, const char *path)
{
	struct recording *r;
	struct top top;
	int err;

	if (opt->output || opt->where_every || opt->user || opt->duration_ns || opt->no_follow ||
	    opt->ceiling || opt->headroom)
		return usage_error("top",
				   "a recording is only shown: leave the options of tracing away");
	if (recording_open(&r, path)) {
		if (!strchr(path, '/') && access(path, F_OK))
			say_remedy("to trace a command: peakphase top -- COMMAND");
		return STATUS_FAILED;
	}
	err = top_setup(&top, opt);
	if (!err) {
		top.board.run = show_run(r);
		top.options.recording = true;
		err = screen_open(&top.screen, &top.options);
		if (!err)
			err = load(&top, r);
		if (!err)
			top_wait(&top);
		top_cleanup(&top);
	}
	recording_close(&r);
	return err ? STATUS_FAILED : STATUS_DONE;
}
