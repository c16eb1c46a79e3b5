/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a report says before its rows: the largest peak and its owner, the lowest headroom, the job
 * as a whole. Found in one pass over the processes and a few look-ups of phases.
 */
#ifndef PEAKPHASE_VIEW_ANSWER_H
#define PEAKPHASE_VIEW_ANSWER_H

#include "view/source.h"

struct answer {
	uint64_t images; /* rows of processes: an exec makes a new one */
	uint64_t processes;
	uint64_t killed;      /* by a signal or for want of memory */
	uint64_t start_ns;    /* of the first */
	bool exact;	      /* every number of every process, and nothing lost but samples */
	uint64_t error_bytes; /* largest bound of a process */
	struct process top;   /* with the largest peak, the first such */
	bool has_owner;
	struct phase owner;   /* of its peak; without where */
	uint64_t charge_peak; /* largest of any process; EV_NONE: not known */
	struct process tight; /* with the lowest headroom; mm_id 0: no limit */
	bool has_tight_phase;
	struct phase tight_phase; /* innermost with that headroom */
};

/* 0 or -errno of the source; processes == 0: nothing was traced. */
int answer_find(struct answer *a, const struct report_source *src);

/* The owner of p's peak in *owner (without where). 1 found, 0 none, -errno. */
int answer_owner(const struct report_source *src, const struct process *p, struct phase *owner);

/* Phases open when p was killed, outermost first. 0, -errno, or what fn returned. */
int answer_each_open_at_death(const struct report_source *src, const struct process *p,
			      report_phase_fn fn, void *arg);

/* Does outer enclose inner on its thread, so that naming inner is enough? */
bool answer_encloses(const struct phase *outer, const struct phase *inner);

#endif
