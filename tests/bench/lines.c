/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lines N: N lines, one write each, to /dev/null, with 8 us of work before each of them: some
 * 100,000 a second. One in 1,000 says "RSS [label]: ".
 */
#include "peakphase/log_rss.h"
#include "../workloads/work.h"

#define WORK_NS 8000u

int main(int argc, char **argv)
{
	static const char dull[] =
	    "2026-11-30 10:00:00,000 INFO job: nothing to see in this line\n";
	static const char mark[] = "2026-11-30 10:00:00,000 INFO job: RSS [load:users]: 56.6 MB\n";
	long n = argc > 1 ? strtol(argv[1], NULL, 10) : 100000;
	int told = dup(1), null = open("/dev/null", O_WRONLY);
	uint64_t start, end;

	if (told < 0 || null < 0 || dup2(null, 1) < 0)
		die("dup2");
	start = now_ns();
	for (long i = 1; i <= n; i++) {
		const char *s = i % 1000 ? dull : mark;
		uint64_t until = now_ns() + WORK_NS;

		while (now_ns() < until)
			;
		if (write(1, s, strlen(s)) < 0)
			die("write");
	}
	end = now_ns();
	dprintf(told, "lines=%ld ns_per_line=%.1f\n", n, (double)(end - start) / (double)n);
	return 0;
}
