/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef PEAKPHASE_LIB_CLOCK_H
#define PEAKPHASE_LIB_CLOCK_H

#include <stdint.h>
#include <time.h>

/* The clock of all events: CLOCK_MONOTONIC, in ns. */
static inline uint64_t clock_mono_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

#endif
