/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A sink beside a tracing: a process of its own, which reads the recording as others do and never
 * holds the tracer up. Should the tracer die, it sends what there is.
 *
 * Order: live_start() before any thread and before capabilities are given up; live_recording();
 * live_release(), then the recording is closed; live_final(), live_wait(). live_drop() at any time.
 * One thread.
 */
#ifndef PEAKPHASE_SINK_LIVE_H
#define PEAKPHASE_SINK_LIVE_H

#include <stdbool.h>

struct live;

/*
 * place: valid, as place_parse() takes it. become: runs in the process, and gives up what rights it
 * does not need; not 0 ends it. quiet: only what went wrong is said. 0 or -errno, said.
 */
int live_start(struct live **l, const char *place, bool quiet, int (*become)(void));
/* The recording is there, and can be read. */
void live_recording(struct live *l, const char *path);
/* Returns when the sink does not have the recording open, and will not: the last to close it is us.
 */
void live_release(struct live *l);
/* The recording is complete. */
void live_final(struct live *l);
/*
 * After live_final(): waits until the sink has sent the rest or given up, which a signal to end
 * makes it do at once; does not wait before live_final(). 0, or -EIO: not all is there (said).
 */
int live_wait(struct live *l);
/* Without live_wait() nothing more is sent. Nulls *l; NULL is fine. */
void live_drop(struct live **l);

#endif
