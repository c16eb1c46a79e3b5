/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef PEAKPHASE_DECODE_UNHEARD_H
#define PEAKPHASE_DECODE_UNHEARD_H

#include <stdbool.h>
#include <stdint.h>

#define UNHEARD_FILE_MAX 256u

/*
 * A process could run code with markers before they were probed: marks that it made in that time
 * are missing. Numbers of memory are not touched.
 */
struct unheard {
	uint64_t id; /* from 1, in the order in which they became known */
	uint64_t mm_id;
	uint32_t pid;
	uint64_t from_ns, to_ns;
	/* false: the process was gone before its file could be looked into. Perhaps it has none. */
	bool looked;
	char file[UNHEARD_FILE_MAX]; /* as the process sees it; any bytes; its end may be cut */
};

#endif
