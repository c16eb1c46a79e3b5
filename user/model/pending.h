/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Private to user/model: the edges of an mm that wait for an earlier one. */
#ifndef PEAKPHASE_MODEL_PENDING_H
#define PEAKPHASE_MODEL_PENDING_H

#include "model/state.h"

/* 0, or -ENOMEM. */
int pending_hold(struct model *m, struct mm *p, const struct event *ev, uint64_t win);
/* The earliest, to be freed by the caller; there must be one. */
struct pending *pending_take(struct model *m, struct mm *p);
/* The process ended: what is still pending came after its end. */
void pending_drop(struct model *m, struct mm *p);

#endif
