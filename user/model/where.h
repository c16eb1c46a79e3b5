/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Private to user/model: faults by mapping, per phase. */
#ifndef PEAKPHASE_MODEL_WHERE_H
#define PEAKPHASE_MODEL_WHERE_H

#include "model/state.h"

int where_fault(struct model *m, struct mm *p, const struct event *ev);
void where_window(struct mm *p);
struct snap *where_snap(struct model *m, const struct mm *p);
void where_unsnap(struct model *m, struct snap **s);
uint32_t where_since(struct model *m, const struct mm *p, const struct snap *s,
		     const struct point *until);
void where_free(struct mm *p);

#endif
