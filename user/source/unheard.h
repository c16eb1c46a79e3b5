/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whose marks may be missing: files that were mapped before they were probed, and the processes
 * that had them in that time. Pure: no I/O, no clock. One thread.
 */
#ifndef PEAKPHASE_SOURCE_UNHEARD_H
#define PEAKPHASE_SOURCE_UNHEARD_H

#include "decode/event.h"
#include "decode/unheard.h"

/* What is known when the file has been probed, in any order with the events around it. */
struct unheard_file {
	uint32_t pid;
	uint64_t exec_ns; /* the process's latest exec before from_ns; 0: not known */
	uint64_t from_ns; /* mapped */
	uint64_t to_ns;	  /* probed */
	bool looked;
	char file[UNHEARD_FILE_MAX];
};

struct unheards;

struct unheards *unheards_new(void);
void unheards_free(struct unheards **u);

/* Every edge: whose process lives when. 0 or -ENOMEM. */
int unheards_event(struct unheards *u, const struct event *ev);
int unheards_file(struct unheards *u, const struct unheard_file *f);

/*
 * Hands on what is certain by now_ns, the time up to which events were given. A file whose process
 * is not known after a second was mapped by nobody who is traced. last: nothing comes after this.
 */
void unheards_resolve(struct unheards *u, uint64_t now_ns, bool last,
		      void (*fn)(void *ctx, const struct unheard *h), void *ctx);

#endif
