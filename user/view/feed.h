/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lines to a file descriptor that may not take them: a stopped terminal, a full pipe. A thread of
 * its own writes them, so that tracing never waits; what does not fit into its buffer is dropped as
 * whole lines and counted. The descriptor is shared with the traced command: its flags are never
 * touched.
 */
#ifndef PEAKPHASE_VIEW_FEED_H
#define PEAKPHASE_VIEW_FEED_H

#include <stddef.h>
#include <stdint.h>

struct feed;

/* NULL: no memory, or no thread. To be called with all signals blocked that others want. */
struct feed *feed_open(int fd);
/* Never waits. One producer. */
void feed_line(struct feed *f, const char *line, size_t len);
/*
 * Writes what is left, but waits at most patience_ms for a reader that does not read. Returns the
 * number of lines that were dropped. Nulls *f.
 */
uint64_t feed_close(struct feed **f, unsigned int patience_ms);

#endif
