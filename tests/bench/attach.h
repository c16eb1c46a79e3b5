/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Attaching empty.bpf.c's programs, for the programs of the benchmark. */
#ifndef PEAKPHASE_BENCH_ATTACH_H
#define PEAKPHASE_BENCH_ATTACH_H

#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "empty.skel.h"
#include "resolve/elf.h"

/* Only what is asked for is loaded: a kernel without the fault tracepoints can still do the rest.
 */
static inline struct empty *empty_open_only(int rss, int faults, int uprobe)
{
	struct empty *skel;

	libbpf_set_print(NULL);
	skel = empty__open();
	if (!skel)
		return NULL;
	bpf_program__set_autoload(skel->progs.empty_rss_stat, rss);
	bpf_program__set_autoload(skel->progs.empty_user, faults);
	bpf_program__set_autoload(skel->progs.empty_kernel, faults);
	bpf_program__set_autoload(skel->progs.empty_uprobe, uprobe);
	if (empty__load(skel)) {
		empty__destroy(skel);
		return NULL;
	}
	return skel;
}

/* Offset of "nop1", "nop5" or "nop10" in the marker of file; 0 when it has none. */
static inline uint64_t marker_offset(const char *file, const char *site)
{
	struct elf_sites sites;
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	int n = fd < 0 ? -1 : elf_find_markers(fd, &sites);

	if (fd >= 0)
		close(fd);
	if (n <= 0 || sites.site[0].kind != ELF_SITE_MARKER)
		return 0;
	if (!strcmp(site, "nop1"))
		return sites.site[0].nop1;
	if (!strcmp(site, "nop5"))
		return sites.site[0].nop5;
	return !strcmp(site, "nop10") ? sites.site[0].nop10 : 0;
}

/* For every process, as the tracer does it: one that is bound to a pid is filtered, which costs. */
static inline struct bpf_link *attach_site(struct empty *skel, const char *file, const char *site)
{
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .retprobe = false);
	uint64_t offset = marker_offset(file, site);

	if (!offset) {
		errno = ENOENT;
		return NULL;
	}
	return bpf_program__attach_uprobe_opts(skel->progs.empty_uprobe, -1, file, offset, &opts);
}

#endif
