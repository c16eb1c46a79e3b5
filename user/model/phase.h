/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the model makes of events: processes and phases. Plain values, no pointers into the model
 * but `where` (valid during the call that hands them out). Units as in decode/event.h.
 */
#ifndef PEAKPHASE_MODEL_PHASE_H
#define PEAKPHASE_MODEL_PHASE_H

#include "decode/event.h"

/* The numbers are in recordings: append only. */
enum phase_kind { PH_CHECKPOINT = 1, PH_SPAN, PH_STARTUP, PH_BETWEEN, PH_AFTER };

enum phase_ended {
	PH_BY_MARK = 1, /* a checkpoint, or the mark after an implied phase */
	PH_BY_END,	/* log_rss_end */
	PH_BY_EXIT,	/* open when the process exited: "open at exit" */
	PH_BY_EXEC,
	PH_BY_SIGNAL,
	PH_BY_OOM,
	PH_BY_TRACE, /* open when the tracing ended */
};

/* What told of a phase. The numbers are in recordings: append only. */
enum phase_origin {
	PH_IMPLIED,	/* nothing: (startup), (between), (after) */
	PH_FROM_CALL,	/* the program called a marker */
	PH_FROM_OUTPUT, /* the program printed a line */
};

/* A peak: the first instant at which the RSS was largest. */
struct peak {
	uint64_t bytes, at_ns;
	struct ev_members members; /* at that instant */
	bool members_exact;	   /* members add up to bytes */
	uint64_t win;		   /* number of the window it lies in, from 0, in its process */
};

/* Share of a mapping in the sampled faults of a phase. */
struct phase_where {
	uint32_t mapping; /* enum pp_mapping */
	char name[PP_NAME_MAX];
	uint64_t hits; /* samples: one per `every` faults (options of the run) */
};

/*
 * A phase of a process covers the windows (start_win, end_win]; so it was open at the process's
 * peak iff start_win < peak.win && peak.win <= end_win.
 */
struct phase {
	uint64_t id; /* in order of end, from 1, over the run */
	uint64_t mm_id;
	uint32_t pid, tid; /* tid: the thread that began it (span) or marked it (checkpoint) */
	enum phase_kind kind;
	enum phase_ended ended_by;
	enum phase_origin origin;
	struct ev_label label; /* empty for implied phases */
	uint64_t token;	       /* spans */
	uint64_t start_ns, end_ns;
	uint64_t start_win, end_win;
	uint64_t start_bytes, end_bytes;
	struct peak peak;
	/* Largest ANON and FILE at any instant of it: each its own, not what they were at the peak.
	 */
	uint64_t anon_peak, file_peak;
	/*
	 * Growth of the phase's own thread for checkpoints and spans whose begin and end ran on one
	 * thread; of all threads of the process for implied phases. A span that ended on another
	 * thread has that of its first thread up to the last edge of that thread within the span.
	 * Of a phase that is open (below): what is known of it so far, EV_NONE where that is
	 * nothing; shrank_bytes is EV_NONE.
	 */
	uint64_t grew_bytes, shrank_bytes;
	uint64_t faults_minor, faults_major; /* of the same thread(s) as grew */
	uint64_t charge_peak;		     /* EV_NONE: not known */
	uint64_t limit;			     /* smallest in force during the phase; EV_NONE: none */
	uint64_t headroom_min;		     /* limit − charge, smallest; EV_NONE: no limit */
	uint64_t printed_bytes;		     /* that the program's line named; EV_NONE: none */
	uint32_t depth;			     /* spans open on the same thread when it began */
	bool overlaps;			     /* shares time with a phase it does not nest with */
	bool exact;			 /* false: an error bound or a loss touches its numbers */
	uint32_t lost;			 /* edges lost within it */
	uint32_t threads;		 /* of the process at its end; 0: not known */
	const struct phase_where *where; /* largest first; NULL without --where */
	uint32_t nwhere;
};

/*
 * Nothing ended it, not even the end of the tracing: it goes on, or its tracer was killed. So its
 * counts are lower bounds, and start, end and peak are as near as the timeline is.
 */
static inline bool phase_open(const struct phase *p)
{
	return p->shrank_bytes == EV_NONE;
}

/* What is known of it. */
static inline uint64_t phase_grew(const struct phase *p)
{
	return p->grew_bytes == EV_NONE ? 0 : p->grew_bytes;
}

static inline int64_t phase_kept(const struct phase *p)
{
	return (int64_t)(p->end_bytes - p->start_bytes);
}

static inline uint64_t phase_spike(const struct phase *p)
{
	uint64_t rest = p->start_bytes > p->end_bytes ? p->start_bytes : p->end_bytes;

	return p->peak.bytes > rest ? p->peak.bytes - rest : 0;
}

/* What it peaked at was there when it began, all but 5 %: others had brought that in. */
static inline bool phase_began_full(const struct phase *p)
{
	return p->kind != PH_STARTUP && p->start_bytes <= p->peak.bytes &&
	       p->peak.bytes - p->start_bytes < p->peak.bytes / 20;
}

enum process_exit { PX_RUNNING = 1, PX_EXIT, PX_SIGNAL, PX_OOM, PX_EXEC };

/* One program image of a process: from exec, fork or attach to exec or exit. */
struct process {
	uint64_t mm_id, parent_mm_id; /* parent 0: not traced */
	uint32_t pid, ns_pid, ppid;
	uint64_t proc_start_boot_ns; /* with the pid, the identity of the process */
	uint64_t cgroup_id;	     /* its memory cgroup when the image began; 0: not known */
	uint64_t start_ns, end_ns;   /* of the tracing of this image; end 0: still running */
	uint32_t reason;	     /* enum pp_reason */
	char comm[17];
	uint32_t args_len;
	char args[PP_ARGS_MAX];	  /* NUL between arguments */
	uint64_t inherited_bytes; /* RSS at the start, of a forked child */
	uint64_t baseline_bytes;  /* RSS at the start, whatever the reason */
	uint64_t end_bytes;
	uint64_t error_bytes;			   /* bound of this kernel's counters; 0 from 6.2 */
	uint64_t ext_grew_bytes, ext_shrank_bytes; /* changes made by other processes */
	uint64_t grew_bytes, shrank_bytes;	   /* by its own threads */
	struct peak peak;
	uint64_t charge_peak, limit, headroom_min; /* EV_NONE as in struct phase */
	uint32_t limit_level;
	uint64_t windows;  /* number of edges folded */
	uint64_t phases;   /* number of phases handed out */
	uint64_t lost;	   /* edges lost */
	uint64_t bad_ends; /* ends without a begin, or of a token that is not this process's */
	bool exact;
	enum process_exit exit;
	uint32_t status; /* exit status, or number of the signal */
};

/* What a process held at the moment of the job's largest sum. */
struct job_share {
	uint64_t mm_id, bytes;
};

/* All traced processes together. */
struct job {
	uint64_t most_live; /* program images that lived at one time */
	/*
	 * Largest sum of the RSS that they held at one and the same time: pages that processes
	 * share count in each. The true one lies within sum_error_bytes of it, unless samples were
	 * lost.
	 */
	uint64_t sum_bytes, sum_at_ns, sum_error_bytes;
	const struct job_share *shares; /* of it, largest first; valid during the call */
	size_t nshares;
	/* Largest charge seen of a memory cgroup of any of them; EV_NONE: not known. */
	uint64_t charge_bytes, charge_at_ns, charge_mm_id;
};

#endif
