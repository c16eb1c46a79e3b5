/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ns per untraced call, medians of 9 rounds: "checkpoint N.N" and "span N.N" (begin and end: 2
 * calls). */
#include <peakphase/log_rss.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROUNDS 9
#define CALLS 2000000

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(void)
{
	double mark[ROUNDS], span[ROUNDS];

	for (int r = 0; r < ROUNDS; r++) {
		double start = now_ns();

		for (int i = 0; i < CALLS; i++)
			log_rss("x");
		mark[r] = (now_ns() - start) / CALLS;
		start = now_ns();
		for (int i = 0; i < CALLS; i++)
			log_rss_end(log_rss_begin("x"));
		span[r] = (now_ns() - start) / CALLS;
	}
	qsort(mark, ROUNDS, sizeof(mark[0]), by_value);
	qsort(span, ROUNDS, sizeof(span[0]), by_value);
	printf("checkpoint %.1f\nspan %.1f\n", mark[ROUNDS / 2], span[ROUNDS / 2]);
	return 0;
}
