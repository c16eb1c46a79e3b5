/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Private to user/model: checkpoints and the implied phases between marks. */
#ifndef PEAKPHASE_MODEL_CHECKPOINT_H
#define PEAKPHASE_MODEL_CHECKPOINT_H

#include "model/state.h"

void checkpoint(struct model *m, struct mm *p, struct thread *t, const struct event *ev);
void gap_begin(struct model *m, struct mm *p);
void gap_end(struct model *m, struct mm *p, bool last, enum phase_ended how);
enum phase_kind gap_kind(const struct mm *p, bool last);

#endif
