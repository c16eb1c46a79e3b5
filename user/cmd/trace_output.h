/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* --output: what the program writes, on its way to the recording and below a verdict. */
#ifndef PEAKPHASE_CMD_TRACE_OUTPUT_H
#define PEAKPHASE_CMD_TRACE_OUTPUT_H

#include "decode/event.h"

struct trace;

/* Nothing where it was not asked for. 0 or -ENOMEM. */
int trace_output_begin(struct trace *t);
int trace_output_piece(struct trace *t, const struct ev_output *out);
/* All there was has been given. */
void trace_output_poll(struct trace *t);
/* Nothing waits any longer; says what was dropped. */
void trace_output_finish(struct trace *t);
void trace_output_close(struct trace *t);
/* The last lines that mm_id wrote to stderr, to who reads along. */
void trace_output_last(struct trace *t, uint64_t mm_id);

#endif
