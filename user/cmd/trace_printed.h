/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the options say about lines that programs print, for the session and at the end. */
#ifndef PEAKPHASE_CMD_TRACE_PRINTED_H
#define PEAKPHASE_CMD_TRACE_PRINTED_H

#include "cmd/trace.h"
#include "model/lines.h"

/* What BPF looks for; says so when each write has to end a window. */
void trace_printed_options(struct session_output *out, const struct trace_options *opt);
/* Adds what was lost in putting lines together, and says what of it touches marks. */
void trace_printed_losses(const struct lines_counts *c, bool quiet, uint64_t losses[PP_LOSS_MAX]);

#endif
