/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What goes through the queue: copies of only those parts of an event, process or phase that it
 * uses. Packing and unpacking are of one build: the form is no format.
 */
#ifndef PEAKPHASE_STORE_MESSAGE_H
#define PEAKPHASE_STORE_MESSAGE_H

#include "model/verdict.h"
#include "store/queue.h"

enum message_type {
	MSG_EVENT = 1,
	MSG_PROCESS,
	MSG_PHASE,
	MSG_COVERED,
	MSG_LOSSES,
	MSG_JOB,
	MSG_SHARE,
	MSG_CGROUP,
	MSG_VERDICT,
	MSG_UNHEARD,
	MSG_OUTPUT,
	MSG_OUTPUT_DROP,
	MSG_OUTPUT_TOTALS,
	MSG_REACHED
};

#define MESSAGE_WHERE_MAX 256u /* rows of phase_where kept of one phase: the largest */

struct message_covered {
	uint64_t mm_id, from_win, to_win;
};

struct message_output_drop {
	uint64_t from, to;
	uint32_t stream;
};

struct message_losses {
	uint64_t losses[PP_LOSS_MAX], missed;
};

/* Each returns 0; -EINVAL for a value that cannot be recorded; -EPIPE once the queue is closed. */
int message_put_event(struct queue *q, uint64_t id, const struct event *ev);
int message_put_phase(struct queue *q, const struct phase *ph);
int message_put(struct queue *q, enum message_type type, const void *data, size_t size);

/* What the kind of event does not use stays as it was in *ev. */
void message_get_event(const struct queue_message *m, uint64_t *id, struct event *ev);
/* ph->where points into the message. */
void message_get_phase(const struct queue_message *m, struct phase *ph);
const void *message_data(const struct queue_message *m);

#endif
