/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lines that a process prints because another one has: tee, `echo "$(…)"`, a parent that logs what
 * its children say. Private to lines.c.
 *
 * A mark that goes into a pipe, a pseudo terminal or a unix socket is remembered. It is passed on
 * when a process that can read it there (struct ev_route) prints that line somewhere else, with
 * anything before or after it; each mark once. Edges are looked at in their order: that of a writer
 * goes out before its reader has anything to read, whatever the order in which their bytes come.
 */
#ifndef PEAKPHASE_MODEL_RELAY_H
#define PEAKPHASE_MODEL_RELAY_H

#include "model/writes.h"

struct relay;
struct link;

/* All zero: none. */
struct relays {
	/* Two rings: of those with a reader, and of the rest, which mostly nobody passes on. */
	struct relay *at;
	size_t next[2];
	struct link **bucket;
};

/* The next mark of an edge: true when it is another process's. Remembers it. */
bool relays_pass(struct relays *rs, const struct event *ev, const struct out_mark *m);
void relays_free(struct relays *rs);

#endif
