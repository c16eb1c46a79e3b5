/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * moment: prints "main=NS end=NS", CLOCK_MONOTONIC at main and just before it ends.
 * moment watch: prints "ready", then "on=NS" when a probe is put on its marker, "off=NS" when that
 * is taken away, and ends; gives up after 20 s.
 */
#include "../workloads/work.h"

static int wait_until(int enabled)
{
	for (int i = 0; i < 100000; i++) {
		if (log_rss_enabled() == enabled)
			return 0;
		usleep(200);
	}
	return 1;
}

int main(int argc, char **argv)
{
	uint64_t start = now_ns();

	(void)argv;
	if (argc == 1) {
		say("main=%llu end=%llu\n", (unsigned long long)start,
		    (unsigned long long)now_ns());
		return 0;
	}
	say("ready\n");
	if (wait_until(1))
		return 1;
	say("on=%llu\n", (unsigned long long)now_ns());
	if (wait_until(0))
		return 1;
	say("off=%llu\n", (unsigned long long)now_ns());
	return 0;
}
