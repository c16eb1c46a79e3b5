/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Private to user/model: who shares time with whom; its definition is in the source. */
#ifndef PEAKPHASE_MODEL_OVERLAP_H
#define PEAKPHASE_MODEL_OVERLAP_H

#include "model/state.h"

void overlap_begun(struct mm *p, struct span *s);
bool overlap_ended(struct mm *p, struct span *s, bool cut);
bool overlap_checkpoint(struct mm *p, struct thread *t);

#endif
