/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Private to user/model: spans: begin to end, on any thread. */
#ifndef PEAKPHASE_MODEL_SPAN_H
#define PEAKPHASE_MODEL_SPAN_H

#include "model/state.h"

int span_begin(struct model *m, struct mm *p, struct thread *t, const struct event *ev);
int span_end(struct model *m, struct mm *p, const struct event *ev);
void span_close_all(struct model *m, struct mm *p, enum phase_ended how);
void span_free_all(struct model *m, struct mm *p);

#endif
