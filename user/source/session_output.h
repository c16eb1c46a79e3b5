/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The programs that see what is written to stdout and stderr. Private to source/. */
#ifndef PEAKPHASE_SOURCE_SESSION_OUTPUT_H
#define PEAKPHASE_SOURCE_SESSION_OUTPUT_H

#include "source/session.h"

struct peakphase;

/* Before the load; the programs are loaded only when somebody wants what they see. */
void output_constants(struct peakphase *skel, const struct session_output *out);
int output_sizes(struct peakphase *skel, const struct session_output *out, uint32_t page,
		 uint32_t edges);
/* Says errors. */
int output_attach(struct peakphase *skel);

uint32_t session_ring_size(uint32_t want, uint32_t dflt, uint32_t page);

#endif
