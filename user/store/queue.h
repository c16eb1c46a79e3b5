/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From the thread that traces to the thread that writes: messages of any length, copied.
 *
 * Two lanes, edges and the rest, so that a backlog of the rest never holds up an edge. Each lane is
 * a pair of buffers that change places: one is filled while the other is written out, and both are
 * used from their beginning, so that a quiet run touches little of them. One producer, one
 * consumer.
 */
#ifndef PEAKPHASE_STORE_QUEUE_H
#define PEAKPHASE_STORE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum queue_lane { LANE_EDGES, LANE_REST, LANE_MAX };

#define QUEUE_BUFFER (8u << 20) /* bytes of a buffer; there are four */

struct queue_message {
	uint32_t size; /* of the whole message, this header included; a multiple of 8 */
	uint32_t type;
};

struct queue_batch {
	char *data;
	size_t size;
	uint64_t first_ns; /* CLOCK_MONOTONIC at which its first message came */
};

struct queue;

struct queue *queue_new(void);
void queue_free(struct queue **q);

/*
 * Producer: room for a message of this size (at most 64 KiB) in lane; waits while the lane is full.
 * Fill what follows the header, then queue_push(). NULL: the queue was closed.
 */
struct queue_message *queue_reserve(struct queue *q, enum queue_lane lane, size_t size,
				    uint32_t type);
void queue_push(struct queue *q, enum queue_lane lane);

/* No more messages; wakes both sides. */
void queue_close(struct queue *q);

/*
 * Consumer: waits until a lane has filled a good part of its buffer, or its oldest message is
 * linger_ns old, or deadline_ns (CLOCK_MONOTONIC; 0: none) has passed. false: closed and empty.
 */
bool queue_wait(struct queue *q, uint64_t linger_ns, uint64_t deadline_ns);
/* Takes all that lane has, giving back what was taken before. Size 0: nothing there. */
struct queue_batch queue_take(struct queue *q, enum queue_lane lane);
/* Bytes that wait in lane, now. Cheap, without the lock. */
size_t queue_used(const struct queue *q, enum queue_lane lane);

#endif
