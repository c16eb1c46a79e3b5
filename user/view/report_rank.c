/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* report --rank: the phases that needed most of a kind of memory. */
#include <stdio.h>
#include <string.h>

#include "view/rank.h"
#include "view/report_text.h"

static const char *const kinds[] = {
    [RANK_TOTAL] = "most memory ",
    [RANK_ANON] = "most anonymous memory ",
    [RANK_FILE] = "most memory of mapped files ",
};

static void put_mib(struct report *r, uint64_t bytes, bool exact)
{
	char s[32], number[24];

	snprintf(s, sizeof(s), "%s%s", exact ? "" : "~",
		 text_mib(number, bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes));
	out_right(&r->out, s, strlen(s), 11);
}

static void put_row(struct report *r, const struct phase *ph)
{
	char s[24];

	put_mib(r, ph->anon_peak, ph->exact);
	put_mib(r, ph->file_peak, ph->exact);
	put_mib(r, ph->peak.bytes, ph->exact);
	text_duration(s, ph->end_ns > ph->start_ns ? ph->end_ns - ph->start_ns : 0);
	out_right(&r->out, s, strlen(s), 12);
	out_right(&r->out, s, text_u64(s, ph->pid), 9);
	out_str(&r->out, "  ");
	report_label(r, ph);
	out_str(&r->out, "\n");
}

void report_rank(struct report *r)
{
	const struct ranking *rank = r->asked->rank;

	if (!rank->n)
		return;
	out_str(&r->out, "\n");
	report_bold(r, true);
	out_str(&r->out, kinds[rank->by]);
	out_str(&r->out, rank->rows[0].exact ? "" : "~");
	out_mib(&r->out, rank_bytes(&rank->rows[0], rank->by));
	out_str(&r->out, " MiB in ");
	report_label(r, &rank->rows[0]);
	report_bold(r, false);
	out_str(&r->out, "   pid ");
	out_u64(&r->out, rank->rows[0].pid);
	out_str(&r->out, "\n\n   anon MiB   file MiB   peak MiB        time      pid  phase\n");
	for (size_t i = 0; i < rank->n; i++)
		put_row(r, &rank->rows[i]);
	if (rank->more) {
		out_str(&r->out, "  and ");
		out_u64(&r->out, rank->more);
		out_str(&r->out, " more phases\n");
	}
}
