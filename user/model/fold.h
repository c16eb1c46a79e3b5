/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Private to user/model: one edge, in order, into maxima and numbers of the process. */
#ifndef PEAKPHASE_MODEL_FOLD_H
#define PEAKPHASE_MODEL_FOLD_H

#include "model/state.h"

int fold_base(struct model *m, struct mm *p, const struct event *ev, uint64_t win);
int fold_orphan(struct model *m, struct mm *p, const struct event *ev, uint64_t win);
int fold_window(struct model *m, struct mm *p, const struct event *ev, uint64_t win);
int fold_tail(struct mm *p);
void fold_sample(struct mm *p, const struct event *ev);
/* Did the timeline say anything of the open window? */
static inline bool sampled(const struct mm *p)
{
	return p->tail.win == p->next && p->tail.time_ns;
}

/* What the open window saw so far. */
struct carry fold_open(const struct mm *p);
/*
 * Own growth comes with edges only. Since the last one it is at least what the timeline rose by:
 * of all threads together, and of a thread (not NULL) that is the only one.
 */
uint64_t fold_rose(const struct mm *p, const struct thread *t);
void fold_preview(const struct mm *p, struct process *out);

#endif
