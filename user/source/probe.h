/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Probing markers: which of the three sites, and the links to the files.
 *
 * What a hit costs depends on the instruction probed and on the kernel (the marker's header says
 * how). The best site is found by trying on our own copy of the marker: the 5-byte NOP where the
 * kernel turns it into a call and a forked child survives that, else the 10-byte one where it is
 * accepted (7.x, which turns that one into a call instead), else the 1-byte one. In this order,
 * since a refusal is slow.
 */
#ifndef PEAKPHASE_SOURCE_PROBE_H
#define PEAKPHASE_SOURCE_PROBE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct bpf_program;
struct bpf_link;

enum probe_site { PROBE_NOP1, PROBE_NOP5, PROBE_NOP10, PROBE_SITES };

const char *probe_site_name(enum probe_site site);

struct probe_calibration {
	enum probe_site site;
	bool becomes_call;  /* the 5-byte NOP turned into a call */
	bool survives_fork; /* a forked child can still pass the site that was tried last */
	/*
	 * Probes on our own marker that were tried. They stay until the end: taking one away waits
	 * for a grace period of the whole machine, 100 ms, and the start has no time for that.
	 */
	struct bpf_link *tried[PROBE_SITES];
};

/* Tries `nothing`, a uprobe program, on our own marker. 0, or -errno when no site can be probed. */
int probe_calibrate(struct bpf_program *nothing, struct probe_calibration *out);

/* One uprobe on a file, for all processes. NULL with errno set. */
struct bpf_link *probe_attach(struct bpf_program *prog, const char *path, uint64_t offset,
			      pid_t pid);

/* All files probed so far. */
struct probes;

/* Takes over the links of the calibration. NULL: no memory. */
struct probes *probes_new(struct bpf_program *marker, struct bpf_program *own_function,
			  const struct probe_calibration *cal);
/* Takes all probes away, many at a time: each waits for a grace period of its own. */
void probes_free(struct probes **p);
/* As session_probe(). */
int probes_add(struct probes *p, const char *path);
unsigned int probes_count(const struct probes *p);

#endif
