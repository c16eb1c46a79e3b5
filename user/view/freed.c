/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "view/freed.h"

/*
 * RSS at the end of next, or FREED_LATER_NS after its start if that is earlier. A program that ends
 * frees what it has: that says nothing.
 */
static int held_then(const struct report_source *src, const struct phase *next, uint64_t *held,
		     bool *exact)
{
	uint64_t until = next->start_ns + FREED_LATER_NS, told_bytes;
	int told;

	bool over = next->ended_by != PH_BY_MARK && next->ended_by != PH_BY_TRACE;

	*held = over ? next->start_bytes : next->end_bytes;
	*exact = next->exact;
	if (next->end_ns <= until)
		return 0;
	told = src->rss_at(src->ctx, next->mm_id, next->start_ns, until, &told_bytes);
	*held = told > 0 ? told_bytes : next->start_bytes;
	*exact = false;
	return told < 0 ? told : 0;
}

int freed_later(const struct report_source *src, const struct phase *ph, struct freed *out)
{
	int64_t kept = phase_kept(ph);
	struct phase next;
	uint64_t held, fell;
	int n;

	*out = (struct freed){.bytes = 0, .exact = ph->exact};
	if (!src->implied_from || kept <= 0 || ph->kind >= PH_STARTUP || phase_open(ph))
		return 0;
	n = src->implied_from(src->ctx, ph->mm_id, ph->end_win, &next);
	if (n <= 0)
		return n;
	n = held_then(src, &next, &held, &out->exact);
	if (n)
		return n;
	fell = ph->end_bytes > held ? ph->end_bytes - held : 0;
	out->bytes = fell < (uint64_t)kept ? fell : (uint64_t)kept;
	out->exact &= ph->exact;
	return 0;
}
