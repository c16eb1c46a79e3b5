/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * trees forks N            forks N children that end at once, one after the other
 * trees execs N            the same, each becoming this program, which ends at once
 * trees crowd P T          P processes of T threads each; prints "ready", waits for a line on
 *                          stdin; then each thread maps, touches and unmaps 16 pages, twice; waits
 *                          for the end of stdin
 *
 * Prints "ns_each=N cpu_each=N", of a child or of a page. It times its own loop.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "cpu.h"

#include "../workloads/work.h"

#define PAGES 16
#define ROUNDS 2

/* Shared by all processes of a crowd. */
struct crowd {
	_Atomic unsigned int ready, done;
	int gate[2]; /* its end is the word to go */
};

/* Of the children that have been waited for. */
static uint64_t children_ns(void)
{
	struct rusage r;

	getrusage(RUSAGE_CHILDREN, &r);
	return (uint64_t)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1000000000u +
	       (uint64_t)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) * 1000;
}

static void children(unsigned int n, const char *exec)
{
	uint64_t start = now_ns(), cpu = cpu_ns();

	for (unsigned int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (!pid && exec)
			execl(exec, exec, "end", (char *)NULL);
		if (!pid)
			_exit(0);
		if (waitpid(pid, NULL, 0) != pid)
			die("waitpid");
	}
	start = now_ns() - start;
	cpu = cpu_ns() - cpu + children_ns();
	say("ns_each=%llu cpu_each=%llu\n", (unsigned long long)(start / n),
	    (unsigned long long)(cpu / n));
}

static void *one_of_many(void *arg)
{
	struct crowd *c = arg;
	size_t bytes = PAGES * (size_t)sysconf(_SC_PAGESIZE);
	char word;

	c->ready++;
	while (read(c->gate[0], &word, 1) > 0)
		;
	for (int i = 0; i < ROUNDS; i++)
		munmap(hog(bytes, MADV_NOHUGEPAGE), bytes);
	c->done++;
	return NULL;
}

static void member(struct crowd *c, unsigned int threads)
{
	pthread_attr_t attr;
	pthread_t t;

	close(c->gate[1]);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	for (unsigned int i = 1; i < threads; i++) {
		errno = pthread_create(&t, &attr, one_of_many, c);
		if (errno)
			die("pthread_create");
	}
	one_of_many(c);
	/* All threads of all: nobody's end is part of what is measured. */
	while (read(0, (char[1]){0}, 1) > 0)
		;
	_exit(0);
}

static void crowd(unsigned int processes, unsigned int threads)
{
	struct crowd *c =
	    mmap(NULL, sizeof(*c), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned int all = processes * threads;
	uint64_t start;
	char word = 0;

	if (c == MAP_FAILED || pipe(c->gate))
		die("crowd");
	for (unsigned int i = 0; i < processes; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (!pid)
			member(c, threads);
	}
	close(c->gate[0]);
	while (c->ready < all)
		sleep_ms(5);
	say("ready\n");
	if (read(0, &word, 1) != 1)
		die("stdin");
	start = now_ns();
	close(c->gate[1]);
	while (c->done < all)
		sleep_ms(1);
	say("ns_each=%llu cpu_each=0\n",
	    (unsigned long long)((now_ns() - start) / (all * PAGES * ROUNDS)));
	while (wait(NULL) > 0)
		;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	unsigned int n = argc > 2 ? (unsigned int)strtoul(argv[2], NULL, 10) : 0;

	if (!strcmp(mode, "end"))
		return 0;
	if (!n)
		return 2;
	if (!strcmp(mode, "forks"))
		children(n, NULL);
	else if (!strcmp(mode, "execs"))
		children(n, "/proc/self/exe");
	else if (!strcmp(mode, "crowd") && argc == 4)
		crowd(n, (unsigned int)strtoul(argv[3], NULL, 10));
	else
		return 2;
	return 0;
}
