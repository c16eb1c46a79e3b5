/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "view/notes.h"

#include <errno.h>
#include <stdlib.h>

static int add(void *arg, const struct note *n)
{
	struct notes *notes = arg;

	if (notes->n == notes->cap) {
		size_t cap = notes->cap ? 2 * notes->cap : 64;
		struct note *more = realloc(notes->rows, cap * sizeof(*more));

		if (!more)
			return -ENOMEM;
		notes->rows = more;
		notes->cap = cap;
	}
	notes->rows[notes->n++] = *n;
	return 0;
}

static int offer(void *arg, const struct phase *ph)
{
	struct notes *notes = arg;

	notes_offer(notes->rows, notes->n, ph);
	return 0;
}

int notes_load(struct notes *notes, const struct report_source *src, uint64_t mm_id)
{
	int err;

	notes->src = src;
	notes->n = 0;
	if (!src->each_note)
		return 0;
	err = src->each_note(src->ctx, mm_id, add, notes);
	if (err || !notes->n)
		return err;
	if (!notes->text)
		notes->text = malloc(PP_NOTE_MAX);
	if (!notes->text)
		return -ENOMEM;
	notes_sort(notes->rows, notes->n);
	err = src->each_phase(src->ctx, mm_id, offer, notes);
	notes_sort_by_owner(notes->rows, notes->n);
	return err;
}

void notes_free(struct notes *notes)
{
	free(notes->rows);
	free(notes->text);
	*notes = (struct notes){0};
}

int notes_each(struct notes *notes, const struct phase *ph,
	       int (*fn)(void *arg, const struct note *n, const char *text), void *arg)
{
	size_t count;
	const struct note *n = notes_of(notes->rows, notes->n, ph->id, &count);
	int err = 0;

	for (; count-- && !err; n++) {
		err = notes->src->note_text(notes->src->ctx, n, notes->text);
		if (!err)
			err = fn(arg, n, notes->text);
	}
	return err;
}

bool note_whole(const struct note *n)
{
	return n->flags == PP_NOTE_LAST;
}
