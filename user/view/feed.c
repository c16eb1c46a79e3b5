/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "view/feed.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Some ten thousand lines: a reader may stand still that long. */
#define FEED_BYTES (1u << 20)

struct feed {
	int fd;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t more, done;
	size_t head, used; /* the waiting bytes, in a ring */
	uint64_t dropped;
	bool closing, finished;
	char ring[FEED_BYTES];
};

/* False: nobody reads any more, or the time is up. */
static bool write_all(struct feed *f, const char *buf, size_t len)
{
	while (len) {
		ssize_t n = write(f->fd, buf, len);

		if (n < 0 && errno == EAGAIN) {
			/* Somebody else made it non-blocking: wait as a blocking one would. */
			struct pollfd p = {.fd = f->fd, .events = POLLOUT};

			poll(&p, 1, 1000);
			continue;
		}
		if (n < 0 && errno != EINTR)
			return false;
		if (n > 0) {
			buf += n;
			len -= (size_t)n;
		}
	}
	return true;
}

static void *feed_run(void *arg)
{
	struct feed *f = arg;
	char chunk[8192];

	pthread_mutex_lock(&f->lock);
	for (;;) {
		size_t n = f->used;

		if (!n && f->closing)
			break;
		if (!n) {
			pthread_cond_wait(&f->more, &f->lock);
			continue;
		}
		if (n > sizeof(chunk))
			n = sizeof(chunk);
		if (n > FEED_BYTES - f->head)
			n = FEED_BYTES - f->head;
		memcpy(chunk, f->ring + f->head, n);
		f->head = (f->head + n) % FEED_BYTES;
		f->used -= n;
		pthread_mutex_unlock(&f->lock);
		if (!write_all(f, chunk, n)) {
			pthread_mutex_lock(&f->lock);
			f->used = 0;
			continue;
		}
		pthread_mutex_lock(&f->lock);
	}
	f->finished = true;
	pthread_cond_signal(&f->done);
	pthread_mutex_unlock(&f->lock);
	return NULL;
}

struct feed *feed_open(int fd)
{
	struct feed *f = calloc(1, sizeof(*f));
	pthread_condattr_t attr;
	sigset_t all, before;
	int err;

	if (!f)
		return NULL;
	f->fd = fd;
	pthread_mutex_init(&f->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&f->more, &attr);
	pthread_cond_init(&f->done, &attr);
	pthread_condattr_destroy(&attr);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&f->thread, NULL, feed_run, f);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err) {
		free(f);
		return NULL;
	}
	return f;
}

void feed_line(struct feed *f, const char *line, size_t len)
{
	size_t tail, first;

	pthread_mutex_lock(&f->lock);
	if (len > FEED_BYTES - f->used) {
		f->dropped++;
	} else {
		tail = (f->head + f->used) % FEED_BYTES;
		first = len < FEED_BYTES - tail ? len : FEED_BYTES - tail;
		memcpy(f->ring + tail, line, first);
		memcpy(f->ring, line + first, len - first);
		f->used += len;
		pthread_cond_signal(&f->more);
	}
	pthread_mutex_unlock(&f->lock);
}

static size_t lines_in(const struct feed *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->used; i++)
		n += f->ring[(f->head + i) % FEED_BYTES] == '\n';
	return n;
}

uint64_t feed_close(struct feed **fp, unsigned int patience_ms)
{
	struct feed *f = *fp;
	struct timespec until;
	uint64_t dropped;
	int err = 0;

	if (!f)
		return 0;
	*fp = NULL;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += patience_ms / 1000;
	until.tv_nsec += (long)(patience_ms % 1000) * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	pthread_mutex_lock(&f->lock);
	f->closing = true;
	pthread_cond_signal(&f->more);
	while (!f->finished && err != ETIMEDOUT)
		err = pthread_cond_timedwait(&f->done, &f->lock, &until);
	dropped = f->dropped + (f->finished ? 0 : lines_in(f));
	pthread_mutex_unlock(&f->lock);
	if (err == ETIMEDOUT) {
		/* It hangs in write(2): it goes with the process, and so does its memory. */
		pthread_detach(f->thread);
		return dropped;
	}
	pthread_join(f->thread, NULL);
	free(f);
	return dropped;
}
