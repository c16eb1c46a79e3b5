/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * growing THREADS STOPFILE: threads that map, touch and unmap memory all the time, until STOPFILE
 * is there or a minute is over: whenever one looks, counters are moving on every processor.
 */
#include <pthread.h>

#include "work.h"

#define PIECE ((size_t)256 << 10)

static const char *stop;

static void *grow(void *arg)
{
	uint64_t end = now_ns() + 60000000000u;

	(void)arg;
	while (access(stop, F_OK) && now_ns() < end) {
		for (int i = 0; i < 100; i++) {
			char *p = reserve(PIECE, 0);

			memset(p, 1, PIECE);
			munmap(p, PIECE);
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[16];
	int n = argc == 3 ? atoi(argv[1]) : 0;

	if (n < 1 || n > 16)
		return 2;
	stop = argv[2];
	for (int i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, grow, NULL))
			die("pthread_create");
	say("growing\n");
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
