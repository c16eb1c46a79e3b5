/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* report --why: the rows of which a peak is the sum. */
#include <stdio.h>
#include <string.h>

#include "view/explain.h"
#include "view/report_text.h"

#define ROWS_FIRST 20 /* of more rows the ones between these become one */
#define ROWS_LAST 4
#define PART_WIDTH 17

static int64_t percent_of(int64_t part, uint64_t whole)
{
	__int128 n = (__int128)part * 100, half = whole / 2;

	return whole ? (int64_t)((n < 0 ? n - half : n + half) / (__int128)whole) : 0;
}

static const char *start_text(const struct process *p)
{
	switch (p->reason) {
	case PP_BY_FORK:
		return "inherited at the fork";
	case PP_BY_ATTACH:
		return "held when it was attached to";
	default:
		return "held at the start";
	}
}

static const char *part_text(const struct report *r, const struct why_row *row)
{
	switch (row->part) {
	case WHY_INSIDE:
		return "inside";
	case WHY_INNER:
		return "within it";
	case WHY_SIBLING:
		return "earlier sibling";
	case WHY_EARLIER:
		return "earlier";
	case WHY_OUTER:
		return "open around it";
	case WHY_BESIDE:
		return "open beside it";
	case WHY_START:
		return start_text(&r->asked->why->p);
	case WHY_OTHERS:
		return "of more labels than could be told apart";
	case WHY_UNKNOWN:
	case WHY_PARTS:
		break;
	}
	return r->src->run->running ? "not attributed: in no phase that has ended yet"
				    : "not attributed: in no phase that was recorded";
}

static void put_number(struct report *r, int64_t bytes, bool exact)
{
	char s[40];

	snprintf(s, sizeof(s), "%s%lld", exact ? "" : "~", (long long)bytes);
	out_right(&r->out, s, strlen(s), 16);
	text_mib(s, bytes);
	out_right(&r->out, s, strlen(s), 11);
}

static void put_share(struct report *r, int64_t bytes)
{
	char s[40];

	snprintf(s, sizeof(s), "%lld %%", (long long)percent_of(bytes, r->asked->why->peak.bytes));
	out_right(&r->out, s, strlen(s), 8);
}

static void put_row(struct report *r, const struct why_row *row)
{
	const char *part = part_text(r, row);
	struct phase ph;

	put_number(r, row->bytes, row->exact);
	put_share(r, row->bytes);
	out_str(&r->out, "  ");
	out_str(&r->out, part);
	if (row->name) {
		out_spaces(&r->out, PART_WIDTH - strlen(part));
		name_phase(&ph, row->name);
		report_label(r, &ph);
	}
	if (row->phases > 1) {
		out_str(&r->out, r->style->ascii ? " x" : " ×");
		out_u64(&r->out, row->phases);
	}
	if (row->overlaps)
		out_str(&r->out, "   overlaps");
	out_str(&r->out, "\n");
}

static void put_rest(struct report *r, const struct why_row *rows, size_t n)
{
	bool exact = true;
	int64_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		sum = (int64_t)((uint64_t)sum + (uint64_t)rows[i].bytes);
		exact &= rows[i].exact;
	}
	put_number(r, sum, exact);
	put_share(r, sum);
	out_str(&r->out, "  ");
	out_u64(&r->out, n);
	out_str(&r->out, " rows between these (--json has them)\n");
}

static void put_held(struct report *r, const char *who, int64_t bytes)
{
	char s[24];

	out_str(&r->out, who);
	out_str(&r->out, text_mib(s, bytes));
	out_str(&r->out, " MiB (");
	snprintf(s, sizeof(s), "%lld", (long long)percent_of(bytes, r->asked->why->peak.bytes));
	out_str(&r->out, s);
	out_str(&r->out, " %)");
}

/* What was asked for, where the answer's line does not say it: which of several it is. */
static void put_asked(struct report *r)
{
	const struct explained *x = r->asked->why;
	struct phase ph;

	if (x->matches > 1 && x->pattern) {
		out_u64(&r->out, x->matches);
		out_str(&r->out, " phases match: ");
		for (size_t i = 0; i < x->nnames; i++) {
			name_phase(&ph, &x->names[i]);
			out_str(&r->out, i ? ", " : "");
			report_label(r, &ph);
		}
		out_str(&r->out, x->more_names ? ", and more" : "");
		out_str(&r->out, "; the highest is explained\n");
	}
	report_bold(r, true);
	if (x->has_phase) {
		report_label(r, &x->phase);
		out_str(&r->out, " peaked at ");
	} else {
		out_str(&r->out, "the peak is ");
	}
	out_str(&r->out, x->exact ? "" : "~");
	out_mib(&r->out, x->peak.bytes);
	report_bound(r, x->p.error_bytes);
	out_str(&r->out, " MiB");
	report_bold(r, false);
	out_str(&r->out, "   ");
	report_pid(r, &x->p);
	out_str(&r->out, "   at ");
	report_since(r, x->peak.at_ns);
	out_str(&r->out, "\n");
}

void report_why(struct report *r)
{
	const struct explained *x = r->asked->why;
	size_t last = x->n > ROWS_FIRST + ROWS_LAST + 1 ? x->n - ROWS_LAST : 0;

	out_str(&r->out, "\n");
	put_asked(r);
	out_str(&r->out, "\n           bytes        MiB   share\n");
	for (size_t i = 0; i < x->n; i++) {
		if (last && i == ROWS_FIRST) {
			put_rest(r, &x->rows[i], last - i);
			i = last;
		}
		put_row(r, &x->rows[i]);
	}
	put_number(r, (int64_t)x->peak.bytes, x->exact);
	out_str(&r->out, "          = the peak\n");
	put_held(r, "open outer phases hold ", why_sum(x->why, WHY_OUTER));
	put_held(r, ", earlier siblings ", why_sum(x->why, WHY_SIBLING));
	put_held(r, ", other earlier phases ", why_sum(x->why, WHY_EARLIER));
	out_str(&r->out, "\n");
	report_outside(r, &x->p);
}
