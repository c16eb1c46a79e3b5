/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "view/notes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "view/label.h"

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

static int load(struct notes *notes, const struct report_source *src, uint64_t mm_id,
		int (*each)(void *ctx, uint64_t mm_id, report_note_fn fn, void *arg))
{
	int err;

	notes->ctx = src->ctx;
	notes->n = 0;
	if (!each)
		return 0;
	err = each(src->ctx, mm_id, add, notes);
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

int notes_load(struct notes *notes, const struct report_source *src, uint64_t mm_id)
{
	notes->text_of = src->note_text;
	return load(notes, src, mm_id, src->each_note);
}

int notes_load_output(struct notes *notes, const struct report_source *src, uint64_t mm_id)
{
	notes->text_of = src->output_text;
	return load(notes, src, mm_id, src->each_output);
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
		err = notes->text_of(notes->ctx, n, notes->text);
		if (!err)
			err = fn(arg, n, notes->text);
		else if (err == -ENOENT)
			err = 0;
	}
	return err;
}

bool output_wanted(const struct report_source *src, const struct phase *ph)
{
	const char *implied = view_implied_name(ph->kind);

	for (size_t i = 0; i < src->noutput_of; i++) {
		const char *label = src->output_of[i];
		size_t len = strlen(label);

		if (implied ? !strcmp(label, implied)
			    : len == ph->label.len && !memcmp(label, ph->label.bytes, len))
			return true;
	}
	return !src->noutput_of;
}

bool note_whole(const struct note *n)
{
	return n->flags == PP_NOTE_LAST;
}
