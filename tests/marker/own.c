/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A program with a log_rss() of its own, from before peakphase: no header, no note. */
#include <stdio.h>

__attribute__((noinline)) void log_rss(const char *label);
__attribute__((noinline)) void log_rss(const char *label)
{
	fprintf(stderr, "peak RSS [%s]\n", label);
}

int main(void)
{
	log_rss("load:users");
	return 0;
}
