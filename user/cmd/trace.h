/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What `run` and `attach` have in common: options, and the wiring of a live session with model,
 * recording and lines. One thread.
 */
#ifndef PEAKPHASE_CMD_TRACE_H
#define PEAKPHASE_CMD_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "source/command.h"
#include "model/pattern.h"
#include "source/session.h"
#include "source/spans.h"
#include "source/target.h"

#define TRACE_PIDS_MAX 1024
#define TRACE_NAMED_MAX 64

/* Of --help: options that commands have in common, as trace_parse() takes them. */
#define TRACE_HELP_MARKS                                                                               \
	"      --span BIN:FUNCTION  calls of a native function are spans; a pattern means several\n"   \
	"      --mark-output REGEX  a line that the program prints and that matches is a checkpoint\n" \
	"      --begin-output REGEX\n"                                                                 \
	"                           such a line begins a span of its label\n"                          \
	"      --end-output REGEX   such a line ends the span of its label, or the last\n"             \
	"      --step-output REGEX  such a line begins a span that ends at the next step\n"            \
	"      --preset NAME        lines of a known program: `peakphase presets` lists them\n"        \
	"      --output STREAM      keep what goes to stderr, stdout or both in the recording\n"       \
	"      --output-keep FIRST,LAST  of each stream the first and the last so many bytes (1M,8M)\n"
#define TRACE_HELP_RESULTS                                                                                      \
	"      --budget GLOB=SIZE   exit with 4 if a phase needs more: 'transform:*=500M'\n"                    \
	"      --sink PLACE         send samples, phases, stderr and in the end the recording to a folder or\n" \
	"                           s3://BUCKET/PREFIX as they come\n"                                          \
	"      --json[=FILE]        write the report as JSON to FILE, else stdout, at the end\n"
#define TRACE_HELP_ROOM                                                                            \
	"      --ring-edges SIZE    room for marks that wait to be read (32M)\n"                   \
	"      --ring-samples SIZE  the same for the timeline (1M)\n"                              \
	"      --ring-output SIZE   room for what is printed (8M)\n"                               \
	"      --processes N        processes that can be traced at once (4096)\n"

/* A container, a cgroup or a program, by name. */
struct trace_named {
	enum target_kind kind;
	const char *text;
};

struct board;
struct budgets;
struct trace;

/* Somebody who looks on: the live view. All from the thread that traces. */
struct trace_watch {
	void *ctx;
	struct board *board;	   /* filled with all that is traced */
	int (*begin)(void *ctx);   /* everything is set up; not 0 ends it */
	bool (*enough)(void *ctx); /* asked for in every round: end the tracing */
	/* The tracing has ended (by a signal: interrupted), the board is complete. */
	void (*over)(void *ctx, bool interrupted);
};

struct trace_options {
	const char *output;    /* NULL: a name made of command and time */
	const char *json_file; /* --json=FILE; NULL: to stdout */
	bool no_record, quiet, json, no_follow;
	uint64_t ceiling, headroom;	       /* bytes; 0: off */
	const char *sink;		       /* folder or s3://…; NULL: none */
	const char *on_cross;		       /* NULL: nothing is run */
	struct budgets *budgets;	       /* of phases; NULL: none. Of the whole run */
	const struct command_inherit *inherit; /* of what on_cross runs */
	uint32_t where_every;		       /* 0: off */
	uint64_t duration_ns;		       /* 0: until the end */
	uint32_t ring_edges, ring_samples, ring_output, mms;
	uint32_t keep; /* --output: bits 1 << KEPT_STDOUT, 1 << KEPT_STDERR */
	bool keep_said;
	uint64_t keep_first, keep_last;
	struct patterns *patterns; /* of lines that are marks; NULL: none. Of the whole run */
	struct spans *spans;	   /* functions that are spans; NULL: none. Of the whole run */
	const char *user;	   /* run */
	pid_t pid[TRACE_PIDS_MAX]; /* attach */
	unsigned int npids;
	struct trace_named named[TRACE_NAMED_MAX]; /* attach */
	unsigned int nnamed;
	bool wait;     /* for what is not there yet, and after it ended for the next one */
	bool list;     /* nothing is traced: what could be is listed */
	int first_arg; /* index in argv of the command */
	bool help;
	/* top */
	uint64_t delay_ns, frames;
	bool batch, ascii;
	const struct trace_watch *watch; /* NULL: nobody looks on; lines are printed */
	const int *stdio; /* of the command and on_cross: three descriptors; NULL: ours */
};

enum trace_mode { TRACE_RUN, TRACE_ATTACH, TRACE_TOP };

/* 0; -EINVAL: said, with the remedy. */
int trace_parse(struct trace_options *opt, enum trace_mode mode, int argc, char **argv);

/*
 * Opens the session. -EPERM, -ENOTSUP and so on: cannot trace here (said). Nothing is recorded
 * before trace_begin(). The recording is called by name, unless opt knows better, and tells of
 * command, which is what people read.
 */
int trace_open(struct trace **t, const struct trace_options *opt, enum trace_mode mode,
	       const char *name, const char *command);
struct session *trace_session(struct trace *t);
/*
 * Everything is set up: gives up what privileges are no longer needed, makes the recording and the
 * lines. Makes threads: to be called after signals were blocked. Says errors.
 */
int trace_begin(struct trace *t);

/* One round: waits up to timeout_ms, hands everything on, looks for new markers. 0 or -errno. */
int trace_poll(struct trace *t, int timeout_ms);
/* "attached to 2 processes, RSS 512.3 MiB; 3 markers": the tracing has begun. */
void trace_say_baseline(const struct trace *t, unsigned int markers);
/* Processes that are traced and have not ended. */
unsigned int trace_live(const struct trace *t);
/* Processes that were ever traced. */
unsigned int trace_seen(const struct trace *t);
/* Tracing has begun: whoever looks on may show it. 0, or what begin() returned. */
int trace_watch(struct trace *t);
/* A signal ends the tracing. */
void trace_interrupt(struct trace *t);
/* The duration asked for is over, or whoever looks on has seen enough. */
bool trace_over(const struct trace *t);

/*
 * Ends the tracing: what is open is closed as it stands, the recording is finished, the answer and
 * the report of --json printed. status: of the command as wait(2) gives it, -1 without one. 0, the
 * first error, or 1: phases were over their budget. Probes stay until trace_drop().
 */
int trace_end(struct trace *t, int status);
/*
 * Takes the probes away, which may last while a traced thread is stuck in one, waits for the sink
 * of a tracing that has ended, and frees. 0, or -EIO: not all is at the sink (said).
 */
int trace_drop(struct trace **t);
/* The same; nothing was traced, so the recording that trace_begin() made is removed. */
void trace_discard(struct trace **t);

/*
 * The whole of `run` and `attach` after their options were parsed, for `top` too. Return the exit
 * status. attach: the targets of opt, which are looked up here.
 */
int trace_run_command(const struct trace_options *opt, char *const *argv,
		      const struct command_inherit *inherit);
int trace_attach(const struct trace_options *opt);

/* Exit status for an error of trace_open(): 3 cannot trace here, else 1. */
int trace_status(int err);
/* The same for what trace_end() returned, or an error before it: 1, 4 over a budget. */
int trace_ended(int err);

#endif
