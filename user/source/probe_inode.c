/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <bpf/bpf.h>
#include <stdint.h>
#include <sys/mman.h>

#include "shared.h"
#include "source/probe.h"

/* Fails while another thread of ours changes our mappings. */
#define TRIES 100

static uint64_t ask(const struct probe_programs *prog, const void *at)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);

	prog->mapped->at = (uint64_t)(uintptr_t)at;
	for (int i = 0; i < TRIES; i++) {
		if (bpf_prog_test_run_opts(prog->find_inode, &opts))
			return 0;
		if (prog->mapped->inode)
			return prog->mapped->inode;
	}
	return 0;
}

uint64_t probe_inode(const struct probe_programs *prog, int fd, const struct stat *st)
{
	/* Nothing of it is ever read: a file that is cut off under us does no harm. */
	void *at = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);
	uint64_t inode = 0;

	if (at != MAP_FAILED) {
		inode = ask(prog, at);
		munmap(at, 1);
	}
	/* Addresses of the kernel have the highest bit set. */
	return inode ? inode : (st->st_dev << 40 ^ st->st_ino) & (uint64_t)INT64_MAX;
}
