/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "model/writes.h"

#include <stdlib.h>
#include <string.h>

/* Bounds over all processes. */
#define WRITES_MAX 32768u
#define MARKS_MAX 65536u
#define TRIES 16u /* looked at to make room for one */
#define TEXT_MAX (8u << 20)

struct out_write *writes_find(const struct writes *ws, uint64_t id)
{
	struct out_write *w;

	HASH_FIND(hh, ws->table, &id, sizeof(id), w);
	return w;
}

void writes_forget(struct writes *ws, struct out_mark *m)
{
	free(m->text);
	m->text = NULL;
	ws->text -= m->len;
	m->len = m->at = 0;
}

static void free_write(struct writes *ws, struct out_write *w)
{
	HASH_DEL(ws->table, w);
	ws->marks -= w->n;
	for (size_t i = 0; i < w->n; i++)
		writes_forget(ws, &w->marks[i]);
	free(w->marks);
	free(w);
}

void writes_put(struct writes *ws, struct out_write *w)
{
	w->refs--;
	if (!w->refs && w->taken)
		free_write(ws, w);
}

/*
 * Edges that never came, or were not waited for: the oldest that no line needs. Those that one
 * needs go behind the others: there can be thousands, and they are not to be passed each time.
 */
static void make_room(struct writes *ws)
{
	struct out_write *old, *next;
	unsigned int tries = 0;

	HASH_ITER (hh, ws->table, old, next) {
		if (HASH_COUNT(ws->table) < WRITES_MAX || tries++ == TRIES)
			return;
		if (old->refs) {
			HASH_DEL(ws->table, old);
			HASH_ADD(hh, ws->table, id, sizeof(old->id), old);
		} else {
			ws->dropped += old->n;
			free_write(ws, old);
		}
	}
}

struct out_write *writes_get(struct writes *ws, uint64_t id, uint64_t mm_id)
{
	struct out_write *w = writes_find(ws, id);

	if (w)
		return w;
	if (HASH_COUNT(ws->table) >= WRITES_MAX)
		make_room(ws);
	w = calloc(1, sizeof(*w));
	if (!w)
		return NULL;
	w->id = id;
	w->mm_id = mm_id;
	HASH_ADD(hh, ws->table, id, sizeof(w->id), w);
	if (!w->hh.tbl) {
		free(w);
		return NULL;
	}
	return w;
}

/* What is around the match, if there is room. */
static void keep_text(struct writes *ws, struct out_mark *m, const char *s, size_t n)
{
	size_t before = m->match.start < MARK_BEFORE ? m->match.start : MARK_BEFORE;
	size_t after = n - m->match.start < MARK_AFTER ? n - m->match.start : MARK_AFTER;

	if (ws->text + before + after > TEXT_MAX)
		return;
	m->text = malloc(before + after + 1);
	if (!m->text)
		return;
	memcpy(m->text, s + m->match.start - before, before + after);
	m->at = (uint32_t)before;
	m->len = (uint32_t)(before + after);
	ws->text += m->len;
}

bool writes_mark(struct writes *ws, struct out_write *w, const struct pattern_match *m,
		 const char *s, size_t n)
{
	struct out_mark *more;

	if (w && ws->marks < MARKS_MAX && w->n == w->cap) {
		size_t cap = w->cap ? 2 * w->cap : 1;

		more = realloc(w->marks, cap * sizeof(*more));
		if (more) {
			w->marks = more;
			w->cap = cap;
		}
	}
	if (!w || w->n == w->cap || ws->marks >= MARKS_MAX) {
		ws->dropped++;
		return false;
	}
	w->marks[w->n] = (struct out_mark){.match = *m};
	keep_text(ws, &w->marks[w->n++], s, n);
	ws->marks++;
	return true;
}

struct out_mark *writes_take(struct writes *ws, uint64_t id, size_t *n)
{
	struct out_write *w = writes_find(ws, id);

	*n = 0;
	free(ws->taken);
	ws->taken = NULL;
	if (!w)
		return NULL;
	*n = w->n;
	ws->taken = w->marks;
	ws->marks -= w->n;
	w->marks = NULL;
	w->n = w->cap = 0;
	w->taken = true;
	if (!w->refs)
		free_write(ws, w);
	return ws->taken;
}

void writes_drop(struct writes *ws, uint64_t mm_id)
{
	struct out_write *w, *next;

	HASH_ITER (hh, ws->table, w, next) {
		if (w->mm_id != mm_id)
			continue;
		ws->dropped += w->n;
		if (!w->refs)
			free_write(ws, w);
		else
			w->taken = true; /* a lie: lines of another process have it */
	}
}

void writes_free(struct writes *ws)
{
	while (ws->table)
		free_write(ws, ws->table);
	free(ws->taken);
	ws->taken = NULL;
}
