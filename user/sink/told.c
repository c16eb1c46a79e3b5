/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/told.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct told_note {
	uint64_t mm_id, time_ns, token;
	uint32_t tid, number;
	bool last;
	size_t len;
	char *text;
};

void told_free(struct told *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->notes[i].text);
	free(t->notes);
	*t = (struct told){0};
}

/* The note that a piece goes on with; NULL: none, it was forgotten or its beginning was lost. */
static struct told_note *find(struct told *t, const struct event *ev)
{
	for (size_t i = t->n; i-- > 0;) {
		struct told_note *n = &t->notes[i];

		if (n->mm_id == ev->mm_id && n->tid == ev->tid && n->number == ev->note.number)
			return n->last ? NULL : n;
	}
	return NULL;
}

static struct told_note *begin(struct told *t, const struct event *ev)
{
	if (t->n == TOLD_MAX) {
		free(t->notes[0].text);
		memmove(t->notes, t->notes + 1, --t->n * sizeof(*t->notes));
	}
	if (t->n == t->cap) {
		size_t cap = t->cap ? 2 * t->cap : 64;
		struct told_note *more = realloc(t->notes, cap * sizeof(*more));

		if (!more)
			return NULL;
		t->notes = more;
		t->cap = cap;
	}
	t->notes[t->n] = (struct told_note){
	    .mm_id = ev->mm_id,
	    .time_ns = ev->time_ns,
	    .token = ev->note.token,
	    .tid = ev->tid,
	    .number = ev->note.number,
	};
	return &t->notes[t->n++];
}

int told_add(struct told *t, const struct event *ev)
{
	struct told_note *n = ev->note.at ? find(t, ev) : begin(t, ev);
	size_t len = ev->note.len;
	char *more;

	if (!n)
		return ev->note.at ? 0 : -ENOMEM;
	n->last = ev->note.flags & PP_NOTE_LAST;
	if (len > TOLD_NOTE_MAX - n->len)
		len = TOLD_NOTE_MAX - n->len;
	if (!len)
		return 0;
	more = realloc(n->text, n->len + len);
	if (!more)
		return -ENOMEM;
	n->text = more;
	memcpy(n->text + n->len, ev->note.text, len);
	n->len += len;
	return 0;
}

static bool belongs(const struct told_note *n, const struct phase *ph)
{
	if (n->mm_id != ph->mm_id)
		return false;
	if (n->token)
		return ph->kind == PH_SPAN && n->token == ph->token;
	return n->tid == ph->tid && ph->start_ns <= n->time_ns && n->time_ns <= ph->end_ns;
}

size_t told_take(struct told *t, const struct phase *ph, char out[static TOLD_TEXT_MAX])
{
	size_t len = 0, kept = 0;

	for (size_t i = 0; i < t->n; i++) {
		struct told_note *n = &t->notes[i];

		if (!belongs(n, ph)) {
			t->notes[kept++] = *n;
			continue;
		}
		if (len && len < TOLD_TEXT_MAX)
			out[len++] = '\n';
		if (n->len <= TOLD_TEXT_MAX - len) {
			memcpy(out + len, n->text, n->len);
			len += n->len;
		}
		free(n->text);
	}
	t->n = kept;
	return len;
}
