/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* When the thread that looks into mapped code has something to do, or is to end. */
#ifndef PEAKPHASE_SOURCE_LATE_WAKE_H
#define PEAKPHASE_SOURCE_LATE_WAKE_H

#include <stdbool.h>

struct late_wake;

/* code_ring: a map whose words say when to look; -1: there is none. 0 or -errno. */
int late_wake_open(struct late_wake **w, int code_ring);
/* NULL is fine. */
void late_wake_close(struct late_wake **w);
/*
 * Waits until there may be code to look into: the ring has a word, fd is readable, or a while has
 * passed (wait_ms, -1: none). false: told to end, what is there now is the last.
 */
bool late_wake_wait(struct late_wake *w, int fd, int wait_ms);
/* Ends the waiting, from any thread. */
void late_wake_end(struct late_wake *w);

#endif
