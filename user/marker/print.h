/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef PEAKPHASE_MARKER_PRINT_H
#define PEAKPHASE_MARKER_PRINT_H

/*
 * With PEAKPHASE_LOG=1 in the environment: one line on stderr, `RSS [label]: ~n.n MB  (peak n.n)`,
 * the RSS now and the process's largest so far, as the kernel tells it to the process itself.
 * Otherwise nothing; asked once. Any pointer will do for a label. Async-signal-safe; leaves errno
 * alone.
 */
void print_mark(const char *label);

#endif
