/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Ends that end nothing: without a begin, twice, of wild tokens, of another process's token. The
 * spans around them must come out unharmed. `tokens CHILD`: 1 hands a token to a child process.
 */
#include <sys/wait.h>

#include "work.h"

static void foreign(uint64_t token)
{
	pid_t child = fork();
	int status;

	if (child < 0)
		die("fork");
	if (!child) {
		log_rss_end(token);
		log_rss_end(token);
		_exit(0);
	}
	if (waitpid(child, &status, 0) != child || status)
		die("child");
}

int main(int argc, char **argv)
{
	const uint64_t wild[] = {0, 1, 2, 0xffffffffu, 1ull << 32, 1ull << 63, UINT64_MAX};
	uint64_t outer, once;
	int ends = 0;

	settle();
	log_rss_end(12345);
	ends++;
	outer = log_rss_begin("outer");
	hog(30 * MIB, MADV_NOHUGEPAGE);
	once = log_rss_begin("once");
	hog(10 * MIB, MADV_NOHUGEPAGE);
	log_rss_end(once);
	log_rss_end(once);
	ends++;
	for (size_t i = 0; i < sizeof(wild) / sizeof(*wild); i++) {
		if (wild[i] == outer || wild[i] == once)
			continue;
		log_rss_end(wild[i]);
		ends++;
	}
	if (argc > 1 && atoi(argv[1]))
		foreign(outer);
	hog(20 * MIB, MADV_NOHUGEPAGE);
	log_rss_end(outer);
	say("bad_ends=%d\n", ends);
	return 0;
}
