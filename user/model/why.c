/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "model/why.h"

#include <errno.h>
#include <stdlib.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>
#include <utlist.h>

#define PARENT_LOOK 256 /* open phases looked at for the one that encloses */

/* Rows with one name are told apart by what they are to the explained phase. */
struct key {
	uint64_t outer; /* id of the open phase around it; 0: none */
	uint32_t part;
	uint32_t own_thread;
	struct name name;
};

struct group {
	struct why_row row;
	uint64_t outer;
	bool own_thread;
	UT_hash_handle hh;
	size_t key_size;
	struct key key; /* as much of it as there is */
};

/* A phase that is open at the edge reached so far. */
struct open {
	uint64_t id, start_win, end_win, end_bytes;
	uint32_t tid;
	bool within; /* the explained one, or is it */
	bool implied;
	struct group *group;
	struct open *prev, *next;
};

struct why {
	uint64_t win, peak_bytes; /* of the peak */
	struct phase explained;	  /* id 0: none */
	uint64_t outer;		  /* id of what encloses it */
	/* The edge reached. */
	bool moved;
	uint64_t at_win, at_bytes;
	struct open *open, *implied; /* by start */
	struct open **ends;	     /* heap by end_win */
	size_t nends, cap;
	struct group *groups;
	int64_t sum[WHY_PARTS];
	struct why_row *rows;
};

static bool encloses(const struct open *o, const struct phase *ph)
{
	return o->tid == ph->tid && o->start_win <= ph->start_win && o->end_win >= ph->end_win;
}

/* Where the phase began at the very edge it ended at, that edge is explained. */
static uint64_t win_of(const struct peak *peak, const struct phase *ph)
{
	if (ph && (peak->win <= ph->start_win || peak->win > ph->end_win))
		return ph->start_win + 1;
	return peak->win;
}

int why_begin(struct why **out, const struct process *p, const struct peak *peak,
	      const struct phase *explained)
{
	struct why *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->win = win_of(peak, explained);
	w->peak_bytes = peak->bytes;
	w->at_bytes = p->baseline_bytes;
	w->sum[WHY_START] = (int64_t)w->at_bytes;
	if (explained) {
		w->explained = *explained;
		w->explained.where = NULL;
	}
	*out = w;
	return 0;
}

/* The end that comes first is at the top. */
static int heap_push(struct why *w, struct open *o)
{
	size_t i = w->nends, cap = w->cap ? 2 * w->cap : 64;

	if (i == w->cap) {
		struct open **grown = realloc(w->ends, cap * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		w->ends = grown;
		w->cap = cap;
	}
	w->nends++;
	for (; i && w->ends[(i - 1) / 2]->end_win > o->end_win; i = (i - 1) / 2)
		w->ends[i] = w->ends[(i - 1) / 2];
	w->ends[i] = o;
	return 0;
}

static struct open *heap_pop(struct why *w)
{
	struct open *top = w->ends[0], *last = w->ends[--w->nends];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < w->nends) {
		if (child + 1 < w->nends && w->ends[child + 1]->end_win < w->ends[child]->end_win)
			child++;
		if (w->ends[child]->end_win >= last->end_win)
			break;
		w->ends[i] = w->ends[child];
		i = child;
	}
	w->ends[i] = last;
	return top;
}

static struct open **list_of(struct why *w, const struct open *o)
{
	return o->implied ? &w->implied : &w->open;
}

/* A damaged recording may have any number. */
static void add(int64_t *sum, int64_t bytes)
{
	*sum = (int64_t)((uint64_t)*sum + (uint64_t)bytes);
}

/* What changed since the last edge is the innermost open phase's. */
static void reach(struct why *w, uint64_t win, uint64_t bytes)
{
	const struct open *list = w->open ? w->open : w->implied;
	bool at_once = w->moved && win <= w->at_win;
	int64_t *sum = &w->sum[WHY_UNKNOWN];

	if (list && !at_once)
		sum = list->prev->group ? &list->prev->group->row.bytes : &w->sum[WHY_OTHERS];
	add(sum, (int64_t)(bytes - w->at_bytes));
	w->moved = true;
	w->at_win = win;
	w->at_bytes = bytes;
}

static void end_until(struct why *w, uint64_t win)
{
	while (w->nends && w->ends[0]->end_win <= win) {
		struct open *o = heap_pop(w), **list = list_of(w, o);

		reach(w, o->end_win, o->end_bytes);
		DL_DELETE(*list, o);
		free(o);
	}
}

static struct open *outer_of(const struct why *w, const struct phase *ph)
{
	struct open *o = w->open ? w->open->prev : NULL;

	for (unsigned i = 0; o && i < PARENT_LOOK; i++) {
		if (encloses(o, ph))
			return o;
		o = o == w->open ? NULL : o->prev;
	}
	return NULL;
}

static enum why_part part_of(const struct why *w, const struct phase *ph, const struct open *outer)
{
	const struct phase *x = &w->explained;

	if (x->id && ph->id == x->id)
		return WHY_INSIDE;
	if (outer && outer->within)
		return WHY_INNER;
	if (ph->end_win < w->win)
		return WHY_EARLIER; /* or a sibling: why_end() */
	if (x->id && ph->tid == x->tid && ph->start_win <= x->start_win &&
	    ph->end_win >= x->end_win)
		return WHY_OUTER;
	return WHY_BESIDE;
}

/* Its row, made if there is none. NULL in *out: there are too many names. */
static int group_get(struct why *w, const struct phase *ph, const struct open *outer,
		     struct group **out)
{
	struct key key = {
	    .outer = outer ? outer->id : 0,
	    .part = part_of(w, ph, outer),
	    .own_thread = ph->tid == w->explained.tid,
	};
	struct group *g;
	size_t size;

	name_of(&key.name, ph);
	size = offsetof(struct key, name) + name_size(&key.name);
	HASH_FIND(hh, w->groups, &key, size, g);
	*out = g;
	if (g || HASH_COUNT(w->groups) >= WHY_ROWS_MAX)
		return 0;
	/* All of the key, so that nobody looks behind the end of it. */
	g = calloc(1, offsetof(struct group, key) + sizeof(struct key));
	if (!g)
		return -ENOMEM;
	memcpy(&g->key, &key, size);
	g->row = (struct why_row){
	    .part = (enum why_part)key.part,
	    .order = HASH_COUNT(w->groups),
	    .exact = true,
	    .name = &g->key.name,
	};
	g->outer = key.outer;
	g->own_thread = key.own_thread;
	HASH_ADD_KEYPTR(hh, w->groups, &g->key, size, g);
	if (!g->hh.tbl) {
		free(g);
		return -ENOMEM;
	}
	*out = g;
	return 0;
}

static int open_phase(struct why *w, const struct phase *ph, const struct open *outer)
{
	struct open *o, **list;
	int err = 0;

	o = calloc(1, sizeof(*o));
	if (!o)
		return -ENOMEM;
	o->id = ph->id;
	o->tid = ph->tid;
	o->start_win = ph->start_win;
	o->end_win = ph->end_win;
	o->end_bytes = ph->end_bytes;
	o->implied = ph->kind >= PH_STARTUP;
	o->within = ph->id == w->explained.id || (outer && outer->within);
	if (outer && outer->end_win < w->win) {
		o->group = outer->group; /* has ended as well: a part of what that one kept */
	} else {
		err = group_get(w, ph, outer, &o->group);
		if (o->group)
			o->group->row.phases++;
	}
	if (!err)
		err = heap_push(w, o);
	if (err) {
		free(o);
		return err;
	}
	if (o->group) {
		o->group->row.overlaps |= ph->overlaps;
		o->group->row.exact &= ph->exact;
	}
	list = list_of(w, o);
	DL_APPEND(*list, o);
	return 0;
}

int why_phase(struct why *w, const struct phase *ph)
{
	const struct open *outer;

	if (ph->start_win >= w->win)
		return 1;
	end_until(w, ph->start_win);
	reach(w, ph->start_win, ph->start_bytes);
	outer = outer_of(w, ph);
	if (ph->id == w->explained.id)
		w->outer = outer ? outer->id : 0;
	return ph->end_win > ph->start_win ? open_phase(w, ph, outer) : 0;
}

static int by_bytes(const void *va, const void *vb)
{
	const struct why_row *a = va, *b = vb;

	if (a->bytes != b->bytes)
		return a->bytes > b->bytes ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static size_t collect(struct why *w)
{
	struct group *g, *tmp;
	size_t n = 0;

	HASH_ITER (hh, w->groups, g, tmp) {
		if (g->row.part == WHY_EARLIER && w->explained.id && g->own_thread &&
		    g->outer == w->outer && !g->key.name.implied)
			g->row.part = WHY_SIBLING;
		add(&w->sum[g->row.part], g->row.bytes);
		if (g->row.bytes || g->row.part == WHY_INSIDE)
			w->rows[n++] = g->row;
	}
	for (int part = WHY_START; part < WHY_PARTS; part++)
		if (w->sum[part])
			w->rows[n++] = (struct why_row){
			    .part = (enum why_part)part,
			    .order = WHY_ROWS_MAX + (unsigned)part,
			    .bytes = w->sum[part],
			    .exact = part != WHY_UNKNOWN,
			};
	return n;
}

int why_end(struct why *w, const struct why_row **rows, size_t *n)
{
	end_until(w, w->win - 1);
	reach(w, w->win, w->peak_bytes);
	w->rows = calloc(HASH_COUNT(w->groups) + WHY_PARTS, sizeof(*w->rows));
	if (!w->rows)
		return -ENOMEM;
	*n = collect(w);
	qsort(w->rows, *n, sizeof(*w->rows), by_bytes);
	*rows = w->rows;
	return 0;
}

int64_t why_sum(const struct why *w, enum why_part part)
{
	return w->sum[part];
}

void why_free(struct why **wp)
{
	struct why *w = *wp;
	struct group *g, *tmp;

	if (!w)
		return;
	while (w->nends)
		free(w->ends[--w->nends]);
	free(w->ends);
	HASH_ITER (hh, w->groups, g, tmp) {
		HASH_DEL(w->groups, g);
		free(g);
	}
	free(w->rows);
	free(w);
	*wp = NULL;
}
