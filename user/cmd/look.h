/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Looking ahead for markers: what a program that has just begun may map later. What it does map is
 * probed by the session.
 */
#ifndef PEAKPHASE_CMD_LOOK_H
#define PEAKPHASE_CMD_LOOK_H

#include "model/model.h"
#include "source/session.h"

#define LOOKING_MAX 256

/* A process whose files are to be looked at. */
struct looking {
	pid_t pid;
	unsigned int left;
	uint64_t joined_ns; /* came in with what it had mapped; 0: it began with nothing */
	uint64_t next_ns;
};

/* All zero to begin with. */
struct looks {
	struct looking looking[LOOKING_MAX];
	unsigned int n;
	uint64_t next_ns, last_ns, unseen;
};

/* Every event: a program that begins is to be looked at. */
void looks_event(struct looks *k, struct session *s, const struct event *ev);
/* Looks, at most a fifth of our time: programs may begin by the thousand. */
void looks_poll(struct looks *k, struct session *s, const struct model *m);

#endif
