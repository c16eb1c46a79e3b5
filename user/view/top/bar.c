/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The bar: of the nearest limit the part that is charged; without a limit, of the peak. */
#include <stdio.h>
#include <string.h>

#include "view/top/view.h"

#define BAR_MIN 20

struct bar {
	uint64_t now, peak, whole;
	const char *what, *of; /* the whole is */
};

/* The nearest that any process came to its limit. */
static bool ended_bar(const struct top_view *v, struct bar *bar)
{
	const struct process *p = NULL;

	for (const struct board_process *bp = v->b->processes; bp; bp = bp->hh.next)
		if ((!v->focus || bp == v->focus) && bp->p.headroom_min <= bp->p.limit &&
		    bp->p.limit != EV_NONE && (!p || bp->p.headroom_min < p->headroom_min))
			p = &bp->p;
	if (p)
		*bar = (struct bar){0, p->limit - p->headroom_min, p->limit, "peak ", "limit"};
	return p;
}

static bool choose_bar(const struct top_view *v, struct bar *bar)
{
	const struct board_process *p = v->now ? top_tightest(v) : NULL;

	if (v->now && v->b->over)
		return ended_bar(v, bar);
	if (p) {
		uint64_t min = p->p.headroom_min < p->headroom ? p->p.headroom_min : p->headroom;

		*bar = (struct bar){p->limit - p->headroom, p->limit - min, p->limit, "", "limit"};
		return p->headroom <= p->limit;
	}
	bar->whole = v->focus ? v->focus->p.peak.bytes : v->b->peak.bytes;
	*bar = (struct bar){top_rss_at(v), bar->whole, bar->whole, "",
			    top_is_sum(v) ? "peak of the RSS sum" : "peak"};
	return bar->whole != 0;
}

/* "charge [#######|    ] 512.3 of 1024.0 MiB limit" */
int top_bar(struct top_view *v, int row)
{
	bool ascii = v->g->ascii;
	char text[96], now[24], whole[24];
	struct bar bar;
	int width, used, peak;

	if (!choose_bar(v, &bar))
		return 0;
	snprintf(text, sizeof(text), " %s%s of %s MiB %s", bar.what,
		 top_mib(now, *bar.what ? bar.peak : bar.now), top_mib(whole, bar.whole), bar.of);
	width = v->g->cols - (int)strlen(text) - 2;
	if (width < BAR_MIN) {
		cells_fit(v->g, row, 0, v->g->cols, CELL_PLAIN, text + 1);
		return 1;
	}
	used = top_scaled(bar.now, bar.whole, width);
	peak = top_scaled(bar.peak, bar.whole, width - 1);
	cells_put(v->g, row, 0, 1, CELL_FAINT, "[");
	cells_fill(v->g, row, 1, used, CELL_MEMORY, ascii ? L'#' : L'█');
	cells_fill(v->g, row, 1 + used, width - used, CELL_FAINT, ascii ? L'.' : L'░');
	cells_fill(v->g, row, 1 + peak, 1, CELL_PEAK, ascii ? L'|' : L'┃');
	cells_put(v->g, row, 1 + width, 1, CELL_FAINT, "]");
	cells_put(v->g, row, 2 + width, v->g->cols, CELL_PLAIN, text);
	return 1;
}
