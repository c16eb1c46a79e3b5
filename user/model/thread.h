/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Private to user/model: threads of a process, by tid and serial. */
#ifndef PEAKPHASE_MODEL_THREAD_H
#define PEAKPHASE_MODEL_THREAD_H

#include "model/state.h"

struct thread *thread_get(struct model *m, struct mm *p, uint32_t tid, const struct tally *now);
struct thread *thread_begin(struct model *m, struct mm *p, uint32_t tid, const struct tally *now);
void thread_count(struct mm *p, struct thread *t, const struct tally *now);
void thread_restart(struct model *m, struct mm *p, struct thread *t);
void thread_exit(struct model *m, struct mm *p, struct thread *t);
void thread_put(struct model *m, struct thread *t);
void thread_free_all(struct model *m, struct mm *p);

#endif
