/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The answer as it stands while phases go by: the largest peak and the phase that owns it. Needs
 * no recording and no memory of other phases. Pure.
 */
#ifndef PEAKPHASE_VIEW_BEST_H
#define PEAKPHASE_VIEW_BEST_H

#include "view/label.h"

struct best {
	bool any;
	struct phase phase; /* without where */
	char comm[17];
	bool begun;
	uint64_t start_ns; /* of the first process: times are told from there, as in reports */
};

/* To be told of every process that begins, and of every phase that ends. */
void best_process(struct best *b, const struct process *p);
void best_phase(struct best *b, const struct process *p, const struct phase *ph);

#define BEST_TEXT_MAX (VIEW_LABEL_MAX + 224)

/* "peak 284.7 MiB in [transform:users]   pid 42 python3   at +1.204 s", without newline. */
void best_format(const struct best *b, char out[static BEST_TEXT_MAX], unsigned int flags);

#endif
