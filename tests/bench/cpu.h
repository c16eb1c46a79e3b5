/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef PEAKPHASE_BENCH_CPU_H
#define PEAKPHASE_BENCH_CPU_H

#include <stdint.h>
#include <time.h>

/* Time this process has been running, to tell what it waited for a CPU from what it paid. */
static inline uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

#endif
