/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Code that is mapped while the tracing runs: looked into and probed at once, by a thread of its
 * own, which no flood of marks keeps waiting.
 */
#ifndef PEAKPHASE_SOURCE_LATE_H
#define PEAKPHASE_SOURCE_LATE_H

#include "source/mappings.h"
#include "source/probe.h"
#include "source/unheard.h"

struct late_options {
	struct probes *probes;
	int code_ring; /* map that tells when to look; -1: at every mapping of the machine */
	/* Is or was the process traced, or will the command be? Called by the thread. */
	bool (*traced)(void *ctx, pid_t pid);
	void *ctx;
};

struct late;

/*
 * From here on the kernel keeps what is mapped; it is looked at once the thread is there. 0, or
 * -errno of perf_event_open(2).
 */
int late_open(struct late **l, const struct late_options *opt);
/* 0 or -errno. */
int late_start(struct late *l);
/* Ends the thread, when it has looked at all that is there. What it has probed stays. */
void late_finish(struct late *l);
/* NULL is fine. */
void late_close(struct late **l);

/* The rest is of the thread that reads the rings: every edge is to be given. 0 or -ENOMEM. */
int late_event(struct late *l, const struct event *ev);
/* As unheards_resolve(), of what was probed after it had been mapped. */
void late_resolve(struct late *l, uint64_t now_ns, bool last,
		  void (*fn)(void *ctx, const struct unheard *h), void *ctx);
/*
 * Looks into what a process has mapped; it was not traced before from_ns, or what it mapped since
 * may have escaped us.
 */
void late_look(struct late *l, pid_t pid, uint64_t from_ns);
/* Records that were lost: what they told of was not looked into. */
uint64_t late_lost(struct late *l);

#endif
