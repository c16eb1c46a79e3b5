/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the program wrote, in JSON: docs/json.md. Each returns 0 or -errno. */
#ifndef PEAKPHASE_VIEW_OUTPUT_JSON_H
#define PEAKPHASE_VIEW_OUTPUT_JSON_H

#include "lib/json.h"
#include "view/notes.h"

/* "output" of a phase; nothing where there is none. */
int output_json(struct jw *j, const struct report_source *src, struct notes *output,
		const struct phase *ph);
/* "output" of the run: the streams that are kept; nothing where none is. */
int output_totals_json(struct jw *j, const struct report_source *src);
/* "stderr_lines" of a verdict; nothing where there are none. */
int output_tail_json(struct jw *j, const struct report_source *src, uint64_t mm_id);

#endif
