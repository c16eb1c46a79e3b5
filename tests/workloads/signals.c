/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts the SIGINTs that reach it: `signals SECONDS` prints "ready", then "SIGINT 1", "SIGINT 2" …
 * as they come, each with its sender (0: the kernel, so the terminal), and "over" after SECONDS.
 */
#include <signal.h>

#include "work.h"

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 10;
	uint64_t until = now_ns() + (uint64_t)(seconds * 1e9);
	struct timespec tick = {0, 100000000};
	siginfo_t info;
	sigset_t set;
	int n = 0;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	/* Blocked and taken one by one: two that come together would still be one, so that what is
	 * counted is a lower bound, and the test leaves time between them. */
	sigprocmask(SIG_BLOCK, &set, NULL);
	say("ready\n");
	while (now_ns() < until)
		if (sigtimedwait(&set, &info, &tick) == SIGINT)
			say("SIGINT %d from %d\n", ++n, (int)info.si_pid);
	say("over\n");
	return 0;
}
