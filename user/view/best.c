/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "view/best.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Of phases that hold the same instant the innermost owns it; an implied one only without others.
 */
static bool owns_rather(const struct phase *a, const struct phase *b)
{
	bool a_named = view_implied_name(a->kind) == NULL;
	bool b_named = view_implied_name(b->kind) == NULL;

	if (a->peak.bytes != b->peak.bytes)
		return a->peak.bytes > b->peak.bytes;
	if (a->mm_id != b->mm_id || a->peak.win != b->peak.win)
		return a->peak.at_ns < b->peak.at_ns;
	if (a_named != b_named)
		return a_named;
	if (a->start_win != b->start_win)
		return a->start_win > b->start_win;
	return a->depth > b->depth;
}

void best_process(struct best *b, const struct process *p)
{
	if (!b->begun || p->start_ns < b->start_ns)
		b->start_ns = p->start_ns;
	b->begun = true;
}

void best_phase(struct best *b, const struct process *p, const struct phase *ph)
{
	if (b->any && !owns_rather(ph, &b->phase))
		return;
	b->any = true;
	b->phase = *ph;
	b->phase.where = NULL;
	b->phase.nwhere = 0;
	memcpy(b->comm, p->comm, sizeof(b->comm));
}

void best_format(const struct best *b, char out[static BEST_TEXT_MAX], unsigned int flags)
{
	char label[VIEW_LABEL_MAX], comm[17 * TEXT_ESCAPED_MAX], mib[24], at[24];
	char before[64] = "", start[24];

	view_label(label, &b->phase, flags);
	text_escape(comm, sizeof(comm), b->comm, strlen(b->comm));
	if (phase_began_full(&b->phase))
		snprintf(before, sizeof(before), ", with %s when that phase began",
			 text_mib(start, (int64_t)b->phase.start_bytes));
	snprintf(out, BEST_TEXT_MAX, "peak %s MiB in [%s]   pid %" PRIu32 " %s   at +%s%s",
		 text_mib(mib, (int64_t)b->phase.peak.bytes), label, b->phase.pid, comm,
		 text_duration(at, b->phase.peak.at_ns - b->start_ns), before);
}
