/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Marks from lines: events and what was written go in, events come out, in their order, in which
 * the edges of writes have become marks. Pure but for the clock that callers pass; one thread.
 *
 * An edge of a write waits until the write's lines have their ends, and what comes after it waits
 * behind it: for a second, while a line stays open; as long as the write itself takes; and never
 * longer than QUEUE_MAX events.
 */
#ifndef PEAKPHASE_MODEL_PRINTED_H
#define PEAKPHASE_MODEL_PRINTED_H

#include "model/lines.h"

#define PRINTED_QUEUE_MAX 4096u
#define PRINTED_LINE_NS 1000000000ull

struct printed;

/* event: as model_feed(); what it returns other than 0 ends the call and is returned. */
struct printed *printed_new(struct patterns *patterns,
			    int (*event)(void *ctx, const struct event *), void *ctx);
void printed_free(struct printed **p);

int printed_event(struct printed *p, const struct event *ev);
int printed_output(struct printed *p, const struct ev_output *out);
/* All that was there has been given: what waits longer than it may goes out. */
int printed_poll(struct printed *p, uint64_t now_ns);
/* The tracing ends: nothing waits any longer. */
int printed_finish(struct printed *p);

const struct lines_counts *printed_counts(const struct printed *p);

#endif
