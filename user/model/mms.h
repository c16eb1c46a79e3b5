/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Private to user/model: the table of processes. */
#ifndef PEAKPHASE_MODEL_MMS_H
#define PEAKPHASE_MODEL_MMS_H

#include "model/state.h"

struct mm *mm_find(struct model *m, uint64_t id);
/* NULL: no memory. */
struct mm *mm_new(struct model *m, uint64_t id);
void mm_free(struct model *m, struct mm **p);

#endif
