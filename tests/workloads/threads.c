/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Phases of several threads at once.
 *
 *   threads overlap LEFT RIGHT [FILE]   two spans; right lies within left's time: sizes in MiB;
 *                                 the threads are there before FILE is, and wait for it
 *   threads handoff N             a span begun by one thread and ended by another, N MiB by the
 *                                 first
 *   threads chains T N            T threads with N checkpoints each, every second one keeps 1 MiB
 *   threads marked N              one thread marks at short intervals, another touches and gives
 *                                 back N x 32 MiB in spans: of "huge" pages, then of "small" ones
 */
#include <pthread.h>
#include <semaphore.h>

#include "work.h"

struct pair {
	size_t left, right;
	const char *go;
	sem_t left_full, right_done;
	uint64_t token;
};

struct chain {
	pthread_t thread;
	int number, marks;
};

static void *left_thread(void *arg)
{
	struct pair *p = arg;
	uint64_t token;
	void *mem;

	if (p->go)
		wait_file(p->go);
	token = log_rss_begin("left");
	mem = hog(p->left * MIB, MADV_NOHUGEPAGE);
	sem_post(&p->left_full);
	sem_wait(&p->right_done);
	sleep_ms(200);
	munmap(mem, p->left * MIB);
	log_rss_end(token);
	return NULL;
}

static void *right_thread(void *arg)
{
	struct pair *p = arg;
	uint64_t token;
	void *mem;

	sem_wait(&p->left_full);
	sleep_ms(100);
	token = log_rss_begin("right");
	mem = hog(p->right * MIB, MADV_NOHUGEPAGE);
	sleep_ms(300);
	munmap(mem, p->right * MIB);
	log_rss_end(token);
	sem_post(&p->right_done);
	return NULL;
}

static void *begin_thread(void *arg)
{
	struct pair *p = arg;

	p->token = log_rss_begin("handed over");
	hog(p->left * MIB, MADV_NOHUGEPAGE);
	return NULL;
}

static void *end_thread(void *arg)
{
	struct pair *p = arg;

	sleep_ms(20);
	log_rss_end(p->token);
	return NULL;
}

static void *chain_thread(void *arg)
{
	struct chain *c = arg;
	char label[64];

	for (int i = 0; i < c->marks; i++) {
		if (i & 1)
			hog(MIB, MADV_NOHUGEPAGE);
		snprintf(label, sizeof(label), "t%d step %d", c->number, i);
		log_rss(label);
	}
	return NULL;
}

static void *marking_thread(void *arg)
{
	const int *stop = arg;

	while (!__atomic_load_n(stop, __ATOMIC_RELAXED)) {
		log_rss("between");
		usleep(10);
	}
	return NULL;
}

/* On a boundary of huge pages, so that all of it is. */
static void touch_all(const char *label, int rounds, int advice)
{
	uint64_t token = log_rss_begin(label);

	for (int i = 0; i < rounds; i++) {
		char *p = reserve(34 * MIB, advice);

		touch((char *)(((uintptr_t)p + 2 * MIB - 1) & ~(2 * MIB - 1)), 32 * MIB);
		munmap(p, 34 * MIB);
	}
	log_rss_end(token);
}

static void start(pthread_t *t, void *(*fn)(void *), void *arg)
{
	/* Small stacks: a thread's own memory stays within the tolerance of the tests. */
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	errno = pthread_create(t, &attr, fn, arg);
	if (errno)
		die("pthread_create");
}

static void overlap(size_t left, size_t right, const char *go)
{
	struct pair p = {.left = left, .right = right, .go = go};
	pthread_t l, r;

	sem_init(&p.left_full, 0, 0);
	sem_init(&p.right_done, 0, 0);
	start(&l, left_thread, &p);
	start(&r, right_thread, &p);
	pthread_join(l, NULL);
	pthread_join(r, NULL);
}

static void handoff(size_t mib)
{
	struct pair p = {.left = mib};
	pthread_t t;

	start(&t, begin_thread, &p);
	pthread_join(t, NULL);
	start(&t, end_thread, &p);
	pthread_join(t, NULL);
}

static void marked(int rounds)
{
	int stop = 0;
	pthread_t t;

	start(&t, marking_thread, &stop);
	touch_all("huge", rounds, MADV_HUGEPAGE);
	touch_all("small", rounds, MADV_NOHUGEPAGE);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(t, NULL);
}

static void chains(int threads, int marks)
{
	struct chain c[64];

	if (threads > 64)
		threads = 64;
	for (int i = 0; i < threads; i++) {
		c[i] = (struct chain){.number = i, .marks = marks};
		start(&c[i].thread, chain_thread, &c[i]);
	}
	for (int i = 0; i < threads; i++)
		pthread_join(c[i].thread, NULL);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 2 ? argv[1] : "";

	settle();
	if (!strcmp(mode, "overlap") && argc >= 4)
		overlap(strtoul(argv[2], NULL, 10), strtoul(argv[3], NULL, 10), argv[4]);
	else if (!strcmp(mode, "handoff"))
		handoff(strtoul(argv[2], NULL, 10));
	else if (!strcmp(mode, "marked"))
		marked(atoi(argv[2]));
	else if (!strcmp(mode, "chains") && argc == 4)
		chains(atoi(argv[2]), atoi(argv[3]));
	else
		return 2;
	return 0;
}
