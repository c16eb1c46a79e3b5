/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "view/top/series.h"

#include <errno.h>
#include <stdlib.h>

#define ROOM 32 /* buckets at first: most processes are short */

static const struct series_bucket EMPTY = {UINT32_MAX, 0, 0};

void series_init(struct series *s, uint64_t t0_ns, size_t cap)
{
	*s = (struct series){.t0 = t0_ns, .width = SERIES_WIDTH_NS, .cap = cap};
}

void series_free(struct series *s)
{
	free(s->b);
	s->b = NULL;
	s->n = s->room = 0;
}

static uint32_t kib(uint64_t bytes)
{
	return bytes >> 10 > UINT32_MAX ? UINT32_MAX : (uint32_t)(bytes >> 10);
}

static bool is_empty(const struct series_bucket *b)
{
	return b->min > b->max;
}

static struct series_bucket merged(struct series_bucket a, struct series_bucket b)
{
	return (struct series_bucket){
	    .min = a.min < b.min ? a.min : b.min,
	    .max = a.max > b.max ? a.max : b.max,
	    .last = is_empty(&b) ? a.last : b.last,
	};
}

static void halve(struct series *s)
{
	for (size_t i = 0; i < s->n; i += 2)
		s->b[i / 2] = i + 1 < s->n ? merged(s->b[i], s->b[i + 1]) : s->b[i];
	s->n = (s->n + 1) / 2;
	s->width *= 2;
}

static size_t index_of(const struct series *s, uint64_t ns)
{
	return ns > s->t0 ? (ns - s->t0) / s->width : 0;
}

static int reserve(struct series *s, size_t n)
{
	size_t room = s->room ? s->room : ROOM;
	struct series_bucket *b;

	while (room < n)
		room *= 2;
	if (room > s->cap)
		room = s->cap;
	if (room <= s->room)
		return 0;
	b = reallocarray(s->b, room, sizeof(*b));
	if (!b)
		return -ENOMEM;
	s->b = b;
	s->room = room;
	return 0;
}

/* The bucket of ns, with those before it filled by the value as it stood. NULL: no memory. */
static struct series_bucket *bucket(struct series *s, uint64_t ns)
{
	size_t i = index_of(s, ns);
	bool began = s->n;

	while (i >= s->cap) {
		halve(s);
		i = index_of(s, ns);
	}
	if (reserve(s, i + 1))
		return NULL;
	while (s->n <= i) {
		struct series_bucket b = EMPTY;

		if (began)
			b.min = b.max = b.last = kib(s->last);
		s->b[s->n++] = b;
	}
	return &s->b[i];
}

static void widen(struct series_bucket *b, uint32_t v)
{
	if (v < b->min)
		b->min = v;
	if (v > b->max)
		b->max = v;
}

int series_touch(struct series *s, uint64_t ns, uint64_t bytes)
{
	struct series_bucket *b = bucket(s, ns);

	if (!b)
		return -ENOMEM;
	if (is_empty(b))
		b->last = kib(bytes);
	widen(b, kib(bytes));
	return 0;
}

int series_put(struct series *s, uint64_t ns, uint64_t bytes)
{
	struct series_bucket *b;

	if (s->n && ns < s->last_ns)
		return series_touch(s, ns, bytes);
	b = bucket(s, ns);
	if (!b)
		return -ENOMEM;
	widen(b, kib(bytes));
	b->last = kib(bytes);
	s->last = bytes;
	s->last_ns = ns;
	return 0;
}

bool series_range(const struct series *s, uint64_t from, uint64_t to, uint64_t *min, uint64_t *max)
{
	size_t i = index_of(s, from), end = to > s->t0 ? index_of(s, to - 1) + 1 : 0;
	struct series_bucket all = EMPTY;

	if (!s->n || !end)
		return false;
	for (; i < s->n && i < end; i++)
		all = merged(all, s->b[i]);
	if (is_empty(&all)) {
		*min = *max = s->last;
		return i >= s->n;
	}
	*min = (uint64_t)all.min << 10;
	*max = (uint64_t)all.max << 10;
	return true;
}

uint64_t series_at(const struct series *s, uint64_t ns)
{
	size_t i = index_of(s, ns);

	if (!s->n || ns < s->t0)
		return 0;
	if (i >= s->n || ns >= s->last_ns)
		return s->last;
	return (uint64_t)s->b[i].last << 10;
}
