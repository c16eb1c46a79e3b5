/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What processes wrote last, for a verdict on one of them. Pure; one thread. */
#ifndef PEAKPHASE_MODEL_LAST_LINES_H
#define PEAKPHASE_MODEL_LAST_LINES_H

#include "decode/event.h"
#include "model/tail.h"

#define LAST_LINES_MAX 1024u /* processes: those that wrote last */

struct last_lines;

struct last_lines *last_lines_new(void);
void last_lines_free(struct last_lines **l);

/* Of one stream. 0, -ENOMEM. */
int last_lines_add(struct last_lines *l, const struct ev_output *out);
/* NULL: nothing is known of it. Valid until the next call. */
const struct tail *last_lines_of(const struct last_lines *l, uint64_t mm_id);

#endif
