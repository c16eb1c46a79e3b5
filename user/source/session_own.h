/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a session is made of. Private to its files. */
#ifndef PEAKPHASE_SOURCE_SESSION_OWN_H
#define PEAKPHASE_SOURCE_SESSION_OWN_H

#include <pthread.h>

#include "shared.h"
#include "peakphase.skel.h"
#include "source/late.h"
#include "source/probe.h"
#include "source/session.h"
#include "source/session_load.h"

struct session {
	struct session_options opt;
	struct session_facts facts;
	struct peakphase *skel;
	struct probes *probes;
	struct late *late;
	pthread_mutex_t lock; /* of the answers of find_process */
	struct ring_buffer *edges, *samples, *faults, *notes, *output;
	uint64_t undecoded;
	int stop; /* what the event function returned */
	int epoll;
	/* --where: fault samples wait until the edges before them have been handed on. */
	struct event *waiting;
	size_t n_waiting, cap_waiting, next_waiting;
	/*
	 * When the draining began. What came after it waits for the next one: a program that never
	 * pauses would keep us here for ever, and an edge's faults, or what was written before it,
	 * may still be on their ring.
	 */
	uint64_t horizon;
	bool behind; /* there is more */
	struct event held;
	bool holding;
};

/* Maps the rings. Says errors. */
int session_open_rings(struct session *s);
/* Without it tracing goes on; says so. */
void session_open_late(struct session *s);

#endif
