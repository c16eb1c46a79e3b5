/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Limits that the user set: an edge at the instant of the first crossing. */
#ifndef PEAKPHASE_CROSS_BPF_H
#define PEAKPHASE_CROSS_BPF_H

#include "emit.bpf.h"

#define CROSSED_CEILING 1u
#define CROSSED_HEADROOM 2u

extern const volatile u64 cfg_ceiling;	/* pages of RSS; 0: off */
extern const volatile u64 cfg_headroom; /* pages below the smallest limit; 0: off */

static __always_inline bool too_little_room(const struct mm_state *st)
{
	u64 usage;

	if (!st->limiter_addr)
		return false;
	usage = read_u64(st->limiter_addr);
	return usage >= st->limit || st->limit - usage <= cfg_headroom;
}

/* One CPU sends it, once in the life of the mm. A full ring keeps the chance for the next growth.
 */
static __always_inline void cross(struct mm_state *st, struct task_struct *task, u32 what)
{
	u32 old = st->crossed;
	struct pp_edge *e;

	if (__sync_val_compare_and_swap(&st->crossed, old, old | what) != old)
		return;
	e = edge_reserve(st, sizeof(*e));
	if (!e) {
		__sync_fetch_and_and(&st->crossed, ~what);
		return;
	}
	fill_edge(e, PP_CROSS, sizeof(*e), st, task, book_current(st));
	edge_submit(e, true);
}

/*
 * The RSS has grown, by a thread of its own. Where neither is asked for, the verifier takes all of
 * this out; else it is one comparison, and a second one with the charge.
 */
static __always_inline void look_at_limits(struct mm_state *st, struct task_struct *task, u64 rss)
{
	if (cfg_ceiling && rss >= cfg_ceiling && !(st->crossed & CROSSED_CEILING))
		cross(st, task, CROSSED_CEILING);
	if (cfg_headroom && !(st->crossed & CROSSED_HEADROOM) && too_little_room(st))
		cross(st, task, CROSSED_HEADROOM);
}

#endif
