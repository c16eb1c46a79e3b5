/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Code as it is mapped: every executable mapping of a file that any process of the machine makes,
 * told by the kernel, whoever made it (execve, the dynamic loader, dlopen, a mmap by hand), and
 * every exec.
 *
 * The records are those of perf's side band (PERF_RECORD_MMAP2, PERF_RECORD_COMM), of one event for
 * each CPU. Probes on the dynamic loader would miss whoever maps by himself; tracepoints of system
 * calls would slow every call of the machine, where this costs some 0.2 us a mmap.
 */
#ifndef PEAKPHASE_SOURCE_MAPPINGS_H
#define PEAKPHASE_SOURCE_MAPPINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum mapped_kind {
	MAPPED_FILE, /* executable memory of a file */
	MAPPED_EXEC, /* the process has become another program; its mappings follow */
	MAPPED_LOST, /* the kernel found no room for records: some of the above are missing */
	MAPPED_NONE, /* nothing of interest */
};

#define MAPPED_PATH_MAX 256u

struct mapped_record {
	enum mapped_kind kind;
	pid_t pid; /* process, in our pid namespace; not positive: not to be seen from it */
	uint64_t time_ns;
	/* MAPPED_FILE */
	uint64_t start, end, offset;
	uint32_t dev_major, dev_minor; /* of the inode that is mapped: stat(2) may say otherwise */
	uint64_t ino, generation;
	char path[MAPPED_PATH_MAX]; /* as the process sees it; any bytes; its end is cut */
};

/*
 * One record of size bytes, its header included. 0, or -EBADMSG: not a record. Total: reads nothing
 * outside.
 */
int mapped_decode(const void *record, size_t size, struct mapped_record *out);

struct mappings;

/*
 * 0, or -errno of perf_event_open(2). eager: the descriptor is readable with each record, those of
 * forks and exits too, of the whole machine; else not before a ring is half full, to be read in
 * between.
 */
int mappings_open(struct mappings **m, bool eager);
void mappings_close(struct mappings **m);
int mappings_fd(const struct mappings *m);
/* Hands all records on; of one CPU they are in order. */
void mappings_read(struct mappings *m, void (*fn)(void *ctx, const struct mapped_record *r),
		   void *ctx);

#endif
