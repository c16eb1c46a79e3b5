/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Threads of a process, as its edges tell of them: a thread that never marked is only counted, for
 * the kernel tells its beginning and nothing more. Counters are those of the last edge of each.
 * Bounded: of too many, those that ended go first, then those of the oldest marks.
 */
#ifndef PEAKPHASE_VIEW_TOP_THREADS_H
#define PEAKPHASE_VIEW_TOP_THREADS_H

#include "decode/event.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#define THREADS_EACH_MAX 1024u /* of one process */
#define THREADS_ALL_MAX 16384u

struct board_thread {
	uint32_t tid;
	bool ended;
	uint64_t first_ns, last_ns; /* of its edges */
	uint64_t grew, minflt, majflt;
	UT_hash_handle hh;
};

struct threads {
	struct board_thread *table;
	uint64_t begun, known; /* ever; known: by a mark of theirs */
};

/* all: how many there are in the tables of all processes. */
void threads_event(struct threads *t, const struct event *ev, size_t *all);
void threads_free(struct threads *t, size_t *all);

static inline size_t threads_count(const struct threads *t)
{
	return HASH_COUNT(t->table);
}

/* That marked nothing, so far as is known. */
static inline uint64_t threads_unmarked(const struct threads *t)
{
	return t->begun > t->known ? t->begun - t->known : 0;
}

#endif
