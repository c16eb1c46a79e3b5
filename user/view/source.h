/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where a report gets its rows: a recording, a live session, or a test's own. Views know nothing
 * of the store; who wires them fills this in.
 */
#ifndef PEAKPHASE_VIEW_SOURCE_H
#define PEAKPHASE_VIEW_SOURCE_H

#include "model/cgroup.h"
#include "decode/unheard.h"
#include "model/model.h"
#include "model/kept.h"
#include "model/note.h"
#include "model/tail.h"

/* Facts of the run; strings may be NULL, live as long as the source, and are not escaped. */
struct report_run {
	const char *version, *kernel, *machine;
	const char *host;	   /* where it runs; NULL: not known */
	const char *mode;	   /* "run", "attach" */
	const char *command;	   /* what was run or attached to */
	const char *counters;	   /* "percpu", "atomic" */
	const char *probe;	   /* site probed: "nop10", … */
	uint64_t wall_ns, mono_ns; /* CLOCK_REALTIME and CLOCK_MONOTONIC at one instant */
	uint64_t boot_ns;	   /* CLOCK_BOOTTIME at that instant; 0: not known */
	uint64_t end_ns;	   /* up to where it goes */
	uint64_t error_per_thread; /* bytes; 0: the kernel's counters are exact */
	uint32_t where_every;	   /* one fault in so many was sampled; 0: none */
	bool exact;
	bool finished; /* false: the tracer ended before the program, or it goes on */
	bool running;  /* a tracer is still writing */
	int error;     /* why the writing ended early, -errno; 0: it did not, or nobody could say */
	uint64_t dropped; /* rows that are missing for it */
	uint64_t losses[PP_LOSS_MAX];
	uint64_t missed; /* runs of BPF programs that the kernel skipped */
	struct model_counts counts;
	struct job job; /* without shares; most_live 0: not known (yet) */
};

typedef int (*report_process_fn)(void *arg, const struct process *p);
typedef int (*report_unheard_fn)(void *arg, const struct unheard *u);
typedef int (*report_phase_fn)(void *arg, const struct phase *ph);
typedef int (*report_note_fn)(void *arg, const struct note *n);
typedef int (*report_totals_fn)(void *arg, const struct output_totals *t);
typedef int (*report_share_fn)(void *arg, const struct job_share *s);
typedef int (*report_verdict_fn)(void *arg, const struct verdict *v);

/*
 * Each function calls fn for every row until fn returns something else than 0, which it then
 * returns; -errno if it fails itself. Calls nest: phases are asked for within each_process.
 */
struct report_source {
	void *ctx;
	const struct report_run *run;
	int (*each_process)(void *ctx, report_process_fn fn, void *arg); /* by start */
	/* By start, outer before inner. */
	int (*each_phase)(void *ctx, uint64_t mm_id, report_phase_fn fn, void *arg);
	/* Open at window win, outermost first: the last one owns a peak of that window. */
	int (*phases_at)(void *ctx, uint64_t mm_id, uint64_t win, report_phase_fn fn, void *arg);
	/* The same at a moment. */
	int (*phases_at_time)(void *ctx, uint64_t mm_id, uint64_t ns, report_phase_fn fn,
			      void *arg);
	/*
	 * The RSS of a process as it was told last, after from_ns and not after to_ns: 1, 0 where
	 * nothing was told then, -errno.
	 */
	int (*rss_at)(void *ctx, uint64_t mm_id, uint64_t from_ns, uint64_t to_ns, uint64_t *bytes);
	/* Of the job's largest sum, largest first. */
	int (*each_share)(void *ctx, report_share_fn fn, void *arg);
	/* Verdicts of a process (0: of all), by time. */
	int (*each_verdict)(void *ctx, uint64_t mm_id, report_verdict_fn fn, void *arg);
	/* Those of each_phase with that very headroom_min. */
	int (*phases_of_headroom)(void *ctx, uint64_t mm_id, uint64_t headroom_min,
				  report_phase_fn fn, void *arg);
	/*
	 * The implied phase that begins behind window win, without where: 1, 0 none, -errno. NULL:
	 * it is not wanted.
	 */
	int (*implied_from)(void *ctx, uint64_t mm_id, uint64_t win, struct phase *out);
	/* Names of a cgroup: 1, 0 where they are not known, -errno. */
	int (*cgroup)(void *ctx, uint64_t id, struct cgroup *out);
	/* Times in which marks may have been missed. */
	int (*each_unheard)(void *ctx, report_unheard_fn fn, void *arg);
	/* Of a process, in any order. NULL: there are none. */
	int (*each_note)(void *ctx, uint64_t mm_id, report_note_fn fn, void *arg);
	/* Its n->bytes bytes into buf; 0 or -errno. Not from within each_note. */
	int (*note_text)(void *ctx, const struct note *n, char *buf);
	/*
	 * The same of what it wrote, by stream and place. NULL: it is not wanted. output_of: of
	 * these phases only; none: of all. output_text: -ENOENT, it is there no more.
	 */
	int (*each_output)(void *ctx, uint64_t mm_id, report_note_fn fn, void *arg);
	int (*output_text)(void *ctx, const struct note *n, char *buf);
	const char *const *output_of;
	size_t noutput_of;
	/* The streams that are kept. NULL, as of the next one: there are none. */
	int (*each_output_totals)(void *ctx, report_totals_fn fn, void *arg);
	/* The end of what a process wrote to stderr; empty: nothing, or not kept. 0 or -errno. */
	int (*stderr_tail)(void *ctx, uint64_t mm_id, struct tail *out);
};

#endif
