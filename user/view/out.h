/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Text put together in a buffer and written in large pieces: rows of a million phases would
 * spend their time in printf. Not thread-safe.
 */
#ifndef PEAKPHASE_VIEW_OUT_H
#define PEAKPHASE_VIEW_OUT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct out {
	FILE *f;
	char *buf;
	size_t len;
	int err;
};

int out_open(struct out *o, FILE *f); /* f stays the caller's. 0 or -ENOMEM */
int out_close(struct out *o);	      /* 0, or the first error of all writes */

void out_bytes(struct out *o, const char *s, size_t len);
void out_str(struct out *o, const char *s);
void out_u64(struct out *o, uint64_t n);
void out_mib(struct out *o, uint64_t bytes);
void out_spaces(struct out *o, size_t n);
/* Right-aligned in width columns, at least one space in front. ASCII. */
void out_right(struct out *o, const char *s, size_t len, size_t width);

#endif
