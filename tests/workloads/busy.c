/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * busy THREADS STOPFILE: works and marks until STOPFILE is there, and checks each result.
 *
 * Every round computes a checksum over a buffer with marks in between; what is live in registers,
 * floating point too, and on the stack must come out of a mark as it went in, whatever a tracer
 * does to the marker at that moment. Prints the number of rounds and of wrong results.
 */
#include <pthread.h>

#include "work.h"

#define WORDS 2048

struct worker {
	pthread_t thread;
	const char *stop;
	unsigned long rounds, bad;
};

__attribute__((noinline)) static uint64_t checksum(uint64_t seed, int marks)
{
	uint64_t words[WORDS], sum = seed;
	double real = 1.0;

	for (int i = 0; i < WORDS; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		words[i] = seed;
		real = real * 1.0000001 + (double)(seed >> 60);
		if (!(i % 256) && marks) {
			uint64_t token = log_rss_begin("block");

			log_rss("within a block");
			log_rss_end(token);
		}
	}
	for (int i = 0; i < WORDS; i++)
		sum = (sum << 7 | sum >> 57) ^ words[i];
	return sum ^ (uint64_t)real;
}

static void *work(void *arg)
{
	struct worker *w = arg;
	uint64_t want[16];

	for (int i = 0; i < 16; i++)
		want[i] = checksum((uint64_t)i, 0);
	while (access(w->stop, F_OK)) {
		void *mem = hog(MIB, 0);

		for (int i = 0; i < 16; i++, w->rounds++)
			if (checksum((uint64_t)i, 1) != want[i])
				w->bad++;
		munmap(mem, MIB);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct worker w[16] = {0};
	unsigned long rounds = 0, bad = 0;
	int n = argc > 2 ? atoi(argv[1]) : 0;

	if (n < 1 || n > 16)
		return 2;
	say("ready\n");
	for (int i = 0; i < n; i++) {
		w[i].stop = argv[2];
		errno = pthread_create(&w[i].thread, NULL, work, &w[i]);
		if (errno)
			die("pthread_create");
	}
	for (int i = 0; i < n; i++) {
		pthread_join(w[i].thread, NULL);
		rounds += w[i].rounds;
		bad += w[i].bad;
	}
	say("rounds=%lu bad=%lu\n", rounds, bad);
	return bad != 0;
}
