/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events → processes and phases. Pure: no I/O, no clock, no global; the same events in the same
 * order give the same calls. Not thread-safe: one model belongs to one thread.
 *
 * Edges of one mm are put in the order of their window numbers before they are folded, so callers
 * may feed them as the rings deliver them. Memory is bounded by open phases, live processes and
 * their threads, never by the number of marks (stack.h says how), and open phases and threads
 * by limits of their own (about 70 MiB in all).
 */
#ifndef PEAKPHASE_MODEL_MODEL_H
#define PEAKPHASE_MODEL_MODEL_H

#include "model/phase.h"
#include "model/verdict.h"

struct model;

/* Pointers handed out are valid during the call only. Any function may be NULL. */
struct model_sink {
	void *ctx;
	void (*process_begun)(void *ctx, const struct process *p);
	void (*phase_ended)(void *ctx, const struct process *p, const struct phase *ph);
	/*
	 * Implied phases of mm_id that lie within windows (from_win, to_win] were covered by a
	 * checkpoint, whose label named that interval only when it ended: forget them.
	 */
	void (*implied_covered)(void *ctx, uint64_t mm_id, uint64_t from_win, uint64_t to_win);
	void (*process_ended)(void *ctx, const struct process *p);
	/* Once, after all the rest, by model_finish(). */
	void (*job)(void *ctx, const struct job *j);
	/* It ended otherwise than was said: the OOM killer's word came after the end. */
	void (*process_revised)(void *ctx, const struct process *p);
	/* At once: before the process_ended of what was killed. */
	void (*verdict)(void *ctx, const struct process *p, const struct verdict *v);
};

struct model_options {
	/* Bound of the kernel's counters, bytes per thread: 0 since 6.2, 64 pages before. */
	uint64_t error_per_thread;
	/* Bytes: RSS, and room below the limit, whose first crossing is a verdict; 0: none is. */
	uint64_t ceiling, headroom;
};

/* What the model could not place. */
struct model_counts {
	uint64_t edges, samples, faults;
	uint64_t bad_ends;  /* ends without a begin, twice, or of another process's token */
	uint64_t orphans;   /* edges of an mm whose base was lost */
	uint64_t reordered; /* edges that came before an earlier one */
	uint64_t cut_open;  /* open phases closed because there were too many (a bound) */
};

/* NULL: no memory. The sink is copied. */
struct model *model_new(const struct model_options *opt, const struct model_sink *sink);
void model_free(struct model **m);

/* 0, -ENOMEM. Unknown mms, ends without begin and the like are counted, not errors. */
int model_feed(struct model *m, const struct event *ev);

/*
 * The tracing ended at end_ns: what is still open is handed out as ended by the trace, processes
 * as running. A process whose last edge was PP_DETACH has been handed out like that already, with
 * exact numbers. Of others no edge ends the last window: its maximum and the last RSS are those of
 * the samples, and marked inexact: a killed tracer saw nothing of what came after them. Their
 * phases are open (phase_open()).
 * Feeding after it is an error (-EINVAL).
 */
int model_finish(struct model *m, uint64_t end_ns);

const struct model_counts *model_counts(const struct model *m);

/* Calls fn for every live process, with its numbers so far. */
void model_each_process(const struct model *m, void (*fn)(void *, const struct process *),
			void *ctx);

/*
 * For every open phase of a live process, by begin, outermost first: what it would be if it ended
 * at now_ns (ended_by PH_BY_TRACE, id 0, no where). Without a span that is the time since the last
 * mark: (startup), or (between). Its numbers are those that model_finish() would give it now. fn
 * returns 0 to go on; anything else is returned.
 */
int model_each_open(const struct model *m, uint64_t mm_id, uint64_t now_ns,
		    int (*fn)(void *, const struct phase *), void *ctx);

/*
 * Of the phases that have ended of a process that lives, or was killed of late, the one that grew
 * most, rather an inner one that did at least half of it; NULL: none, or no such process. Without
 * where; valid until the next event.
 */
const struct phase *model_grown(const struct model *m, uint64_t mm_id);

#endif
