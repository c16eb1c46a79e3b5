/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Notes: text that a program gave to one of its phases. They come beside the edges, not among them,
 * and know their moment, thread and perhaps the token of a span: that, and the finished phases,
 * tell whose they are. Pieces of what a program wrote are the same to their phases: texts with a
 * moment, a thread and no token.
 */
#ifndef PEAKPHASE_MODEL_NOTE_H
#define PEAKPHASE_MODEL_NOTE_H

#include "model/phase.h"

struct note {
	uint64_t mm_id;
	uint32_t pid, tid;
	uint64_t time_ns, token; /* token 0: of the innermost phase of its thread */
	uint32_t number;	 /* in its thread */
	uint32_t flags;		 /* PP_NOTE_*; without PP_NOTE_LAST its rest was lost */
	uint32_t bytes;
	uint64_t first_id, last_id; /* of its pieces in the recording */
	uint32_t stream;	    /* of output: 1 stdout, 2 stderr; 0: a note */
	uint64_t at;		    /* of output: where it begins in its stream */
	uint64_t missing;	    /* of output: bytes before it that are not there */
	uint64_t owner;		    /* id of its phase; 0: none (yet) */
	uint32_t claim;		    /* how good the owner's claim is */
};

/* Sorts by time: what notes_offer() wants. */
void notes_sort(struct note *notes, size_t n);

/*
 * To be called for each phase of the process, by start, outer before inner: takes the notes that
 * are rather this phase's than that of any phase before it. The span with the token; else the
 * innermost phase of the thread; else the innermost of another one that was open; else the implied
 * one.
 */
void notes_offer(struct note *notes, size_t n, const struct phase *ph);

/* Sorts by owner, then time (output: stream and place in it); then *count notes of that phase are
 * at the result. */
void notes_sort_by_owner(struct note *notes, size_t n);
const struct note *notes_of(const struct note *notes, size_t n, uint64_t phase_id, size_t *count);

#endif
