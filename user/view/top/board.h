/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the live view knows of a run: its processes, their phases and their memory over time, as
 * events and the model tell them. Live and of a recording it is filled alike; a view of it is of
 * some moment of that time.
 *
 * Bounded: so many phases and ended processes are kept, those with the largest peaks, and it is
 * counted what was dropped. One thread fills it, another looks: each under the lock. Who fills
 * holds it for an event, who looks for a frame's layout, never while anything is drawn.
 */
#ifndef PEAKPHASE_VIEW_TOP_BOARD_H
#define PEAKPHASE_VIEW_TOP_BOARD_H

#include <pthread.h>

#include "view/source.h"
#include "view/verdict.h"
#include "view/top/series.h"
#include "view/top/threads.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#define BOARD_PHASES_MAX 16384u
#define BOARD_PROCESSES_MAX 4096u
#define BOARD_VERDICTS_MAX 256u
#define BOARD_CGROUPS_MAX 1024u

struct board_phase {
	struct phase ph;	   /* where: not kept */
	struct board_phase *older; /* of the same process */
	bool drop;
};

struct board_process {
	struct process p; /* as the model told it last */
	bool ended;	  /* p has its end */
	bool gone;	  /* its memory counts no more */
	uint64_t last_ns; /* of its last event */
	uint64_t now;	  /* RSS, bytes */
	struct ev_members members;
	uint64_t charge, limit, headroom; /* EV_NONE */
	uint64_t win, win_max, win_min;	  /* samples of the open window */
	struct series rss;
	struct threads threads;
	struct board_phase *phases;	    /* finished, newest first */
	struct board_process *image;	    /* what it became by exec; NULL */
	struct board_process *child, *next; /* scratch of whoever makes a tree of them */
	uint64_t key;			    /* scratch: what it is sorted by */
	bool listed, small;
	bool drop;
	UT_hash_handle hh;
};

/* The largest sum of the RSS of all processes: of one process simply its peak. */
struct board_peak {
	uint64_t bytes, at_ns, mm_id; /* mm_id: whose memory rose to it; 0: none yet */
};

struct board {
	pthread_mutex_t lock;
	const struct model *model;	 /* open phases; NULL: before and after the tracing */
	struct report_run run;		 /* facts, set by who wires; strings live as long */
	struct board_process *processes; /* table, in the order of begin */
	size_t nprocesses;		 /* images */
	size_t live, begun;		 /* processes */
	struct board_phase **done;	 /* by end; those that `drop` are to be passed over */
	size_t ndone, room, ncovered;
	uint64_t nphases; /* that ended, kept or not */
	uint64_t changes; /* of the list of phases */
	uint64_t dropped_processes;
	size_t nthreads;	      /* of all processes */
	struct board_cgroup *cgroups; /* table: those of containers */
	struct verdict *verdicts;     /* the last ones */
	size_t nverdicts;
	struct series rss; /* sum of all */
	uint64_t now;
	struct board_peak peak;
	uint64_t charge_peak;	    /* EV_NONE */
	uint64_t first_ns, last_ns; /* of the events */
	bool over;		    /* the tracing has ended: at last_ns */
	int status;		    /* then: of the command, as wait(2); -1: none */
};

int board_init(struct board *b);
void board_free(struct board *b);

void board_lock(struct board *b);
/* False: the one who fills it had it for so long. */
bool board_lock_for(struct board *b, unsigned int ms);
void board_unlock(struct board *b);

/* From the sinks of the model and, after model_feed(), the events; under the lock. */
void board_process_begun(struct board *b, const struct process *p);
void board_phase_ended(struct board *b, const struct phase *ph);
void board_covered(struct board *b, uint64_t mm_id, uint64_t from_win, uint64_t to_win);
void board_process_ended(struct board *b, const struct process *p);
/* It ended otherwise than was said. */
void board_process_revised(struct board *b, const struct process *p);
void board_verdict(struct board *b, const struct verdict *v);
void board_event(struct board *b, const struct event *ev);
/* What a cgroup of some of them is called. One that is no container's is not kept. */
void board_cgroup(struct board *b, const struct cgroup *c);
/* The tracing ended; the model is left alone from now on. */
void board_over(struct board *b, uint64_t end_ns, int status);

/* NULL: in no container that is known. */
const struct cgroup *board_cgroup_of(const struct board *b, uint64_t id);
void board_cgroups_free(struct board *b); /* by board_free() */

struct board_process *board_find(const struct board *b, uint64_t mm_id);

/* That with the largest peak; NULL: there is none yet. */
const struct board_process *board_largest(const struct board *b);

/*
 * Phases of a process that were open at a moment (the end of the time known, or one before),
 * outermost first, as they stood then; what that takes is not all kept: in the past grew and faults
 * are 0, the peak is the curve's. At most max. `now`: the moment is the end.
 */
size_t board_open_at(const struct board *b, const struct board_process *bp, uint64_t at_ns,
		     bool now, struct phase *out, size_t max);

/* The same of those open in a window of its own. */
size_t board_open_in(const struct board *b, const struct board_process *bp, uint64_t win,
		     struct phase *out, size_t max);

/* Processes, phases and names on the board, for views of a moment of it; under the lock. */
struct report_source board_source(struct board *b);

struct verdict_who board_who(const struct board *b, const struct verdict *v);

/* The innermost phase that a thread had open at a moment, as far as one was named. */
bool board_thread_open(const struct board *b, const struct board_process *bp, uint32_t tid,
		       uint64_t at_ns, bool now, struct phase *out);

/* RSS of a process at a moment, 0 before its begin and after its end. */
uint64_t board_rss_at(const struct board_process *bp, uint64_t at_ns);

#endif
