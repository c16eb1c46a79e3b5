/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What programs wrote, from a recording to the report. */
#ifndef PEAKPHASE_CMD_SHOW_OUTPUT_H
#define PEAKPHASE_CMD_SHOW_OUTPUT_H

#include "cmd/show.h"

/* Fills in that part of a source whose ctx is a recording. opt has to live as long. */
void show_output(struct report_source *src, const struct show_options *opt);

#endif
