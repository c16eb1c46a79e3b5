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
	uint32_t exit_code;
	/* PP_MARK, PP_BEGIN, PP_END */
	uint64_t token;
	struct ev_label label;
};

struct ev_sample {
	uint64_t seq;
	struct ev_members now;
	uint64_t max, min;
	uint64_t charge; /* EV_NONE: not known */
};

struct ev_fault {
	uint64_t seq;
	uint64_t addr, ino;
	uint32_t dev;
	uint32_t mapping; /* enum pp_mapping */
	char name[PP_NAME_MAX];
};

struct event {
	enum pp_kind kind;
	uint32_t flags; /* PP_F_* */
	uint64_t time_ns, mm_id;
	uint32_t pid, tid;
	union {
		struct ev_edge edge; /* every kind but the two below */
		struct ev_sample sample;
		struct ev_fault fault;
	};
};

static inline bool event_is_edge(enum pp_kind k)
{
	return k >= PP_BASE && k <= PP_DETACH;
}

#endif
