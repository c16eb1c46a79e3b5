/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Private to user/model: the traced processes together. What each held at one and the same time is
 * added, never peaks of different times.
 *
 * The RSS of a process is known at its edges, at its samples, and at the maximum of each window;
 * between these it may have moved by as much as makes no sample due (bpf/logic.h). The sum is the
 * sum of what was known last of each, and its bound the sum of what they may have moved.
 *
 * Edges and samples come by different rings, and a maximum is told when its window ends: so all of
 * it waits for a second, and is folded in the order of its time.
 */
#ifndef PEAKPHASE_MODEL_JOB_H
#define PEAKPHASE_MODEL_JOB_H

#include "model/phase.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct step;

/* A process in the sum. */
struct member {
	uint64_t id;	  /* mm_id */
	uint64_t value;	  /* RSS as known last */
	uint64_t told;	  /* RSS at its last edge, which may still wait */
	uint64_t sampled; /* at the last sample: what the next one being due is measured by */
	uint64_t slack;	  /* may be off by */
	uint64_t error;	  /* of this kernel's counters */
	uint64_t version; /* `then` is of this moment of the fold's; else value is */
	uint64_t then;
	bool live, ending;
	struct member *next; /* gone */
	UT_hash_handle hh;
};

struct job_fold {
	uint64_t error_per_thread;
	struct step *steps; /* heap, earliest first */
	size_t nsteps, cap;
	uint64_t order, newest_ns, done_ns;
	struct member *members; /* table */
	struct member *gone;	/* ended since the largest sum, which they were part of */
	uint64_t sum, slack;	/* of all members, now */
	uint64_t live, most_live;
	uint64_t upper; /* no sum was larger than this */
	/* The last two members that changed, and when: does what the others held still hold? */
	uint64_t last_id, last_ns, other_ns;
	uint64_t version; /* counts moments of a new largest sum */
	struct job best;
	struct job_share *shares;
};

void job_init(struct job_fold *j, uint64_t error_per_thread);
/* An edge or a sample. 0, -ENOMEM. */
int job_feed(struct job_fold *j, const struct event *ev);
/* All that waits is folded; *out is valid until job_free(). 0, -ENOMEM. */
int job_finish(struct job_fold *j, struct job *out);
void job_free(struct job_fold *j);

#endif
