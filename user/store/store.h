/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The recording: one SQLite file in WAL mode. docs/recording.md has the schema and its promises.
 *
 * Writer: rows are copied into a bounded queue and written by a thread of its own, which commits at
 * most every 100 ms (edges before the rest), durably. When the queue is full store_*() waits: the
 * rings take the slack, and what they cannot take is counted there. One producer thread. A write
 * error (disk full) is said once; from then on rows are dropped and counted, and store_close()
 * returns it: tracing goes on.
 *
 * Reader: any number, also while it is written, also by users who cannot write the folder.
 */
#ifndef PEAKPHASE_STORE_STORE_H
#define PEAKPHASE_STORE_STORE_H

#include "decode/unheard.h"
#include "model/cgroup.h"
#include "model/kept.h"
#include "model/model.h"
#include "model/note.h"

#define STORE_SCHEMA 4 /* PRAGMA user_version */

/* Facts of a run; strings may be NULL. */
struct run_info {
	const char *version;  /* of peakphase */
	const char *kernel;   /* uname -r */
	const char *machine;  /* uname -m */
	const char *command;  /* what was run or attached to, as text, escaped by views */
	const char *mode;     /* "run", "attach" */
	const char *options;  /* JSON object of the options in force */
	const char *counters; /* "percpu" (6.2 on), "atomic" (before) */
	const char *probe;    /* "nop10", "nop5", "nop1": the site that was chosen */
	uint64_t wall_ns,
	    mono_ns;	  /* the anchor: CLOCK_REALTIME and CLOCK_MONOTONIC at one instant */
	uint64_t boot_ns; /* CLOCK_BOOTTIME at that instant; 0: not known */
	uint64_t boot_id_hash;
	uint32_t page_size, cpus;
	uint32_t where_every; /* one fault in so many is sampled; 0: not sampled */
	bool exact;	      /* false: this kernel's counters have an error bound */
	uint64_t error_per_thread;
	uint64_t ceiling, headroom; /* bytes; limits of the user; 0: none */
};

struct run_end {
	bool finished;	 /* false: the tracer died, or is still running */
	bool running;	 /* a tracer is still writing (its lock is held) */
	uint64_t end_ns; /* unfinished: up to where it goes */
	uint64_t losses[PP_LOSS_MAX];
	uint64_t missed; /* runs of BPF programs that the kernel skipped */
	struct model_counts counts;
	struct job job; /* for readers: store_job() gave it; most_live 0: not known (yet) */
	int status;	/* of the command (run), as wait(2); -1: none */
	/* Of the recording itself; store_close() fills them in, whatever the caller gives. */
	int error;	  /* why the writing ended early, -errno; 0: it did not */
	uint64_t dropped; /* rows given but not written */
};

struct store;

/* Refuses an existing file (-EEXIST) unless it is empty. Says errors. */
int store_create(struct store **s, const char *path, const struct run_info *info);
int store_event(struct store *s, const struct event *ev);    /* raw edge, sample, fault, note */
int store_process(struct store *s, const struct process *p); /* begun, or ended: upsert */
int store_phase(struct store *s, const struct phase *ph);
int store_cgroup(struct store *s, const struct cgroup *c); /* names of process.cgroup_id: upsert */
int store_verdict(struct store *s, const struct verdict *v); /* upsert by id */
int store_unheard(struct store *s, const struct unheard *u);
int store_output(struct store *s, const struct output_piece *p);
/* Takes back pieces of a stream: numbers from up to and with to. */
int store_output_drop(struct store *s, uint32_t stream, uint64_t from, uint64_t to);
int store_output_totals(struct store *s, const struct output_totals *t); /* upsert */
int store_covered(struct store *s, uint64_t mm_id, uint64_t from_win, uint64_t to_win);
int store_job(struct store *s, const struct job *j);
int store_losses(struct store *s, const uint64_t losses[PP_LOSS_MAX], uint64_t missed);
/*
 * Everything up to ns has been given: that is how far the recording goes if nothing comes any more.
 */
int store_reached(struct store *s, uint64_t ns);
/* How the writer did. */
struct store_times {
	uint64_t commits, checkpoints;
	uint64_t commit_max_ns;	    /* longest commit */
	uint64_t checkpoint_max_ns; /* longest copy of the log into the file */
	uint64_t behind_max_ns;	    /* largest age of a row when it had become durable */
	uint64_t dropped;	    /* rows given but not written */
};
/* Writes all, closes. 0, or the first error of the whole life: -ENOSPC, -EIO, … Nulls *s. */
int store_close(struct store **s, const struct run_end *end);
/* The same; *times, if not NULL, as it was at the end. */
int store_close_timed(struct store **s, const struct run_end *end, struct store_times *times);
/* Rows given but not written so far: what waits in the queue is not known yet. */
uint64_t store_dropped(const struct store *s);

struct recording;

/*
 * Opens for reading; says what is wrong: not a recording, torn, newer schema, empty, no access.
 * 0, -ENOENT, -EACCES, -EBADMSG (foreign or torn), -ENOTSUP (newer), -ENODATA (empty), -EIO.
 * The strings of *info live until recording_close().
 */
int recording_open(struct recording **r, const char *path);
/*
 * The same, for one that reads again and again while it is written: phases that have ended, and
 * processes as their beginning and end left them, without a replay of what is open.
 */
int recording_open_as_written(struct recording **r, const char *path);
void recording_close(struct recording **r);
const struct run_info *recording_info(const struct recording *r);
const struct run_end *recording_end(const struct recording *r);

/*
 * The functions below return 0, what fn returned when it was not 0, or -EBADMSG, -EIO, -ENOMEM
 * (said). One thread at a time; not in a process that is writing the same file (POSIX locks).
 *
 * Raw events but notes, in the order in which they were given; fn returns 0 to go on. */
int recording_each_event(struct recording *r, int (*fn)(void *, const struct event *), void *ctx);

/* Processes by start; phases of one process by start, outer before inner; bounded memory. */
int recording_each_process(struct recording *r, int (*fn)(void *, const struct process *),
			   void *ctx);
int recording_each_phase(struct recording *r, uint64_t mm_id,
			 int (*fn)(void *, const struct phase *), void *ctx);
/* Verdicts of a process (0: of all), by time. */
int recording_each_verdict(struct recording *r, uint64_t mm_id,
			   int (*fn)(void *, const struct verdict *), void *ctx);
/* Phases of mm_id open at window win, outermost first: the owner of a peak is the last one. */
int recording_phases_at(struct recording *r, uint64_t mm_id, uint64_t win,
			int (*fn)(void *, const struct phase *), void *ctx);
/* The implied phase of mm_id that begins behind window win, without where: 1, 0, or -errno. */
int recording_implied_from(struct recording *r, uint64_t mm_id, uint64_t win, struct phase *out);
/* The names of a cgroup: 1, 0 where they are not known, or -errno as above. */
int recording_cgroup(struct recording *r, uint64_t id, struct cgroup *out);
/* In the order in which they became known. */
int recording_each_unheard(struct recording *r, int (*fn)(void *, const struct unheard *),
			   void *ctx);
/* Phases of mm_id with that very headroom_min, in the order of recording_each_phase(). */
int recording_phases_of_headroom(struct recording *r, uint64_t mm_id, uint64_t headroom_min,
				 int (*fn)(void *, const struct phase *), void *ctx);
/* Phases of mm_id open at that moment, as recording_phases_at(). */
int recording_phases_at_time(struct recording *r, uint64_t mm_id, uint64_t ns,
			     int (*fn)(void *, const struct phase *), void *ctx);
/* Who held how much at the moment of the job's largest sum: largest first. */
int recording_each_share(struct recording *r, int (*fn)(void *, const struct job_share *),
			 void *ctx);
/*
 * Notes of mm_id by thread and number, owner 0. note_text: at most n->bytes bytes of it into buf;
 * an error like those above. Not from within fn.
 */
int recording_each_note(struct recording *r, uint64_t mm_id, int (*fn)(void *, const struct note *),
			void *ctx);
int recording_note_text(struct recording *r, const struct note *n, char *buf);
/*
 * What programs wrote: of mm_id, by stream and offset; of all (0), by number. What is missing shows
 * in the offsets.
 */
int recording_each_output(struct recording *r, uint64_t mm_id,
			  int (*fn)(void *, const struct output_piece *), void *ctx);
/* Of one stream, from its end. */
int recording_each_output_back(struct recording *r, uint64_t mm_id, uint32_t stream,
			       int (*fn)(void *, const struct output_piece *), void *ctx);
/* One of them, by its number; -ENOENT: it is there no more. */
int recording_output(struct recording *r, uint64_t id, struct output_piece *out);
int recording_each_output_totals(struct recording *r,
				 int (*fn)(void *, const struct output_totals *), void *ctx);
int recording_each_sample(struct recording *r, uint64_t mm_id,
			  int (*fn)(void *, const struct event *), void *ctx);
/* The last sample of mm_id after from_ns and not after to_ns: 1, 0 there is none, -errno. */
int recording_last_sample(struct recording *r, uint64_t mm_id, uint64_t from_ns, uint64_t to_ns,
			  struct event *out);

/*
 * For who follows a recording as it grows: rows whose number is above `after`, by their numbers.
 * phases: those of marks, or the implied ones, which are final only when the tracing has ended.
 */
int recording_samples_after(struct recording *r, uint64_t after,
			    int (*fn)(void *, uint64_t id, const struct event *), void *ctx);
int recording_note_pieces_after(struct recording *r, uint64_t after,
				int (*fn)(void *, uint64_t id, const struct event *), void *ctx);
int recording_phases_after(struct recording *r, uint64_t after, bool implied,
			   int (*fn)(void *, const struct phase *), void *ctx);
int recording_output_after(struct recording *r, uint64_t after, uint32_t stream,
			   int (*fn)(void *, const struct output_piece *), void *ctx);

/*
 * Feeds the raw events to a model of the caller's sink and finishes it at the last event, or where
 * the tracer of an unfinished one had come to: the one place where recorded events run through the
 * model. *counts and *end_ns may be NULL.
 */
int recording_replay(struct recording *r, const struct model_sink *sink,
		     struct model_counts *counts, uint64_t *end_ns);
/* The same; fn sees each event after the model did, and ends the replay with what is not 0. */
int recording_replay_events(struct recording *r, const struct model_sink *sink,
			    int (*fn)(void *, const struct event *), void *ctx,
			    struct model_counts *counts, uint64_t *end_ns);

/*
 * A recording without an end (the tracer died, or goes on) has raw events but not the phases that
 * are open, nor what their processes have reached: recording_open() then replays the events through
 * the model into a temporary database beside the reader's own connection, so that every reader sees
 * all of it.
 */

#endif
