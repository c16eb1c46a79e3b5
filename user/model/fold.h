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
/* What the open window saw so far. */
struct carry fold_open(const struct mm *p);
void fold_preview(const struct mm *p, struct process *out);

#endif
