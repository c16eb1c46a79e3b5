/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "store/queue.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "lib/clock.h"

/* Enough to be worth a wake-up: some 300 messages. */
#define WAKE_BYTES (256u << 10)
/* What a buffer keeps of its memory when a burst is over. */
#define KEEP_BYTES (512u << 10)

struct lane {
	char *fill, *drain;
	size_t reserved;	      /* the producer's own */
	_Atomic size_t used;	      /* of fill; written under the lock */
	size_t fill_high, drain_high; /* bytes of each that hold memory */
	uint64_t first_ns;
};

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t work; /* for the consumer: first message, much, closed */
	pthread_cond_t room; /* for the producer: a buffer was taken */
	struct lane lanes[LANE_MAX];
	bool closed;
	bool producer_waits;
	size_t wake_at; /* the consumer sleeps until a lane holds so much; 0: it is awake */
};

static char *buffer_new(void)
{
	void *p = mmap(NULL, QUEUE_BUFFER, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

struct queue *queue_new(void)
{
	struct queue *q = calloc(1, sizeof(*q));
	pthread_condattr_t attr;

	if (!q)
		return NULL;
	pthread_mutex_init(&q->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&q->work, &attr);
	pthread_cond_init(&q->room, &attr);
	pthread_condattr_destroy(&attr);
	for (int i = 0; i < LANE_MAX; i++) {
		q->lanes[i].fill = buffer_new();
		q->lanes[i].drain = buffer_new();
		if (!q->lanes[i].fill || !q->lanes[i].drain) {
			queue_free(&q);
			return NULL;
		}
	}
	return q;
}

void queue_free(struct queue **qp)
{
	struct queue *q = *qp;

	if (!q)
		return;
	for (int i = 0; i < LANE_MAX; i++) {
		if (q->lanes[i].fill)
			munmap(q->lanes[i].fill, QUEUE_BUFFER);
		if (q->lanes[i].drain)
			munmap(q->lanes[i].drain, QUEUE_BUFFER);
	}
	pthread_cond_destroy(&q->room);
	pthread_cond_destroy(&q->work);
	pthread_mutex_destroy(&q->lock);
	free(q);
	*qp = NULL;
}

static int wait_for_room(struct queue *q, struct lane *l, size_t size)
{
	bool closed;

	pthread_mutex_lock(&q->lock);
	while (l->used + size > QUEUE_BUFFER && !q->closed) {
		q->producer_waits = true;
		pthread_cond_signal(&q->work);
		pthread_cond_wait(&q->room, &q->lock);
	}
	q->producer_waits = false;
	closed = q->closed;
	pthread_mutex_unlock(&q->lock);
	return closed ? -1 : 0;
}

struct queue_message *queue_reserve(struct queue *q, enum queue_lane lane, size_t size,
				    uint32_t type)
{
	struct lane *l = &q->lanes[lane];
	struct queue_message *m;

	size = (size + 7) & ~(size_t)7;
	/* Only this thread adds, so that what fits now fits until it is pushed. */
	if (atomic_load_explicit(&l->used, memory_order_relaxed) + size > QUEUE_BUFFER &&
	    wait_for_room(q, l, size))
		return NULL;
	pthread_mutex_lock(&q->lock);
	if (q->closed) {
		pthread_mutex_unlock(&q->lock);
		return NULL;
	}
	/* Held until the push: the consumer must not take the buffer in between. */
	m = (struct queue_message *)(l->fill + l->used);
	m->size = (uint32_t)size;
	m->type = type;
	l->reserved = size;
	return m;
}

void queue_push(struct queue *q, enum queue_lane lane)
{
	struct lane *l = &q->lanes[lane];
	bool wake = false;

	if (!l->used)
		l->first_ns = clock_mono_ns();
	atomic_store_explicit(&l->used, l->used + l->reserved, memory_order_relaxed);
	l->reserved = 0;
	if (q->wake_at && l->used >= q->wake_at) {
		wake = true;
		q->wake_at = 0;
	}
	pthread_mutex_unlock(&q->lock);
	if (wake)
		pthread_cond_signal(&q->work);
}

void queue_close(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->closed = true;
	q->wake_at = 0;
	pthread_cond_broadcast(&q->work);
	pthread_cond_broadcast(&q->room);
	pthread_mutex_unlock(&q->lock);
}

/* When the oldest message of the queue came; 0: it is empty. */
static uint64_t oldest_ns(const struct queue *q)
{
	uint64_t oldest = 0;

	for (int i = 0; i < LANE_MAX; i++) {
		const struct lane *l = &q->lanes[i];

		if (l->used && (!oldest || l->first_ns < oldest))
			oldest = l->first_ns;
	}
	return oldest;
}

static bool much(const struct queue *q)
{
	return q->lanes[LANE_EDGES].used >= WAKE_BYTES || q->lanes[LANE_REST].used >= WAKE_BYTES;
}

static void wait_until(struct queue *q, uint64_t ns)
{
	struct timespec ts = {.tv_sec = (time_t)(ns / 1000000000u),
			      .tv_nsec = (long)(ns % 1000000000u)};

	pthread_cond_timedwait(&q->work, &q->lock, &ts);
}

bool queue_wait(struct queue *q, uint64_t linger_ns, uint64_t deadline_ns)
{
	bool more;

	pthread_mutex_lock(&q->lock);
	while (!q->closed && !much(q) && !q->producer_waits) {
		uint64_t oldest = oldest_ns(q), until = oldest ? oldest + linger_ns : 0;

		if (deadline_ns && (!until || deadline_ns < until))
			until = deadline_ns;
		if (until && clock_mono_ns() >= until)
			break;
		/* The first message starts the clock; after it, only much is worth a wake-up. */
		q->wake_at = oldest ? WAKE_BYTES : 1;
		if (until)
			wait_until(q, until);
		else
			pthread_cond_wait(&q->work, &q->lock);
	}
	q->wake_at = 0;
	more = !q->closed || oldest_ns(q);
	pthread_mutex_unlock(&q->lock);
	return more;
}

struct queue_batch queue_take(struct queue *q, enum queue_lane lane)
{
	struct lane *l = &q->lanes[lane];
	struct queue_batch b = {0};
	size_t high;
	char *p;

	/* A burst is over: its memory goes back before the buffer is filled again. */
	if (l->drain_high > KEEP_BYTES && l->used < KEEP_BYTES / 2) {
		madvise(l->drain + KEEP_BYTES, QUEUE_BUFFER - KEEP_BYTES, MADV_DONTNEED);
		l->drain_high = KEEP_BYTES;
	}
	pthread_mutex_lock(&q->lock);
	if (l->used) {
		b = (struct queue_batch){l->fill, l->used, l->first_ns};
		high = l->used > l->fill_high ? l->used : l->fill_high;
		p = l->fill;
		l->fill = l->drain;
		l->fill_high = l->drain_high;
		l->drain = p;
		l->drain_high = high;
		l->used = 0;
		if (q->producer_waits)
			pthread_cond_signal(&q->room);
	}
	pthread_mutex_unlock(&q->lock);
	return b;
}

size_t queue_used(const struct queue *q, enum queue_lane lane)
{
	return atomic_load_explicit(&q->lanes[lane].used, memory_order_relaxed);
}
