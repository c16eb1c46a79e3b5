/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/batch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void object_free(struct object *o)
{
	free(o->data);
	*o = (struct object){0};
}

void batch_init(struct batch *b, const char *folder, const char *suffix)
{
	*b = (struct batch){.folder = folder, .suffix = suffix};
}

void batch_free(struct batch *b)
{
	free(b->rows);
	b->rows = NULL;
	b->len = b->cap = 0;
}

bool batch_takes(const struct batch *b, uint64_t wall_ns)
{
	/* Rows of several processors may be a little out of order. */
	uint64_t age = wall_ns > b->first_ns ? wall_ns - b->first_ns : 0;

	if (!b->n)
		return true;
	if (b->len >= BATCH_HUGE || age >= BATCH_LONG_NS)
		return false;
	return b->len < BATCH_LARGE || age < BATCH_SHORT_NS;
}

static bool is_json(const struct batch *b)
{
	return !strcmp(b->suffix, ".json");
}

int batch_add(struct batch *b, uint64_t wall_ns, const char *row, size_t len)
{
	size_t need = b->len + len + 2;

	if (need > b->cap) {
		size_t cap = need < 4096 ? 8192 : need * 2;
		char *more = realloc(b->rows, cap);

		if (!more)
			return -ENOMEM;
		b->rows = more;
		b->cap = cap;
	}
	if (!b->n) {
		b->first_ns = wall_ns;
		b->key_ns = wall_ns > b->key_ns ? wall_ns : b->key_ns + 1;
	} else if (is_json(b)) {
		b->rows[b->len++] = ',';
		b->rows[b->len++] = '\n';
	}
	b->last = b->len;
	memcpy(b->rows + b->len, row, len);
	b->len += len;
	b->n++;
	return 0;
}

int batch_object(const struct batch *b, struct object *o)
{
	/* The last row but its brace, then the array. */
	int last = (int)(b->len - b->last - 1), len;

	o->data = NULL;
	snprintf(o->key, sizeof(o->key), "%s/%llu%s", b->folder, (unsigned long long)b->key_ns,
		 b->suffix);
	if (!is_json(b)) {
		o->data = malloc(b->len + 1);
		if (!o->data)
			return -ENOMEM;
		memcpy(o->data, b->rows, b->len);
		o->len = b->len;
		return 0;
	}
	while (last > 0 && b->rows[b->last + (size_t)last - 1] == ' ')
		last--;
	if (b->n == 1)
		len = asprintf(&o->data, "%.*s\n", (int)b->len, b->rows);
	else
		len = asprintf(&o->data, "%.*s, \"%s\": [\n%.*s\n]}\n", last, b->rows + b->last,
			       b->folder, (int)b->len, b->rows);
	if (len < 0) {
		o->data = NULL;
		return -ENOMEM;
	}
	o->len = (size_t)len;
	return 0;
}

void batch_next(struct batch *b)
{
	b->n = b->sent = 0;
	b->len = b->last = 0;
	/* Of a burst nothing is kept. */
	if (b->cap > 4 * BATCH_LARGE) {
		free(b->rows);
		b->rows = NULL;
		b->cap = 0;
	}
}

bool singles_take(struct singles *s, uint64_t wall_ns)
{
	uint64_t second = wall_ns / BATCH_SHORT_NS;

	/* Two of one label and one instant would have one key. */
	if (s->all >= SINGLES_MAX || wall_ns <= s->last_ns)
		return false;
	if (second != s->second)
		s->in_second = 0;
	if (s->in_second >= SINGLES_A_SECOND)
		return false;
	s->second = second;
	s->last_ns = wall_ns;
	s->in_second++;
	s->all++;
	return true;
}
