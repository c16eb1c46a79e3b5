/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Private to user/model: what the model keeps of one mm's life. What is done to it is in the
 * headers of the files that do it.
 *
 * Everything a phase needs from its beginning is kept in a `point`; what it needs from its time is
 * asked of the stacks when it ends. So an open phase costs one point, and an edge costs the same
 * whatever is open.
 */
#ifndef PEAKPHASE_MODEL_STATE_H
#define PEAKPHASE_MODEL_STATE_H

#include "model/job.h"
#include "model/model.h"
#include "model/stack.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>
#include <utlist.h>

/* Bounds, over all processes of a model: together about 70 MiB at worst, 9 more with --where. */
#define SPANS_MAX 98304u
#define LABELS_MAX (16u << 20) /* bytes of labels of open spans */
#define THREADS_MAX 32768u
#define SNAPS_MAX 32768u
/* Edges of one mm held back for an earlier one, and for how long (time of events). */
#define PENDING_MAX 64u
#define PENDING_NS 2000000000ull

/* Cumulative counters of one thread, or of all threads of a process. */
struct tally {
	uint64_t grew, shrank, minflt, majflt;
};

/* State at the edge where something began. */
struct point {
	uint64_t win, time_ns, bytes;
	uint64_t lost, doubts; /* cumulative: a difference at the end touches the phase */
	struct tally tally;
	struct snap *snap; /* hits by mapping; NULL: none yet */
};

/* What a phase takes from its windows. EV_NONE: not known, no limit. */
struct maxima {
	struct peak peak;
	uint64_t anon, file; /* each its own */
	uint64_t charge, headroom, limit;
};

/* The open gap as far as the beginning of a thread within it (checkpoint.c). */
struct gap_cut {
	struct tally sum;
	struct maxima max;
};

/* The last two threads that did something, and in which window. */
struct recent {
	uint64_t thread[2], win[2];
};

struct span;

struct thread {
	uint32_t tid;
	uint32_t open;	     /* spans */
	uint64_t serial;     /* tells threads apart, whatever their tid; from 1 */
	bool idle;	     /* nothing but its beginning was seen: the first to be forgotten */
	bool dead;	     /* out of the table; freed with its last span */
	uint32_t from_depth; /* spans open at `from` */
	struct tally last;
	struct point from;     /* the last checkpoint, else the beginning of the thread */
	struct gap_cut cut;    /* of a thread that began in a gap, until its first checkpoint */
	uint64_t last_mark;    /* window that its last checkpoint ended; 0: none */
	uint64_t oldest_ended; /* earliest start of the spans ended since then */
	struct span *spans;    /* open ones, by begin */
	struct stack *ends;    /* spans that did not end in the order of a stack (overlap.c) */
	struct thread *prev, *next; /* by from.win, rising */
	UT_hash_handle hh;
};

struct span {
	struct point from;
	uint64_t token;
	struct thread *thread;
	struct span *older, *newer; /* open spans of the same token */
	struct span *prev, *next;   /* of the process, by begin */
	struct span *tprev, *tnext; /* of the thread, by begin */
	uint64_t printed;
	uint32_t depth;
	enum phase_origin origin;
	bool crowded; /* spans of other threads were open when it began */
	uint16_t label_len, label_flags;
	uint64_t label_hash;
	UT_hash_handle hh;
	char label[];
};

struct pending {
	uint64_t win;
	struct pending *prev, *next;
	struct event ev;
};

/* What the next window has at its very beginning: the values at the edge before it. */
struct carry {
	uint64_t bytes;
	struct stack_point at;
	uint64_t anon, file;		  /* each its own maximum */
	uint64_t charge, headroom, limit; /* EV_NONE: not known, none */
};

/* The timeline's word on the window that is still open. */
struct tail {
	uint64_t win;
	uint64_t max;
	struct stack_point at;
	uint64_t now, charge, time_ns;
	uint64_t rose; /* sum of the rises seen since the window began */
};

/* RSS at the last moment of each HISTORY_NS that has one: what it was a few seconds ago. */
#define HISTORY_MAX 24u
#define HISTORY_NS 125000000ull

struct history {
	uint64_t ns[HISTORY_MAX], bytes[HISTORY_MAX];
	uint32_t n; /* ever noted; the last HISTORY_MAX are there */
};

/* The last that were killed: the OOM killer's word may come after the end. */
#define KILLED_MAX 16u

struct killed {
	struct process pub;
	struct verdict verdict;
	struct phase grown;
};

struct mm {
	uint64_t id;
	struct process pub;
	bool begun;
	uint64_t next;	/* number of the open window */
	uint64_t shift; /* added to the wire's numbers: 1 if the base was lost, else 0 */
	uint64_t last_ns, now_bytes;
	uint32_t now_threads; /* by the last edge; 0: it does not tell */
	uint64_t doubts;      /* events that make open phases inexact */
	struct carry carry;
	struct tail tail;
	struct stack rss, anon, file;
	struct stack charge, headroom, limit; /* headroom and limit: of the complement */

	struct pending *pending; /* by number */
	unsigned int npending;
	uint64_t pending_since;
	struct mm *wprev, *wnext; /* processes with pending edges, by pending_since */
	bool waiting;

	struct point start;
	struct thread *threads; /* table */
	struct thread *by_from; /* the same as a list, by from.win */
	struct thread *cached;
	uint64_t serial;
	uint32_t gone_tid; /* the last that ended */
	bool evicted;	   /* threads were forgotten: an unknown one may be an old one */
	uint64_t live_threads, max_threads;

	struct span *tokens; /* table: newest of each token */
	struct span *spans;  /* by begin */
	uint32_t open;
	struct recent begins, ends, marks;

	bool gap_open;
	bool marked;			      /* anything was marked */
	struct point gap;		      /* its tally is that of all threads */
	bool implied;			      /* implied phases are out that were not covered */
	uint64_t implied_first, implied_last; /* their earliest start; bound of the latest */
	struct tally sum;   /* of all threads: faults; grew and shrank as the edges say */
	struct phase grown; /* model_grown(); id 0: none */

	struct history history;
	struct ev_label last_mark; /* of a checkpoint; flags and len 0: none yet */
	bool checkpoints;	   /* there was one */
	bool chosen;		   /* by the OOM killer */
	bool unended;		   /* no edge ended its last window */
	uint64_t oom_verdict;	   /* id of what was said of that; 0: nothing yet */
	bool ceiling_crossed, headroom_crossed;

	struct where *where; /* NULL: no fault yet */
	UT_hash_handle hh;
};

struct model {
	struct model_options opt;
	struct model_sink sink;
	struct model_counts counts;
	struct job_fold job;
	struct mm *mms, *cached;
	struct mm *waiting;
	uint64_t phases;
	uint64_t seed;
	size_t nspans, label_bytes, nthreads, nsnaps;
	uint64_t ended[64]; /* ids of the last mms that ended: their late edges make no process */
	unsigned int nended;
	struct phase_where *where; /* scratch for one phase */
	uint64_t verdicts;
	struct killed killed[KILLED_MAX];
	unsigned int nkilled;
	bool finished;
};

static inline uint64_t minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* The wire has the low bits of a window's number: the whole one nearest to the one that is due. */
static inline uint64_t number_of_window(const struct mm *p, uint64_t seq)
{
	const uint64_t mask = 0xffffff, half = 0x800000;
	uint64_t ahead = (seq + p->shift - p->next) & mask;

	return ahead < half ? p->next + ahead : minus(p->next, mask + 1 - ahead);
}

static inline enum phase_origin origin_of(const struct event *ev)
{
	return ev->flags & PP_F_OUTPUT ? PH_FROM_OUTPUT : PH_FROM_CALL;
}

#endif
