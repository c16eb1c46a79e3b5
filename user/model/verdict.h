/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How a process was killed, or crossed a limit of the user's: the facts of that moment. Plain
 * values; units as in decode/event.h.
 */
#ifndef PEAKPHASE_MODEL_VERDICT_H
#define PEAKPHASE_MODEL_VERDICT_H

#include "model/phase.h"

/* The numbers are in recordings: append only. */
enum verdict_kind {
	VD_OOM = 1,  /* the kernel's OOM killer chose it */
	VD_SIGNAL,   /* any other signal ended it */
	VD_CEILING,  /* its RSS reached --ceiling for the first time; it goes on */
	VD_HEADROOM, /* what is left below its limit fell to --headroom; it goes on */
};

/*
 * How much a cgroup held that shows in no RSS, read from its statistics soon after. EV_NONE: not
 * told there.
 */
struct verdict_held {
	uint64_t read_ns; /* when; 0: it could not be read */
	uint64_t cache;	  /* of files, and shared memory */
	uint64_t mapped;  /* the part of it that some process has mapped */
	uint64_t shmem;	  /* the part of it that is shared memory or tmpfs */
	uint64_t kernel;  /* page tables, stacks, slab */
};

struct verdict {
	uint64_t id; /* from 1; one that comes again corrects what was said */
	enum verdict_kind kind;
	uint64_t at_ns;
	uint64_t mm_id, win; /* phases (start_win, end_win] that have win were open */
	uint32_t pid;
	/* false: the victim is not traced; mm_id, phases and memory are of the trigger, which is */
	bool traced;
	char comm[17];
	uint64_t cgroup_id;	 /* of its own memory cgroup; 0: not known */
	uint32_t signal;	 /* that ended it; 0: it goes on */
	struct ev_sender sender; /* of that signal; time_ns 0: not known */
	uint32_t trigger_pid;	 /* VD_OOM: whose wish for memory could not be met; 0: not known */
	char trigger_comm[17];
	uint64_t threshold;	   /* VD_CEILING, VD_HEADROOM: what the user asked for */
	struct ev_members members; /* of the RSS */
	uint64_t charge;	   /* of its own cgroup; EV_NONE: not known */
	/*
	 * The limit that was hit: of the cgroup that had the least room. EV_NONE: none, so the
	 * machine itself was out of memory. Of other kinds: the smallest limit.
	 */
	uint64_t limit, limit_usage;
	uint32_t limit_level; /* 0: its own cgroup's, 1: its parent's, … */
	uint32_t cgroup_len;
	char cgroup[EV_CGROUP_MAX];  /* the limit's owner; without a limit its own; "": not known */
	int64_t grew_bytes;	     /* of the RSS, in the grew_ns before */
	uint64_t grew_ns;	     /* 0: not known */
	uint32_t open;		     /* spans that were open */
	enum phase_kind phase_kind;  /* the innermost phase: PH_SPAN or an implied one */
	struct ev_label phase_label; /* of PH_SPAN; else of the last checkpoint before, if any */
	struct verdict_held held;
};

#endif
