/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Private to user/model: lives of processes. *p is nulled when the edge ended it. */
#ifndef PEAKPHASE_MODEL_MM_H
#define PEAKPHASE_MODEL_MM_H

#include "model/state.h"

int mm_edge(struct model *m, struct mm **p, const struct event *ev, uint64_t win);
int mm_end(struct model *m, struct mm **p, enum process_exit how, uint32_t status);
void mm_doubt(struct mm *p);

#endif
