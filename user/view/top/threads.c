/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "view/top/threads.h"

#include <stdlib.h>

static void drop(struct threads *t, struct board_thread *one, size_t *all)
{
	HASH_DEL(t->table, one);
	free(one);
	--*all;
}

void threads_free(struct threads *t, size_t *all)
{
	while (t->table)
		drop(t, t->table, all);
}

static int least_first(struct board_thread *a, struct board_thread *b)
{
	if (a->ended != b->ended)
		return a->ended ? -1 : 1;
	return (a->last_ns > b->last_ns) - (a->last_ns < b->last_ns);
}

static void halve(struct threads *t, size_t *all)
{
	HASH_SORT(t->table, least_first);
	for (size_t n = (threads_count(t) + 1) / 2; n; n--)
		drop(t, t->table, all);
}

static struct board_thread *find(const struct threads *t, uint32_t tid)
{
	struct board_thread *one;

	HASH_FIND(hh, t->table, &tid, sizeof(tid), one);
	return one;
}

static struct board_thread *get(struct threads *t, const struct event *ev, size_t *all)
{
	struct board_thread *one = find(t, ev->tid);

	if (one)
		return one;
	if (threads_count(t) >= THREADS_EACH_MAX || *all >= THREADS_ALL_MAX)
		halve(t, all);
	t->known++;
	if (*all >= THREADS_ALL_MAX)
		return NULL;
	one = calloc(1, sizeof(*one));
	if (!one)
		return NULL;
	one->tid = ev->tid;
	one->first_ns = ev->time_ns;
	HASH_ADD(hh, t->table, tid, sizeof(one->tid), one);
	if (!one->hh.tbl) {
		free(one);
		return NULL;
	}
	++*all;
	return one;
}

static void raise_to(uint64_t *n, uint64_t to)
{
	if (to > *n)
		*n = to;
}

/* Edges of one process may come out of order: their counters only rise. */
static void count(struct threads *t, const struct event *ev, size_t *all)
{
	struct board_thread *one = get(t, ev, all);

	if (!one)
		return;
	raise_to(&one->grew, ev->edge.thread_grew);
	raise_to(&one->minflt, ev->edge.minflt);
	raise_to(&one->majflt, ev->edge.majflt);
	raise_to(&one->last_ns, ev->time_ns);
	one->ended |= ev->kind == PP_THREAD_EXIT || ev->kind == PP_EXIT || ev->kind == PP_EXEC;
}

void threads_event(struct threads *t, const struct event *ev, size_t *all)
{
	struct board_thread *old;

	switch (ev->kind) {
	case PP_BASE:
		t->begun += ev->edge.threads ? ev->edge.threads : 1;
		break;
	case PP_THREAD:
		t->begun++;
		/* The old bearer of this tid ended unseen. */
		old = find(t, ev->tid);
		if (old)
			drop(t, old, all);
		break;
	case PP_MARK:
	case PP_BEGIN:
	case PP_END:
	case PP_THREAD_EXIT:
	case PP_EXEC:
	case PP_EXIT:
		count(t, ev, all);
		break;
	case PP_DETACH:
	case PP_OOM:
	case PP_OOM_OTHER:
	case PP_CROSS:
	case PP_SAMPLE:
	case PP_FAULT:
	case PP_NOTE:
	case PP_WRITE:
	case PP_OUTPUT:
	case PP_KIND_MAX:
		break;
	}
}
