/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Private to user/model: edges into the order of their numbers; hands them to mm_edge(). */
#ifndef PEAKPHASE_MODEL_ORDER_H
#define PEAKPHASE_MODEL_ORDER_H

#include "model/state.h"

int order_edge(struct model *m, struct mm *p, const struct event *ev);
int order_force(struct model *m, struct mm **p);
int order_timeouts(struct model *m, uint64_t now_ns);

#endif
