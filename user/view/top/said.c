/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "view/top/said.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/say.h"

#define KEPT_MAX 65536 /* bytes; what is more is dropped as whole lines */
#define LAST_MAX 160

struct said {
	pthread_mutex_t lock;
	char kept[KEPT_MAX];
	size_t len;
	char last[LAST_MAX];
	bool fresh;
};

/* All is kept for the end; what went wrong is to be seen at once. */
static void keep(void *ctx, enum say_kind kind, const char *line, size_t len)
{
	static const char us[] = "peakphase: ";
	struct said *s = ctx;

	pthread_mutex_lock(&s->lock);
	if (len <= KEPT_MAX - s->len) {
		memcpy(s->kept + s->len, line, len);
		s->len += len;
	}
	if (kind >= SAY_WARNING && len > sizeof(us)) {
		size_t from = sizeof(us) - 1, n = len - 1 - from;

		n = n < LAST_MAX - 1 ? n : LAST_MAX - 1;
		memcpy(s->last, line + from, n);
		s->last[n] = '\0';
		s->fresh = true;
	}
	pthread_mutex_unlock(&s->lock);
}

struct said *said_open(void)
{
	struct said *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	pthread_mutex_init(&s->lock, NULL);
	say_to(keep, s);
	return s;
}

void said_close(struct said **sp)
{
	struct said *s = *sp;
	ssize_t n;

	if (!s)
		return;
	say_to(NULL, NULL);
	n = write(STDERR_FILENO, s->kept, s->len);
	(void)n;
	pthread_mutex_destroy(&s->lock);
	free(s);
	*sp = NULL;
}

bool said_last(struct said *s, char *out, size_t cap)
{
	bool fresh;

	if (!s)
		return false;
	pthread_mutex_lock(&s->lock);
	if (s->fresh && cap) {
		size_t n = strlen(s->last) < cap ? strlen(s->last) : cap - 1;

		memcpy(out, s->last, n);
		out[n] = '\0';
	}
	fresh = s->fresh;
	s->fresh = false;
	pthread_mutex_unlock(&s->lock);
	return fresh;
}
