/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Threads of a process: their counters, and where the next checkpoint of each begins. The kernel
 * tells every beginning, but the end only of threads that marked: the rest pile up and are
 * forgotten, oldest first, when there are too many.
 */
#include "model/thread.h"

#include <stdlib.h>

#include "model/emit.h"

#define FORGET_LOOK 64 /* candidates looked at */

static void unlink_thread(struct mm *p, struct thread *t)
{
	HASH_DEL(p->threads, t);
	DL_DELETE(p->by_from, t);
	if (p->cached == t)
		p->cached = NULL;
}

void thread_put(struct model *m, struct thread *t)
{
	if (t->ends)
		stack_free(t->ends);
	free(t->ends);
	point_drop(m, &t->from);
	m->nthreads--;
	free(t);
}

static void forget_one(struct model *m, struct mm *p)
{
	struct thread *found = NULL, *t = p->by_from;

	for (int i = 0; t && i < FORGET_LOOK; i++, t = t->next) {
		if (t->open || (found && !t->idle))
			continue;
		found = t;
		if (t->idle)
			break;
	}
	if (!found)
		return;
	p->evicted = true;
	unlink_thread(p, found);
	thread_put(m, found);
}

static struct thread *thread_new(struct model *m, struct mm *p, uint32_t tid)
{
	struct thread *t;

	if (m->nthreads >= THREADS_MAX)
		forget_one(m, p);
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->tid = tid;
	t->serial = ++p->serial;
	t->oldest_ended = EV_NONE;
	HASH_ADD(hh, p->threads, tid, sizeof(t->tid), t);
	if (!t->hh.tbl) {
		free(t);
		return NULL;
	}
	m->nthreads++;
	p->cached = t;
	return t;
}

static struct thread *find(struct mm *p, uint32_t tid)
{
	struct thread *t = p->cached;

	if (t && t->tid == tid)
		return t;
	HASH_FIND(hh, p->threads, &tid, sizeof(tid), t);
	if (t)
		p->cached = t;
	return t;
}

/*
 * A thread not seen before was there when the tracing of the process began: its counters began at
 * 0 then, and so did its first checkpoint. Unless it was forgotten: then nobody knows.
 */
struct thread *thread_get(struct model *m, struct mm *p, uint32_t tid, const struct tally *now)
{
	struct thread *t = find(p, tid);

	if (t)
		return t;
	t = thread_new(m, p, tid);
	if (!t)
		return NULL;
	t->from = p->start;
	t->from.snap = NULL;
	/* The last thread of a process may end first, and then the process with it. */
	if (p->evicted || tid == p->gone_tid)
		t->last = t->from.tally = *now;
	if (p->evicted)
		t->from.doubts = EV_NONE;
	DL_PREPEND(p->by_from, t);
	return t;
}

struct thread *thread_begin(struct model *m, struct mm *p, uint32_t tid, const struct tally *now)
{
	struct thread *t = find(p, tid);

	/* The old bearer of this tid ended unseen: it had never marked, or its end was lost. */
	if (t)
		thread_exit(m, p, t);
	t = thread_new(m, p, tid);
	if (!t)
		return NULL;
	t->idle = true;
	t->last = *now;
	t->from = point_now(m, p, now);
	if (p->gap_open)
		t->cut = gap_so_far(p);
	DL_APPEND(p->by_from, t);
	if (++p->live_threads > p->max_threads) {
		p->max_threads = p->live_threads;
		p->pub.error_bytes = m->opt.error_per_thread * p->max_threads;
	}
	return t;
}

static void raise_to(uint64_t *last, uint64_t now, uint64_t *sum)
{
	uint64_t more = minus(now, *last);

	*last += more;
	*sum += more;
}

void thread_count(struct mm *p, struct thread *t, const struct tally *now)
{
	uint64_t unused = 0;

	raise_to(&t->last.grew, now->grew, &unused);
	raise_to(&t->last.shrank, now->shrank, &unused);
	raise_to(&t->last.minflt, now->minflt, &p->sum.minflt);
	raise_to(&t->last.majflt, now->majflt, &p->sum.majflt);
}

/* Its next checkpoint begins here. */
void thread_restart(struct model *m, struct mm *p, struct thread *t)
{
	point_drop(m, &t->from);
	t->from = point_now(m, p, &t->last);
	t->from_depth = t->open;
	t->last_mark = t->from.win;
	t->oldest_ended = EV_NONE;
	DL_DELETE(p->by_from, t);
	DL_APPEND(p->by_from, t);
}

/* Its open spans still need its counters. */
void thread_exit(struct model *m, struct mm *p, struct thread *t)
{
	unlink_thread(p, t);
	if (p->live_threads)
		p->live_threads--;
	t->dead = true;
	p->gone_tid = t->tid;
	if (!t->open)
		thread_put(m, t);
}

/* Spans are gone by now, and with them the dead threads. */
void thread_free_all(struct model *m, struct mm *p)
{
	while (p->by_from) {
		struct thread *t = p->by_from;

		unlink_thread(p, t);
		thread_put(m, t);
	}
}
