/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Overlap. Two labelled phases of a process overlap if they share a window, unless they are of one
 * thread and one lies within the other (their first and last windows compared; equal ends nest). A
 * phase is of the thread that began or marked it. So siblings of an event loop overlap when they
 * end in another order than that of a stack; when they do end like one, they cannot be told from
 * nested ones. Implied phases never overlap.
 *
 * It is decided when a phase ends, in O(log n) and without looking at other phases:
 *  - of other threads: a span open when this one began; one begun, or a checkpoint ended, since;
 *  - of this thread: a span begun later is still open, or one begun earlier has ended since (a
 *    minimum over the ends that were out of order: the stack again), or a checkpoint ended since:
 *    the first such had begun before the span.
 * A checkpoint is known only when it ends, so a phase that ended within it before that was handed
 * out without a word of it. The checkpoint itself is flagged.
 */
#include "model/overlap.h"

#include <stdlib.h>

static void did(struct recent *r, uint64_t thread, uint64_t win)
{
	if (r->thread[0] != thread) {
		r->thread[1] = r->thread[0];
		r->win[1] = r->win[0];
		r->thread[0] = thread;
	}
	r->win[0] = win;
}

/* Window in which a thread other than this one did it last; 0: none. */
static uint64_t other(const struct recent *r, uint64_t thread)
{
	return r->thread[0] != thread ? r->win[0] : r->win[1];
}

void overlap_begun(struct mm *p, struct span *s)
{
	s->crowded = p->open > s->thread->open;
	did(&p->begins, s->thread->serial, s->from.win);
}

static void keep_open(struct thread *t)
{
	stack_keep_begin(t->ends);
	for (struct span *s = t->spans; s; s = s->tnext)
		stack_keep(t->ends, s->from.win);
	stack_keep_end(t->ends);
}

/*
 * Later spans of the thread go on: remember this end for them. Without memory their flag is all
 * that is lost, and this phase's own is set.
 */
static void remember_end(struct mm *p, struct span *s)
{
	struct thread *t = s->thread;

	if (!t->ends) {
		t->ends = malloc(sizeof(*t->ends));
		if (!t->ends)
			return;
		stack_init(t->ends, false);
	}
	(void)stack_push(t->ends, p->next - 1, ~s->from.win, NULL);
	if (stack_due(t->ends))
		keep_open(t);
}

bool overlap_ended(struct mm *p, struct span *s, bool cut)
{
	struct thread *t = s->thread;
	uint64_t start = s->from.win;
	struct stack_key key;
	bool yes = s->crowded || other(&p->begins, t->serial) > start ||
		   other(&p->marks, t->serial) > start || t->last_mark > start;

	if (t->ends && stack_max(t->ends, start, &key, NULL) && ~key.value < start)
		yes = true;
	if (s->tnext && !cut) {
		yes = true;
		remember_end(p, s);
	}
	if (start < t->oldest_ended)
		t->oldest_ended = start;
	did(&p->ends, t->serial, p->next - 1);
	return yes;
}

bool overlap_checkpoint(struct mm *p, struct thread *t)
{
	uint64_t start = t->from.win;
	bool yes = p->open > t->open || other(&p->ends, t->serial) > start ||
		   other(&p->marks, t->serial) > start ||
		   (t->spans && t->spans->tprev->from.win > start) || t->oldest_ended < start;

	did(&p->marks, t->serial, p->next - 1);
	return yes;
}
