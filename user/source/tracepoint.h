/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Programs on classic tracepoints: those whose section is "tp/CATEGORY/NAME". */
#ifndef PEAKPHASE_SOURCE_TRACEPOINT_H
#define PEAKPHASE_SOURCE_TRACEPOINT_H

struct bpf_link;
struct bpf_program;

/*
 * An event of it, switched off, of one CPU. A descriptor; -ENOENT: there is no such tracepoint, or
 * tracefs is not mounted; -errno.
 */
int tracepoint_open(const char *category, const char *name);

/*
 * The program runs at each hit on any CPU, while the event that it hangs on stays off: what
 * programs let pass (return 1) is for who counts or records it with perf, not for us. 0 or -errno.
 */
int tracepoint_attach(struct bpf_program *prog, struct bpf_link **link);

#endif
