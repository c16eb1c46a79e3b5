/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flood N [THREADS]: N checkpoints flat out, labelled "m0000000" on; with more threads each has
 * N of its own, "t1 m0000000" on. Prints what a mark cost.
 */
#include <pthread.h>

#include "work.h"

struct job {
	pthread_t thread;
	unsigned long number, marks;
};

static void *flood(void *arg)
{
	const struct job *j = arg;
	char label[64];

	for (unsigned long i = 0; i < j->marks; i++) {
		if (j->number)
			snprintf(label, sizeof(label), "t%lu m%07lu", j->number, i);
		else
			snprintf(label, sizeof(label), "m%07lu", i);
		log_rss(label);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned long marks = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	unsigned long threads = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
	struct job jobs[64];
	uint64_t start;

	if (threads > 64)
		threads = 64;
	settle();
	start = now_ns();
	for (unsigned long i = 1; i < threads; i++) {
		jobs[i] = (struct job){.number = i, .marks = marks};
		errno = pthread_create(&jobs[i].thread, NULL, flood, &jobs[i]);
		if (errno)
			die("pthread_create");
	}
	jobs[0] = (struct job){.marks = marks};
	flood(&jobs[0]);
	for (unsigned long i = 1; i < threads; i++)
		pthread_join(jobs[i].thread, NULL);
	say("marks=%lu ns_per_mark=%.1f\n", marks * threads,
	    (double)(now_ns() - start) / (double)marks);
	return 0;
}
