/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A recording, as it grows → the objects that are to be sent. How far it has read is all that it
 * keeps: what cannot be sent waits in the recording. One thread.
 */
#ifndef PEAKPHASE_SINK_GATHER_H
#define PEAKPHASE_SINK_GATHER_H

#include "sink/batch.h"
#include "sink/entry.h"
#include "sink/told.h"
#include "store/store.h"

#define GATHER_READY_MAX 64
#define GATHER_READY_BYTES (4u << 20) /* no more is read beyond it */

enum gather_kind { GATHER_CHECKPOINTS, GATHER_STDERR, GATHER_SAMPLES, GATHER_KINDS };

/* The folders of the keys. */
extern const char *const gather_folders[GATHER_KINDS];

struct gather {
	struct batch open[GATHER_KINDS];
	struct singles singles;
	struct told told;
	struct entry entry;
	uint64_t sample_id, phase_id, implied_id, note_id, output_id; /* read up to here */
	struct object ready[GATHER_READY_MAX]; /* in the order in which they go */
	unsigned int nready;
	size_t ready_bytes;
	bool all; /* what the recording holds has been read */
	char *explain;
};

/* 0 or -ENOMEM. */
int gather_begin(struct gather *g);
void gather_end(struct gather *g);

/*
 * Reads on, up to phases that ended at until_ns (CLOCK_MONOTONIC): their notes are written after
 * them. final: the recording is complete, and the implied phases are final, too. 0, or what the
 * reader said, -ENOMEM.
 */
int gather_read(struct gather *g, struct recording *r, uint64_t until_ns, bool final);
/* The first of what is ready; NULL: none. It stays there until gather_sent(). */
struct object *gather_ready(struct gather *g);
void gather_sent(struct gather *g);
/* The open batch, if it has grown since gather_open_sent(): 1, 0, -ENOMEM. */
int gather_open(const struct gather *g, enum gather_kind kind, struct object *o);
void gather_open_sent(struct gather *g, enum gather_kind kind);

#endif
