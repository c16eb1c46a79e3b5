/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A tracer within the process, without root: finds the markers of all loaded objects by their
 * notes in memory and puts int3 on one of the three sites of each, as a uprobe does. x86-64,
 * one thread.
 */
#ifndef TESTS_MARKER_TRAP_H
#define TESTS_MARKER_TRAP_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct trap_hit {
	uint64_t op; /* first argument register */
	const char *label;
	uint64_t token;
};

#define TRAP_HITS_MAX 64u

/* Distinct markers in this process; -1: a note is wrong. */
int trap_markers(void);
/* Probe site 0, 1 or 2 (1-, 5-, 10-byte NOP) of all markers; what hit is forgotten. 0 or -1. */
int trap_set(unsigned int site);
void trap_clear(void);
/* Hits since trap_set, in order. */
unsigned int trap_hits(const struct trap_hit **hits);

#ifdef __cplusplus
}
#endif

#endif
