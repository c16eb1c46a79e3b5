/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * --where: in which mappings the sampled faults of a phase fell. A process has one table of
 * mappings with cumulative hits; a point keeps a copy of the hits, a phase shows the difference.
 *
 * Faults come by another ring than edges. One of a window that is not open yet waits for it; one of
 * a window that is over is also put into the points made since, so that their difference is right.
 */
#include "model/where.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NAMED_MAX 64u			       /* mappings told apart */
#define WHERE_MAX (NAMED_MAX + PP_MAPPING_MAX) /* and one of each kind that has no name */
#define EARLY_MAX 256u
#define LATE_LOOK 256 /* points looked at for a late fault */
#define OTHER "(other)"

struct early {
	uint64_t win;
	uint32_t i;
};

struct where {
	uint32_t n, named, hint, nearly;
	struct phase_where map[WHERE_MAX];
	struct early early[EARLY_MAX];
};

struct snap {
	uint32_t hits[WHERE_MAX];
};

/* There was no room for a copy: the phase says nothing of its mappings. */
#define SNAP_UNKNOWN ((struct snap *)1)

static bool same(const struct phase_where *w, uint32_t mapping, const char *name)
{
	return w->mapping == mapping && !strncmp(w->name, name, sizeof(w->name));
}

static uint32_t add(struct where *w, uint32_t mapping, const char *name)
{
	struct phase_where *e = &w->map[w->n];

	e->mapping = mapping;
	memcpy(e->name, name, strnlen(name, sizeof(e->name) - 1));
	return w->n++;
}

/* Mappings with names share a bounded number of places; the rest of them is one "(other)". */
static uint32_t find(struct where *w, uint32_t mapping, const char *name)
{
	if (w->hint < w->n && same(&w->map[w->hint], mapping, name))
		return w->hint;
	for (uint32_t i = 0; i < w->n; i++)
		if (same(&w->map[i], mapping, name))
			return w->hint = i;
	if (!name[0])
		return w->hint = add(w, mapping, name);
	if (w->named < NAMED_MAX - 1) {
		w->named++;
		return w->hint = add(w, mapping, name);
	}
	for (uint32_t i = 0; i < w->n; i++)
		if (same(&w->map[i], PP_MAP_UNKNOWN, OTHER))
			return i;
	return add(w, PP_MAP_UNKNOWN, OTHER);
}

static struct snap *snap_new(struct model *m)
{
	struct snap *s = m->nsnaps < SNAPS_MAX ? calloc(1, sizeof(*s)) : NULL;

	if (!s)
		return SNAP_UNKNOWN;
	m->nsnaps++;
	return s;
}

/* No copy yet: it was made before the first fault came, so all else in it is 0. */
static void fix(struct model *m, struct snap **s, uint32_t i)
{
	if (!*s)
		*s = snap_new(m);
	if (*s != SNAP_UNKNOWN)
		(*s)->hits[i]++;
}

/* Points made after window win ended must not take this fault for one of theirs. */
static void count_late(struct model *m, struct mm *p, uint32_t i, uint64_t win)
{
	struct span *s = p->spans ? p->spans->prev : NULL;
	struct thread *t = p->by_from ? p->by_from->prev : NULL;

	for (int n = 0; s && s->from.win >= win && n < LATE_LOOK; n++) {
		fix(m, &s->from.snap, i);
		s = s == p->spans ? NULL : s->prev;
	}
	for (int n = 0; t && t->from.win >= win && n < LATE_LOOK; n++) {
		fix(m, &t->from.snap, i);
		t = t == p->by_from ? NULL : t->prev;
	}
	if (p->gap_open && p->gap.win >= win)
		fix(m, &p->gap.snap, i);
}

static int prepare(struct model *m, struct mm *p)
{
	if (!m->where)
		m->where = calloc(WHERE_MAX, sizeof(*m->where));
	if (!p->where)
		p->where = calloc(1, sizeof(*p->where));
	return m->where && p->where ? 0 : -1;
}

int where_fault(struct model *m, struct mm *p, const struct event *ev)
{
	uint64_t win = number_of_window(p, ev->fault.seq);
	char name[PP_NAME_MAX] = {0};
	struct where *w;
	uint32_t i;

	if (prepare(m, p))
		return -ENOMEM;
	w = p->where;
	memcpy(name, ev->fault.name, strnlen(ev->fault.name, sizeof(name) - 1));
	i = find(w, ev->fault.mapping < PP_MAPPING_MAX ? ev->fault.mapping : PP_MAP_UNKNOWN, name);
	if (win > p->next && w->nearly < EARLY_MAX) {
		w->early[w->nearly++] = (struct early){win, i};
		return 0;
	}
	w->map[i].hits++;
	if (win < p->next)
		count_late(m, p, i, win);
	return 0;
}

/* A window has opened: its faults that came early count from now on. */
void where_window(struct mm *p)
{
	struct where *w = p->where;
	uint32_t kept = 0;

	if (!w || !w->nearly)
		return;
	for (uint32_t i = 0; i < w->nearly; i++) {
		if (w->early[i].win <= p->next)
			w->map[w->early[i].i].hits++;
		else
			w->early[kept++] = w->early[i];
	}
	w->nearly = kept;
}

struct snap *where_snap(struct model *m, const struct mm *p)
{
	const struct where *w = p->where;
	struct snap *s;

	if (!w)
		return NULL;
	s = snap_new(m);
	if (s != SNAP_UNKNOWN)
		for (uint32_t i = 0; i < w->n; i++)
			s->hits[i] = (uint32_t)w->map[i].hits;
	return s;
}

void where_unsnap(struct model *m, struct snap **s)
{
	if (*s && *s != SNAP_UNKNOWN) {
		free(*s);
		m->nsnaps--;
	}
	*s = NULL;
}

static int largest_first(const void *a, const void *b)
{
	const struct phase_where *x = a, *y = b;

	if (x->hits != y->hits)
		return x->hits < y->hits ? 1 : -1;
	if (x->mapping != y->mapping)
		return x->mapping < y->mapping ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Copies are 32 bits wide; so is their difference. NULL: made before the first fault came. */
static uint32_t hits_in(const struct snap *s, uint32_t i)
{
	return s ? s->hits[i] : 0;
}

/* Until a point that has gone by; NULL: until now. */
uint32_t where_since(struct model *m, const struct mm *p, const struct snap *s,
		     const struct point *until)
{
	const struct where *w = p->where;
	uint32_t n = 0;

	if (!w || s == SNAP_UNKNOWN || (until && until->snap == SNAP_UNKNOWN))
		return 0;
	for (uint32_t i = 0; i < w->n; i++) {
		uint32_t last = until ? hits_in(until->snap, i) : (uint32_t)w->map[i].hits;
		uint32_t hits = last - hits_in(s, i);

		if (!hits)
			continue;
		m->where[n] = w->map[i];
		m->where[n++].hits = hits;
	}
	qsort(m->where, n, sizeof(*m->where), largest_first);
	return n;
}

void where_free(struct mm *p)
{
	free(p->where);
	p->where = NULL;
}
