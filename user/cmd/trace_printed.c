/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/trace_printed.h"

#include <string.h>

#include "lib/say.h"

void trace_printed_options(struct session_output *out, const struct trace_options *opt)
{
	struct literal literal[SESSION_LITERALS_MAX];
	int n;

	out->ring = opt->ring_output;
	out->keep = opt->keep;
	if (!opt->patterns)
		return;
	n = patterns_literals(opt->patterns, literal, SESSION_LITERALS_MAX);
	out->every = n == 0;
	out->nliterals = (uint32_t)n;
	for (int i = 0; i < n; i++) {
		struct session_literal *to = &out->literal[i];

		to->len = literal[i].len < sizeof(to->bytes) ? (uint32_t)literal[i].len
							     : sizeof(to->bytes);
		memcpy(to->bytes, literal[i].bytes + literal[i].len - to->len, to->len);
	}
	if (out->every)
		say_info(
		    "a pattern has no text that its lines must hold, or there are too many: every line costs an edge");
}

void trace_printed_losses(const struct lines_counts *c, bool quiet, uint64_t losses[PP_LOSS_MAX])
{
	losses[PP_LOSS_OUTPUT] += c->dropped + c->gave_up;
	if (c->relayed && !quiet)
		say_info("marks that a process passed on from another, which has them: %llu",
			 (unsigned long long)c->relayed);
	if (c->together)
		say_warning(
		    "%llu printed marks came in one write with the mark before them, so that their phases have no time: the program keeps its output back (PYTHONUNBUFFERED=1, stdbuf -oL)",
		    (unsigned long long)c->together);
	if (c->torn)
		say_warning(
		    "%llu printed lines were in pieces that could not be put together: their marks are missing",
		    (unsigned long long)c->torn);
	if (c->cut)
		say_warning(
		    "%llu printed lines were longer than %u bytes: the rest was not looked at",
		    (unsigned long long)c->cut, LINE_MAX_BYTES);
}
