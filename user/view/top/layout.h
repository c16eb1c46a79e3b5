/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * State and board → cells. Pure: the clock is an argument, the size that of the grid. What the
 * frame showed goes to the facts, for the next key.
 */
#ifndef PEAKPHASE_VIEW_TOP_LAYOUT_H
#define PEAKPHASE_VIEW_TOP_LAYOUT_H

#include "view/top/board.h"
#include "view/top/cells.h"
#include "view/top/state.h"

struct top_list;

/* Room that is kept from frame to frame. NULL: no memory. */
struct top_list *top_list_new(void);
void top_list_free(struct top_list **l);

/*
 * Lays out one frame into g, whose size is given. Under the board's lock. now_ns: the clock of the
 * events (CLOCK_MONOTONIC); not asked once the run is over. 0 or -ENOMEM.
 */
int top_layout(struct board *b, struct top_state *s, struct top_facts *f, struct top_list *l,
	       struct cells *g, uint64_t now_ns);

#endif
