/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Programs that must miss nothing: of each there are two, for a tp_btf tracepoint and, where the
 * kernel preempts and so skips those, for the classic one (bpf/unpreempted.bpf.h).
 */
#ifndef PEAKPHASE_SOURCE_UNPREEMPTED_H
#define PEAKPHASE_SOURCE_UNPREEMPTED_H

#include <stdbool.h>
#include <stddef.h>

struct bpf_link;
struct bpf_program;

/* Do tracepoints of the kernel whose BTF this is (whole, as in /sys) leave preemption on? */
bool unpreempted_needed(const void *btf, size_t size);
/* Of the file that it is in; false, too, if it cannot be mapped. */
bool unpreempted_needed_by(const char *path);
/* Do those of system calls, also the classic ones? Then functions are probed instead. */
bool unpreempted_calls_needed(const void *btf, size_t size);
/* Can classic tracepoints be had? They need tracefs and perf_event_open(2). */
bool unpreempted_allowed(void);
/* Both, of the running kernel. If only needed, tp_btf does it, and what is skipped is counted. */
bool unpreempted_wanted(void);
/* Of the running kernel's calls. */
bool unpreempted_calls_wanted(void);

struct either {
	struct bpf_program *prog, *unpreempted;
	struct bpf_link **link, **unpreempted_link;
};

/* Of a skeleton, by their names. */
#define EITHER(skel, p, u)                                                                         \
	((struct either){(skel)->progs.p, (skel)->progs.u, &(skel)->links.p, &(skel)->links.u})

/* Which of the two is to be loaded, if any. */
void either_choose(const struct either *e, bool wanted, bool unpreempted);
/* Attaches the one that is. 0 or -errno, said. */
int either_attach(const struct either *e);
/* One program, to the tracepoint of its section. 0 or -errno, said. */
int attach_one(struct bpf_program *prog, struct bpf_link **link);

#endif
