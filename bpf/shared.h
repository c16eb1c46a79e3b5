/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Values in maps and globals that BPF and the loader both see. Compiled by both compilers. */
#ifndef PEAKPHASE_SHARED_H
#define PEAKPHASE_SHARED_H

#ifndef __bpf__
#include <stdint.h>
typedef uint8_t u8;
typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;
typedef int64_t s64;
#endif

#define MAX_CPUS 4096
#define BUCKETS 16384 /* a power of two */
#define NO_SLOT (~0u)

/* A process that is followed: by the kernel's own tgid, that of the first pid namespace. */
struct proc_state {
	u64 mm_id;
	u32 slot;   /* NO_SLOT: its command has not been exec'ed yet, or it is to be adopted */
	u32 shares; /* 1: runs on the mm of its parent (vfork) */
};

/* A cgroup: number of its hierarchy (0: v2), and of itself, the inode of its folder. */
struct cgroup_key {
	u64 id;
	u32 hierarchy;
	u32 pad;
};

/*
 * A cgroup that is to be watched as soon as it is made: its path within the hierarchy, or the last
 * part of it, by logic.h's hash.
 */
struct awaited_key {
	u64 hash;
	u32 hierarchy;
	u32 by_name; /* 1: the last part */
};

/* First test of every event of the machine: how many traced mms have this hash, and one of them. */
struct bucket {
	u32 count;
	u32 slot;
};

/*
 * Which processes ended a short while ago: their pids in the tracer's namespace, by the last bits
 * of them. What they had mapped is read later.
 */
#define LEFT 8192 /* a power of two */

/* The state that a CPU found last; a cache line for each. */
struct last_slot {
	u32 slot;
	u32 pad[15];
};

/* Which file lies at an address of the tracer's own memory. */
struct mapped {
	u64 at;	   /* asked for */
	u64 inode; /* answered: its address in the kernel; 0: not found */
};

/*
 * Literals that a line which matters must hold: the last bytes of each, at most eight, as one word.
 * A write that completes one of them ends a window.
 */
#define OUT_LITERALS 16
#define OUT_END_WORDS 4
struct out_literal {
	u64 word, mask;
};

/* The cookie of a probe on a program's own log_rss(const char *). */
#define MARKER_OWN 1

/*
 * Functions that are spans (--span), by number: the label of their spans. The cookie of a probe at
 * an entry is that number.
 */
#define SPAN_FUNCTIONS 256
/* In the cookie: code of the function may jump back to the probe, and to another one as its end. */
#define SPAN_AGAIN (1ull << 32)
#define SPAN_TAILS (1ull << 33)
struct span_label {
	u64 hash; /* of the whole label, as that of a mark */
	u32 len;
	u32 flags; /* PP_LABEL_* */
	char bytes[256];
};

enum counters { COUNTERS_UNKNOWN, COUNTERS_ATOMIC, COUNTERS_PERCPU };

/* What the set-up program found out. */
struct setup {
	u32 counters; /* enum counters */
	u32 charge;   /* 1: the memory controller can be read */
	u32 offsets;  /* CPUs whose percpu area was found */
	u32 slots;    /* put into the queue of free ones */
	u64 pid_ns; /* the tracer's own pid namespace (address), and how deep it is; 0: the first */
	u32 pid_level;
	u32 found; /* by find_process: the kernel's tgid, 0: none */
};

#endif
