/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events: what the rest of userspace sees of a record. Host-independent: bytes, not pages.
 *
 * An event owns no memory: it can be copied and kept. Memory in bytes, times in ns of
 * CLOCK_MONOTONIC. EV_NONE (all ones) stands for "no limit" and "not known".
 */
#ifndef PEAKPHASE_DECODE_EVENT_H
#define PEAKPHASE_DECODE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "peakphase/wire.h"

#define EV_NONE UINT64_MAX

/* Members in the kernel's order: enum pp_member. RSS is FILE + ANON + SHMEM. */
struct ev_members {
	uint64_t m[PP_NMEMBERS];
};

static inline uint64_t ev_rss(const struct ev_members *v)
{
	return v->m[PP_FILE] + v->m[PP_ANON] + v->m[PP_SHMEM];
}

/* A label as it came: any bytes, not terminated. Views escape it. */
struct ev_label {
	uint16_t len;	/* bytes used, at most PP_LABEL_MAX */
	uint16_t flags; /* PP_LABEL_* */
	uint64_t hash;	/* of the whole label: tells cut ones apart */
	char bytes[PP_LABEL_MAX + 1];
};

struct ev_window {
	uint64_t seq; /* as on the wire: 24 bits; the model extends it */
	uint64_t max, max_at_ns;
	struct ev_members max_members;
	struct ev_members member_max;
	uint64_t min;
	uint64_t charge_max; /* EV_NONE: not known */
	uint64_t charge_max_at_ns;
	uint64_t limiter_max; /* EV_NONE: no limit */
};

/* The signal that ended a process, as far as one was seen that could. */
struct ev_sender {
	uint64_t time_ns; /* 0: none was seen */
	uint32_t sig;
	int32_t code; /* si_code */
	uint32_t pid; /* who sent it; 0: the kernel */
	char comm[17];
};

#define EV_CGROUP_MAX 256u /* bytes of a cgroup's path kept, its end */

/* What the OOM killer chose, and why as far as it can be told. */
struct ev_oom {
	uint64_t start_boot_ns; /* of the victim: with the pid, its identity */
	uint64_t hit_limit,
	    hit_usage;		/* of the cgroup with the least room; EV_NONE: none has a limit */
	uint64_t trigger_mm_id; /* of the process that wanted memory; 0: not traced */
	uint32_t hit_level;	/* 0: the victim's own cgroup, 1: its parent, … */
	uint32_t pid;		/* of the victim */
	uint32_t trigger_pid;
	uint32_t cgroup_len;
	char comm[17], trigger_comm[17];
	struct ev_sender sender;    /* of the victim: it may have been dying already */
	char cgroup[EV_CGROUP_MAX]; /* path of hit_level's; "…" in front when cut */
};

/* Where a write goes, and who can read it there: struct pp_write. */
struct ev_route {
	uint64_t to, from;
	uint64_t reader[PP_READERS];
};

struct ev_edge {
	struct ev_members now;
	struct ev_window win;
	uint64_t thread_grew, thread_shrank;
	uint64_t mm_grew, mm_shrank;
	uint64_t ext_grew, ext_shrank;
	uint64_t minflt, majflt;
	uint64_t charge, limit, limiter; /* EV_NONE: not known, no limit */
	uint64_t peak;
	uint32_t limit_level;
	uint32_t lost;
	/* PP_BASE */
	uint64_t parent_mm_id, start_ns, start_boot_ns;
	uint64_t cgroup_id; /* memory cgroup: inode of its folder; 0: not known */
	uint32_t ppid, ns_pid, reason, threads, args_len;
	char comm[17];		/* terminated */
	char args[PP_ARGS_MAX]; /* NUL between arguments, args_len bytes */
	/* PP_EXIT, PP_EXEC */
	uint32_t exit_code, exit_flags; /* PP_EXIT_* */
	struct ev_sender sender;
	union {
		/* PP_MARK, PP_BEGIN, PP_END */
		struct {
			uint64_t token;	  /* of PP_WRITE: number of the write */
			uint64_t printed; /* bytes that the program's own line named; EV_NONE: it
					     was none */
			uint32_t threads_now; /* of the process; 0: not known */
			union {
				struct ev_label label;
				struct ev_route route; /* PP_WRITE */
			};
		};
		/* PP_OOM; alone of PP_OOM_OTHER */
		struct ev_oom oom;
	};
};

struct ev_sample {
	uint64_t seq;
	struct ev_members now;
	uint64_t max, min;
	uint64_t charge;  /* EV_NONE: not known */
	uint64_t threads; /* of the process; 0: not known */
};

struct ev_fault {
	uint64_t seq;
	uint64_t addr, ino;
	uint32_t dev;
	uint32_t mapping; /* enum pp_mapping */
	char name[PP_NAME_MAX];
};

/* A piece of a note: struct pp_note. */
struct ev_note {
	uint64_t token;
	uint32_t number, at;
	uint16_t len, flags; /* PP_NOTE_* */
	char text[PP_NOTE_CHUNK];
};

struct event {
	enum pp_kind kind;
	uint32_t flags; /* PP_F_* */
	uint64_t time_ns, mm_id;
	uint32_t pid, tid;
	union {
		struct ev_edge edge; /* every kind but those below; of PP_OOM_OTHER only .oom */
		struct ev_sample sample;
		struct ev_fault fault;
		struct ev_note note;
	};
};

static inline bool event_is_edge(enum pp_kind k)
{
	return (k >= PP_BASE && k <= PP_DETACH) || k == PP_OOM || k == PP_CROSS || k == PP_WRITE;
}

/* A piece of what a program wrote; bytes points into the record it was decoded from. */
struct ev_output {
	uint64_t time_ns, mm_id;
	uint32_t pid, tid;
	uint64_t write;	 /* number of the write, over all processes */
	uint64_t at;	 /* bytes that the process had written to this stream before */
	uint32_t file;	 /* number of the open file */
	uint16_t stream; /* 1: stdout, 2: stderr */
	uint16_t flags;	 /* PP_OUT_* */
	uint32_t len;
	const char *bytes;
};

#endif
