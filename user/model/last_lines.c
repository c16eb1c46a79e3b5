/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "model/last_lines.h"

#include <errno.h>
#include <stdlib.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct writer {
	uint64_t mm_id;
	uint64_t at; /* where it goes on */
	struct tail tail;
	UT_hash_handle hh;
};

struct last_lines {
	struct writer *writers; /* who wrote last is the last one */
};

struct last_lines *last_lines_new(void)
{
	return calloc(1, sizeof(struct last_lines));
}

static void forget(struct last_lines *l, struct writer *w)
{
	HASH_DEL(l->writers, w);
	free(w);
}

void last_lines_free(struct last_lines **lp)
{
	struct last_lines *l = *lp;

	if (!l)
		return;
	while (l->writers)
		forget(l, l->writers);
	free(l);
	*lp = NULL;
}

static struct writer *find(const struct last_lines *l, uint64_t mm_id)
{
	struct writer *w;

	HASH_FIND(hh, l->writers, &mm_id, sizeof(mm_id), w);
	return w;
}

int last_lines_add(struct last_lines *l, const struct ev_output *out)
{
	struct writer *w = find(l, out->mm_id);

	if (w)
		HASH_DEL(l->writers, w);
	else if (HASH_COUNT(l->writers) >= LAST_LINES_MAX)
		forget(l, l->writers);
	if (!w)
		w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	w->mm_id = out->mm_id;
	if (out->at > w->at)
		tail_gap(&w->tail);
	tail_append(&w->tail, out->bytes, out->len);
	if (out->at + out->len > w->at)
		w->at = out->at + out->len;
	HASH_ADD(hh, l->writers, mm_id, sizeof(w->mm_id), w);
	if (w->hh.tbl)
		return 0;
	free(w);
	return -ENOMEM;
}

const struct tail *last_lines_of(const struct last_lines *l, uint64_t mm_id)
{
	const struct writer *w = find(l, mm_id);

	return w ? &w->tail : NULL;
}
