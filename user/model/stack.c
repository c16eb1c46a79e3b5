/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "model/stack.h"

#include <errno.h>
#include <stdlib.h>

#define STACK_MIN 256 /* entries below which compaction is not worth its walk */

void stack_init(struct stack *s, bool wide)
{
	*s = (struct stack){.wide = wide, .compact_at = STACK_MIN};
}

void stack_free(struct stack *s)
{
	free(s->keys);
	free(s->points);
	s->keys = NULL;
	s->points = NULL;
	s->n = s->cap = 0;
}

static int grow(struct stack *s)
{
	size_t cap = s->cap ? s->cap * 2 : 16;
	void *p = realloc(s->keys, cap * sizeof(*s->keys));

	if (!p)
		return -ENOMEM;
	s->keys = p;
	if (s->wide) {
		p = realloc(s->points, cap * sizeof(*s->points));
		if (!p)
			return -ENOMEM;
		s->points = p;
	}
	s->cap = cap;
	return 0;
}

int stack_push(struct stack *s, uint64_t win, uint64_t value, const struct stack_point *pt)
{
	if (s->n == s->cap) {
		int err = grow(s);

		if (err)
			return err;
	}
	/*
	 * A wide stack keeps an equal entry below: it is the earlier instant. A narrow one has no
	 * instant to keep, so runs of equal values take one entry.
	 */
	while (s->n &&
	       (s->keys[s->n - 1].value < value || (!s->wide && s->keys[s->n - 1].value == value)))
		s->n--;
	if (s->n && s->keys[s->n - 1].win == win)
		return 0;
	s->keys[s->n] = (struct stack_key){win, value};
	if (s->wide)
		s->points[s->n] = *pt;
	s->n++;
	return 0;
}

/* Index of the first entry in [from, n) whose window is past start. */
static size_t first_past(const struct stack *s, size_t from, uint64_t start)
{
	size_t lo = from, hi = s->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->keys[mid].win > start)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

bool stack_max(const struct stack *s, uint64_t start, struct stack_key *key, struct stack_point *pt)
{
	size_t i = first_past(s, 0, start);

	if (i == s->n)
		return false;
	*key = s->keys[i];
	if (pt && s->wide)
		*pt = s->points[i];
	return true;
}

bool stack_due(const struct stack *s)
{
	return s->n >= s->compact_at;
}

void stack_keep_begin(struct stack *s)
{
	s->kept = s->read = s->starts = 0;
}

void stack_keep(struct stack *s, uint64_t start)
{
	size_t i = first_past(s, s->read, start);

	s->starts++;
	if (i == s->n || (s->kept && s->keys[s->kept - 1].win > start))
		return;
	s->keys[s->kept] = s->keys[i];
	if (s->wide)
		s->points[s->kept] = s->points[i];
	s->kept++;
	s->read = i + 1;
}

void stack_keep_end(struct stack *s)
{
	s->n = s->kept;
	/* As many pushes as starts were looked at, so that the walk is paid for. */
	s->compact_at = s->n + (s->starts > s->n ? s->starts : s->n);
	if (s->compact_at < STACK_MIN)
		s->compact_at = STACK_MIN;
}
