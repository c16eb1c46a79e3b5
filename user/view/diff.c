/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The verdict of each recording against the first, then label by label. */
#include "view/diff.h"

#include <inttypes.h>
#include <string.h>

#include "view/label.h"
#include "view/out.h"

#define NUMBER_WIDTH 12
#define LABEL_WIDTH 14
#define GIB (1ll << 30)
#define FILE_TEXT_MAX 4096

struct view {
	const struct diff *d;
	struct out out;
	unsigned flags;
	bool color;
};

static void bold(struct view *v, bool on)
{
	if (v->color)
		out_str(&v->out, on ? "\033[1m" : "\033[0m");
}

static void put_letter(struct view *v, size_t i)
{
	char c = diff_letter(i);

	out_bytes(&v->out, &c, 1);
}

static void put_label(struct view *v, const struct phase *ph)
{
	char label[VIEW_LABEL_MAX];
	size_t len = view_label(label, ph, v->flags);
	bool implied = view_implied_name(ph->kind);

	out_str(&v->out, implied ? "" : "[");
	out_bytes(&v->out, label, len);
	out_str(&v->out, implied ? "" : "]");
}

/* "12.4", of tenths; the sign is the caller's. */
static char *tenths(char out[static 40], int64_t n)
{
	uint64_t u = n < 0 ? -(uint64_t)n : (uint64_t)n;

	snprintf(out, 40, "%" PRIu64 ".%" PRIu64, u / 10, u % 10);
	return out;
}

/* " moved from 3.1 to 2.2 GiB": in MiB where GiB would not tell them apart. */
static void put_moved(struct view *v, int64_t from, int64_t to)
{
	bool gib = from >= GIB && to >= GIB && (from - to >= GIB / 10 || to - from >= GIB / 10);
	char a[24], b[24];

	/* text_mib() of a 1024th: tenths of GiB. */
	text_mib(a, gib ? from / 1024 : from);
	text_mib(b, gib ? to / 1024 : to);
	if (strcmp(a, b) != 0) {
		out_str(&v->out, " moved from ");
		out_str(&v->out, a);
		out_str(&v->out, " to ");
	} else {
		out_str(&v->out, " stayed at ");
	}
	out_str(&v->out, b);
	out_str(&v->out, gib ? " GiB" : " MiB");
}

static void put_change(struct view *v, const struct answer *a, const struct answer *b)
{
	int64_t from = (int64_t)a->top.peak.bytes, to = (int64_t)b->top.peak.bytes, permille;
	char s[40];

	if (!compare_permille(from, to, &permille) || !permille) {
		out_str(&v->out,
			from == to ? " peaks exactly as high as A" : " peaks as high as A");
		return;
	}
	out_str(&v->out, a->top.exact && b->top.exact ? " peaks " : " peaks ~");
	out_str(&v->out, tenths(s, permille));
	out_str(&v->out, permille < 0 ? " % lower" : " % higher");
}

/* What became of the phase that had the first one's peak. */
static void put_owner(struct view *v, size_t i)
{
	const struct answer *a = compare_answer(v->d->c, 0), *b = compare_answer(v->d->c, i);
	const struct compare_row *row = a->has_owner ? compare_find(v->d->c, &a->owner) : NULL;
	const struct compare_row *now = b->has_owner ? compare_find(v->d->c, &b->owner) : NULL;

	if (row) {
		out_str(&v->out, "; ");
		put_label(v, &a->owner);
		if (row->in[i].count) {
			put_moved(v, row->in[0].of[OF_PEAK].max, row->in[i].of[OF_PEAK].max);
		} else {
			out_str(&v->out, " is not in ");
			put_letter(v, i);
		}
	}
	if (!now || now == row)
		return;
	out_str(&v->out, "; its peak is in ");
	put_label(v, &b->owner);
	if (now->in[0].count) {
		out_str(&v->out, ", which");
		put_moved(v, now->in[0].of[OF_PEAK].max, now->in[i].of[OF_PEAK].max);
	} else {
		out_str(&v->out, ", which is not in A");
	}
}

static void put_verdict(struct view *v, size_t i)
{
	bool any_a = compare_answer(v->d->c, 0)->images, any = compare_answer(v->d->c, i)->images;

	bold(v, true);
	put_letter(v, any ? i : any_a ? i : 0);
	if (any_a && any) {
		put_change(v, compare_answer(v->d->c, 0), compare_answer(v->d->c, i));
		put_owner(v, i);
	} else {
		out_str(&v->out, " is of no process: there is nothing to compare");
	}
	bold(v, false);
	out_str(&v->out, "\n");
}

static void put_escaped(struct view *v, const char *s)
{
	char text[FILE_TEXT_MAX];

	text_escape_as(text, sizeof(text), s, strlen(s), v->flags);
	out_str(&v->out, text);
}

static void put_recording(struct view *v, size_t i)
{
	const struct answer *a = compare_answer(v->d->c, i);

	put_letter(v, i);
	out_str(&v->out, "  ");
	put_escaped(v, v->d->files[i]);
	if (a->images) {
		out_str(&v->out, a->top.exact ? "   peak " : "   peak ~");
		out_mib(&v->out, a->top.peak.bytes);
		out_str(&v->out, " MiB");
		if (a->has_owner) {
			out_str(&v->out, " in ");
			put_label(v, &a->owner);
		}
	}
	if (v->d->commands[i]) {
		out_str(&v->out, "   ");
		put_escaped(v, v->d->commands[i]);
	}
	out_str(&v->out, "\n");
}

static void put_titles(struct view *v)
{
	char title[8];

	out_spaces(&v->out, LABEL_WIDTH);
	out_right(&v->out, "A", 1, NUMBER_WIDTH);
	for (size_t i = 1; i < compare_recordings(v->d->c); i++) {
		title[0] = diff_letter(i);
		out_right(&v->out, title, 1, NUMBER_WIDTH);
		strcpy(title + 1, "-A");
		out_right(&v->out, title, 3, NUMBER_WIDTH);
		out_right(&v->out, "%", 1, NUMBER_WIDTH);
	}
	out_str(&v->out, "\n");
}

static void put_value(struct view *v, enum measure m, int64_t n, const char *mark)
{
	uint64_t size = n < 0 ? -(uint64_t)n : (uint64_t)n;
	char s[32], number[24];

	if (n == MEASURE_NONE) {
		out_right(&v->out, "-", 1, NUMBER_WIDTH);
		return;
	}
	if (m == OF_TIME)
		text_duration(number, size);
	else
		text_mib(number, n);
	snprintf(s, sizeof(s), "%s%s%s", mark, m == OF_TIME && n < 0 ? "-" : "", number);
	out_right(&v->out, s, strlen(s), NUMBER_WIDTH);
}

static int64_t pick(const struct compared *c, enum measure m, int which)
{
	const struct spread *s = &c->of[m];

	if (!c->count)
		return MEASURE_NONE;
	return which < 0 ? s->min : which > 0 ? s->max : s->median;
}

static void put_difference(struct view *v, enum measure m, int64_t from, int64_t to)
{
	int64_t d = (int64_t)((uint64_t)to - (uint64_t)from), permille;
	char s[48], number[40];

	if (from == MEASURE_NONE || to == MEASURE_NONE) {
		out_right(&v->out, "-", 1, NUMBER_WIDTH);
		out_right(&v->out, "-", 1, NUMBER_WIDTH);
		return;
	}
	put_value(v, m, d, d > 0 ? "+" : "");
	if (!compare_permille(from, to, &permille)) {
		out_right(&v->out, "-", 1, NUMBER_WIDTH);
		return;
	}
	snprintf(s, sizeof(s), "%s%s",
		 permille < 0	? "-"
		 : permille > 0 ? "+"
				: "",
		 tenths(number, permille));
	out_right(&v->out, s, strlen(s), NUMBER_WIDTH);
}

/* which: less than 0 the least, 0 the median, more than 0 the largest. */
static void put_line(struct view *v, const struct compare_row *row, const char *title,
		     enum measure m, int which)
{
	const struct compared *a = &row->in[0];

	out_str(&v->out, title);
	out_spaces(&v->out, LABEL_WIDTH - strlen(title));
	for (size_t i = 0; i < compare_recordings(v->d->c); i++) {
		const struct compared *b = &row->in[i];

		put_value(v, m, pick(b, m, which), b->exact || m == OF_TIME ? "" : "~");
		if (i)
			put_difference(v, m, pick(a, m, which), pick(b, m, which));
	}
	out_str(&v->out, "\n");
}

static void put_counts(struct view *v, const struct compare_row *row, bool repeated)
{
	size_t n = compare_recordings(v->d->c);
	bool all = true, first = true;

	for (size_t i = 0; i < n; i++)
		all &= row->in[i].count > 0;
	for (size_t i = 0; !all && i < n; i++) {
		if (!row->in[i].count)
			continue;
		out_str(&v->out, first ? "   only in " : ", ");
		put_letter(v, i);
		first = false;
	}
	if (!repeated)
		return;
	first = true;
	for (size_t i = 0; i < n; i++) {
		if (!row->in[i].count)
			continue;
		out_str(&v->out, first ? "   medians of " : ", ");
		out_u64(&v->out, row->in[i].count);
		out_str(&v->out, " in ");
		put_letter(v, i);
		first = false;
	}
}

static void put_row(struct view *v, const struct compare_row *row)
{
	static const char *const titles[MEASURES] = {
	    [OF_PEAK] = "  peak MiB",
	    [OF_GREW] = "  grew MiB",
	    [OF_KEPT] = "  kept MiB",
	    [OF_TIME] = "  time",
	};
	bool repeated = false;
	struct phase ph;

	for (size_t i = 0; i < compare_recordings(v->d->c); i++)
		repeated |= row->in[i].count > 1;
	name_phase(&ph, row->name);
	bold(v, true);
	put_label(v, &ph);
	bold(v, false);
	put_counts(v, row, repeated);
	out_str(&v->out, "\n");
	for (int m = 0; m < MEASURES; m++) {
		put_line(v, row, titles[m], (enum measure)m, 0);
		if (!repeated)
			continue;
		put_line(v, row, "    min", (enum measure)m, -1);
		put_line(v, row, "    max", (enum measure)m, 1);
	}
}

int diff_text(const struct diff *d, bool ascii, bool color, FILE *f)
{
	struct view v = {.d = d, .flags = ascii ? TEXT_ASCII : 0, .color = color};
	bool exact = true;
	int err = out_open(&v.out, f);

	if (err)
		return err;
	for (size_t i = 1; i < compare_recordings(d->c); i++)
		put_verdict(&v, i);
	out_str(&v.out, "\n");
	for (size_t i = 0; i < compare_recordings(d->c); i++) {
		put_recording(&v, i);
		exact &= compare_answer(d->c, i)->exact;
	}
	out_str(&v.out, "\n");
	put_titles(&v);
	for (size_t i = 0; i < d->n && !v.out.err; i++)
		put_row(&v, &d->rows[i]);
	if (!exact)
		out_str(
		    &v.out,
		    "\n~ open where a recording ends, or touched by a loss or by a bound of the kernel's counters: peakphase report says which\n");
	return out_close(&v.out);
}
