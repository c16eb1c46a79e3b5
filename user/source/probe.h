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
#include <sys/stat.h>
#include <sys/types.h>

enum probe_site { PROBE_NOP1, PROBE_NOP5, PROBE_NOP10, PROBE_SITES };

const char *probe_site_name(enum probe_site site);

/*
 * How a program is put on a site. A multi link (since 6.6) needs no CAP_SYS_ADMIN, and many of them
 * can be taken away at once: closing a perf event holds a lock of the whole machine for as long as
 * its grace period lasts, 80 ms each.
 */
enum probe_way { PROBE_PERF, PROBE_MULTI };

/* For the load of programs that are to be attached by a multi link: enum bpf_attach_type. */
#define PROBE_MULTI_ATTACH_TYPE 48

struct probe_calibration {
	enum probe_site site;
	enum probe_way way;
	bool becomes_call;  /* the 5-byte NOP turned into a call */
	bool survives_fork; /* a forked child can still pass the site that was tried last */
	/*
	 * Probes on our own marker that were tried, as descriptors, -1: none. They stay until the
	 * end: taking one away waits for a grace period, and the start has no time for that.
	 */
	int tried[PROBE_SITES];
};

/* The better way of those that this kernel has; in less than a millisecond. */
enum probe_way probe_way_here(void);
/*
 * Tries an empty program on our own marker. 0, or -errno when no site can be probed. Close the
 * result by probe_calibration_close(), or hand it on to probes_new(). Takes 15 ms, most of them
 * waiting: any thread may do it, one at a time.
 */
int probe_calibrate(enum probe_way way, struct probe_calibration *out);
void probe_calibration_close(struct probe_calibration *cal);

/*
 * One uprobe on a file, of pid, or of all processes (-1), while the descriptor that is returned is
 * open. -errno: refused.
 */
int probe_attach(int prog_fd, enum probe_way way, const char *path, uint64_t offset, pid_t pid);

/* Many at once, of all processes: n offsets, and for each what its program gets as its cookie. */
struct probe_many {
	const uint64_t *offset, *cookie; /* cookie: NULL: none */
	unsigned int n;
	bool at_return; /* of the function that is called, or jumped to, there */
};
/* The number of descriptors put in link, one or n of them; -errno: none is. */
int probe_attach_many(int prog_fd, enum probe_way way, const char *path,
		      const struct probe_many *many, int *link);

/* Programs of the session: descriptors, and where the last one answers. */
struct mapped;
struct spans;
struct probe_programs {
	int marker, find_inode;
	volatile struct mapped *mapped;
	struct spans *spans; /* functions that are spans; NULL: nobody asked for it */
	int span_entry, span_exit, span_return, caught, longjmp; /* for spans */
	int span_labels;					 /* the map */
};

/*
 * A name for the inode that the kernel maps of an open file, of which st is the stat(2). Two
 * overlays that share a layer have one. Good while the inode is in use.
 */
uint64_t probe_inode(const struct probe_programs *prog, int fd, const struct stat *st);

/* All files probed so far. Any thread. */
struct probes;

/* Takes over the calibration's descriptors. NULL: no memory. */
struct probes *probes_new(const struct probe_programs *prog, const struct probe_calibration *cal);
/* Takes all probes away, many at a time: each waits for a grace period of its own. */
void probes_free(struct probes **p);
/*
 * The number of markers that are new; -errno: said, but for a file that cannot be opened, which may
 * be gone. *since_ns: marks of the file are heard since then (CLOCK_MONOTONIC); 0: it
 * has none, or could not be probed.
 */
int probes_add(struct probes *p, const char *path, uint64_t *since_ns);
unsigned int probes_count(struct probes *p);
/* Functions that are spans, of all files. */
unsigned int probes_functions(struct probes *p);

#endif
