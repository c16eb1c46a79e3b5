/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Private to user/model: how processes were killed, and the user's limits. */
#ifndef PEAKPHASE_MODEL_VERDICT_PRIVATE_H
#define PEAKPHASE_MODEL_VERDICT_PRIVATE_H

#include "model/state.h"

void verdict_note(struct mm *p, uint64_t ns, uint64_t bytes);
void verdict_cross(struct model *m, struct mm *p, const struct event *ev);
void verdict_oom(struct model *m, struct mm *p, const struct event *ev);
/* Of one that has ended; false: it was not killed, or not of late. */
bool verdict_oom_late(struct model *m, const struct event *ev);
void verdict_oom_other(struct model *m, const struct event *ev);
enum process_exit verdict_killed(struct model *m, struct mm *p, const struct event *ev);
void verdict_ended(struct model *m, const struct mm *p);

#endif
