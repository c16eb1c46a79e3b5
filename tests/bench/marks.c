/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * marks N [BURST PERIOD_US]: N checkpoints, each with a label of its own; flat out, or BURST of
 * them every PERIOD_US. Prints "ns_per_mark=N cpu_per_mark=N marks=N
 * seconds=N": pauses are not in the first, waiting is not in the second.
 */
#include "cpu.h"

#include "../workloads/work.h"

static void next_label(char *digit)
{
	while (++*digit > '9')
		*digit-- = '0';
}

/* By the clock, so that what marks cost does not change their rate. */
static void sleep_until(uint64_t ns)
{
	struct timespec ts = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

int main(int argc, char **argv)
{
	unsigned long n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	unsigned long burst = argc > 2 ? strtoul(argv[2], NULL, 10) : n;
	unsigned long period_us = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
	char label[] = "m000000000";
	uint64_t first, next, start, busy = 0, cpu;

	settle();
	/* The first hits make the probe a call, where there is one. */
	for (int i = 0; i < 16; i++)
		log_rss("warm");
	cpu = cpu_ns();
	first = next = now_ns();
	for (unsigned long i = 0; i < n;) {
		unsigned long until = i + burst < n ? i + burst : n;

		start = now_ns();
		for (; i < until; i++) {
			next_label(label + sizeof(label) - 2);
			log_rss(label);
		}
		busy += now_ns() - start;
		next += period_us * 1000;
		if (period_us && i < n)
			sleep_until(next);
	}
	cpu = cpu_ns() - cpu;
	say("ns_per_mark=%.2f cpu_per_mark=%.2f marks=%lu seconds=%.3f\n", (double)busy / (double)n,
	    (double)cpu / (double)n, n, (double)(now_ns() - first) / 1e9);
	return 0;
}
