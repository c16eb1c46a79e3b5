/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Private to the files of trace_*.c: a tracing on its way. */
#ifndef PEAKPHASE_CMD_TRACE_PRIVATE_H
#define PEAKPHASE_CMD_TRACE_PRIVATE_H

#include <stdio.h>

#include "cmd/look.h"
#include "cmd/trace.h"
#include "lib/clock.h"
#include "model/kept.h"
#include "model/last_lines.h"
#include "model/model.h"
#include "model/printed.h"
#include "source/session.h"
#include "store/store.h"
#include "view/best.h"
#include "view/small.h"
#include "view/feed.h"
#include "view/top/board.h"

#define SECOND 1000000000ull
/* Of notes in one recording: a program that gives them without end must not fill the disk. */
#define NOTE_BYTES_MAX (256ull << 20)

struct trace {
	struct trace_options opt;
	enum trace_mode mode;
	char *name, *command;
	char *path; /* of the recording */
	FILE *json; /* NULL: none, or stdout */
	struct session *session;
	struct model *model;
	struct store *store;
	struct feed *feed;
	struct printed *printed;       /* NULL: nobody asked for lines */
	struct kept *kept;	       /* NULL: no output is recorded */
	struct last_lines *last_lines; /* NULL: nobody asked for output */
	struct noted_cgroups *cgroups; /* NULL: they go unnamed */
	struct live *sink;	       /* NULL: nothing is sent */
	struct oncross *oncross;       /* NULL: nothing is run */
	unsigned int not_run;	       /* commands of --on-cross */
	unsigned int line_flags;
	unsigned int live, seen;
	unsigned int outlived;		/* the tracing */
	uint64_t began_ns, progress_ns; /* progress: when it was recorded last */
	struct best best;
	struct small small;
	struct looks looks;
	uint64_t unheard;
	uint64_t note_bytes, notes_over; /* of notes kept; notes beyond NOTE_BYTES_MAX */
	bool threads_wait; /* a process came in with threads that are not followed yet */
	bool interrupted;
	bool heard; /* a mark, of whatever kind */
};

static inline struct board *board_of(const struct trace *t)
{
	return t->opt.watch ? t->opt.watch->board : NULL;
}

/* What was lost so far, by class. */
static inline void trace_losses(const struct trace *t, uint64_t lost[PP_LOSS_MAX], uint64_t *missed)
{
	session_losses(t->session, lost, missed);
	lost[PP_LOSS_NOTES] += t->notes_over;
}

void trace_board_losses(struct board *b, const uint64_t lost[PP_LOSS_MAX], uint64_t missed);

/* trace_events.c. What the session tells; ctx: the trace. Lines of output become marks before they
 * are taken. */
int trace_on_event(void *ctx, const struct event *ev);
int trace_on_output(void *ctx, const struct ev_output *out);
/* Marks may be missing: said when it is known, as far as somebody may want to read it. */
void trace_on_unheard(void *ctx, const struct unheard *h);
/* In their final order. 0 or -errno. */
int trace_take_event(void *ctx, const struct event *ev);
struct model_sink trace_model_sink(struct trace *t);

/* Of the model's sink: trace_verdict.c. */
void trace_on_revised(void *ctx, const struct process *p);
void trace_on_verdict(void *ctx, const struct process *p, const struct verdict *said);
/* Waits up to timeout_ms; hands on all there is. 0 or -errno. */
int trace_take(struct trace *t, int timeout_ms);

/* trace_unmarked.c: that nothing was marked, and what to do about it; of `run` at its end. */
void trace_say_unmarked(const struct trace *t);

/*
 * Who makes the files of this tracing: the invoker from now on, where it may; else we, by the
 * capabilities that are returned. After trace_name() and trace_open_json().
 */
uint64_t trace_files(const struct trace *t);
/* In the process of --sink: it reads what the invoker may, no more. 0 or -errno. */
int trace_sink_become(void);
/* Makes the recording, by the name asked for or one of its own. 0 or -errno, said. */
int trace_record(struct trace *t);
/* Chooses its path. 0 or -ENOMEM. */
int trace_name(struct trace *t);
/* The file of --json=FILE, made before anything is traced. 0 or -errno, said. */
int trace_open_json(struct trace *t);

#endif
