/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What this kernel and this user can do, as far as it can be read without loading a program:
 * any user can ask. try_load.h asks the kernel itself.
 */
#ifndef PEAKPHASE_SOURCE_ABILITIES_H
#define PEAKPHASE_SOURCE_ABILITIES_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "resolve/cgroup.h"
#include "source/privilege.h"

#define ABILITIES_UNKNOWN INT_MIN

enum abilities_counters {
	ABILITIES_COUNTERS_UNKNOWN,
	ABILITIES_COUNTERS_ATOMIC, /* before 6.2: each thread keeps up to 64 pages to itself first
				    */
	ABILITIES_COUNTERS_PERCPU, /* since 6.2 (f1a7941243c1): exact */
};

/* What the kernel's types say. Numbers of arguments are -1 where there is no such tracepoint. */
struct abilities_btf {
	int rss_stat;	      /* 2; 3 before 6.2 */
	int exit, exec, fork; /* sched_process_*: exit has 2 from 6.16 on, else 1 */
	int mark_victim;      /* oom: 2, or 1 (only the pid) on old kernels */
	int fault_user, fault_kernel;
	enum abilities_counters counters;
	bool charge;	   /* a memory cgroup's counter can be found and read */
	bool ring;	   /* ring buffers (5.8) */
	bool uprobe_multi; /* many probes in one link (6.6) */
};

struct abilities {
	char release[65], machine[65];
	unsigned int cpus; /* possible ones */
	int btf_error;	   /* 0: types is filled in; else why not */
	uint64_t btf_bytes;
	struct abilities_btf types;
	struct cgroup_mount cgroup;
	char lockdown[24]; /* "none", "integrity", "confidentiality"; "" if the kernel has none */
	int unprivileged_bpf_disabled, perf_event_paranoid, ptrace_scope; /* or ABILITIES_UNKNOWN */
	bool uprobes, bpffs, tracefs;
	bool preempts; /* programs on tracepoints: then classic ones are wanted (unpreempted.h) */
	bool classic;  /* they can be had, here and now */
	struct privilege privilege;
};

struct btf;

/* sysroot: in front of /proc and /sys; "" or a fixture. */
void abilities_get(struct abilities *a, const char *sysroot);
void abilities_btf(struct abilities_btf *t, const struct btf *btf);

#endif
