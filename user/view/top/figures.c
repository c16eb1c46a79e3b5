/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Figures that more than one part of the head shows. */
#include "view/top/view.h"

char *top_mib(char out[static 24], uint64_t bytes)
{
	return text_mib(out, bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes);
}

uint64_t top_rss_at(const struct top_view *v)
{
	if (v->focus)
		return v->now && !v->focus->gone ? v->focus->now : board_rss_at(v->focus, v->at);
	if (v->now)
		return v->b->now;
	return v->at == v->b->peak.at_ns ? v->b->peak.bytes : series_at(&v->b->rss, v->at);
}

bool top_is_sum(const struct top_view *v)
{
	return !v->focus && v->b->begun > 1;
}

const struct board_process *top_tightest(const struct top_view *v)
{
	const struct board_process *found = NULL;

	for (const struct board_process *bp = v->b->processes; bp; bp = bp->hh.next) {
		if ((v->focus && bp != v->focus) || bp->headroom == EV_NONE ||
		    bp->limit == EV_NONE || bp->gone)
			continue;
		if (!found || bp->headroom < found->headroom)
			found = bp;
	}
	return found;
}

int top_scaled(uint64_t n, uint64_t whole, int width)
{
	if (n >= whole)
		return width;
	return (int)((unsigned __int128)n * (unsigned)width / whole);
}
