/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Recording → outlet: reads what is new, sends it, tries again where it did not go out, gives up in
 * the end. One thread; the caller says when.
 */
#ifndef PEAKPHASE_SINK_PUMP_H
#define PEAKPHASE_SINK_PUMP_H

#include "sink/backoff.h"
#include "sink/gather.h"
#include "sink/outlet.h"

/* An open batch that grows goes out so often. */
#define PUMP_OPEN_NS 800000000ull
/* A phase waits so long for what is written after it: its notes. */
#define PUMP_SETTLE_NS 300000000ull
/* Without any success for so long in the end, it gives up. */
#define PUMP_PATIENCE_NS 30000000000ull

struct pump {
	struct gather gather;
	struct outlet *outlet;
	const struct place *place;
	const char *path; /* of the recording */
	struct backoff backoff;
	uint64_t open_sent_ns[GATHER_KINDS];
	bool never;		 /* nothing will go out: said */
	bool unread;		 /* the recording cannot be read: said */
	bool troubled;		 /* that it does not go out now was said */
	uint64_t objects, bytes; /* that went out */
	uint32_t dice;
};

/* p->gather and so on; path, place and outlet must outlive it. 0 or -ENOMEM, said. */
int pump_begin(struct pump *p, const char *path, const struct place *place, struct outlet *outlet);
void pump_end(struct pump *p);

/* Reads what is new, unless something waits to be sent. final: see gather_read(). */
void pump_read(struct pump *p, bool final);
/*
 * Sends what is due. Returns the ms until it may be called again with success: 0, there is more to
 * read.
 */
unsigned int pump_send(struct pump *p, bool final);

/*
 * The tracing has ended: all that is left, then the recording; says how it went. stop: asked for
 * while it waits; true gives up at once. 0, or -EIO: not all is there.
 */
int pump_finish(struct pump *p, bool (*stop)(void *ctx), void *stop_ctx);

#endif
