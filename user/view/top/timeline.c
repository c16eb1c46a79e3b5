/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory over time: a column for each piece of it, filled up to its smallest value and lighter up
 * to its largest, so that a spike of a millisecond shows. Under it the phases of one process.
 */
#include <stdio.h>
#include <string.h>

#include "view/top/view.h"

#define AXIS 8 /* columns of the scale at the left */
#define EIGHTHS 8

struct axis {
	uint64_t from, to; /* the time shown */
	int left, width;
};

static uint64_t clamp(uint64_t t, uint64_t from, uint64_t to)
{
	return t < from ? from : t > to ? to : t;
}

/* The whole, or a part of it around the moment; of what goes on the last one. */
static void choose_time(const struct top_view *v, struct axis *a)
{
	uint64_t first = v->b->first_ns, last = v->end, span;

	if (v->has_focus_phase) {
		first = v->focus_phase.start_ns;
		last = clamp(v->focus_phase.end_ns, first, v->end);
	} else if (v->focus) {
		first = v->focus->p.start_ns;
		last = v->focus->gone ? clamp(v->focus->last_ns, first, v->end) : v->end;
	}
	if (last <= first)
		last = first + 1;
	span = (last - first) >> v->s->zoom;
	if (span < (uint64_t)a->width)
		span = (uint64_t)a->width;
	if (span >= last - first) {
		a->from = first;
		a->to = first + (span > last - first ? span : last - first);
		return;
	}
	a->to = v->now ? last : clamp(v->at + span / 2, first + span, last);
	a->from = a->to - span;
}

static uint64_t column_ns(const struct axis *a, int col)
{
	return a->from + (uint64_t)((unsigned __int128)(a->to - a->from) * (unsigned)col /
				    (unsigned)a->width);
}

/* Column of a moment; -1: not shown. */
static int column_of(const struct axis *a, uint64_t ns)
{
	uint64_t span = a->to - a->from;
	int col;

	if (ns < a->from || ns > a->to)
		return -1;
	col = (int)((unsigned __int128)(ns - a->from) * (unsigned)a->width / span);
	return col < a->width ? col : a->width - 1;
}

static const struct series *curve(const struct top_view *v)
{
	return v->focus ? &v->focus->rss : &v->b->rss;
}

static bool column_range(const struct top_view *v, const struct axis *a, int col, uint64_t *min,
			 uint64_t *max)
{
	uint64_t from = column_ns(a, col), to = column_ns(a, col + 1) + (col + 1 == a->width);

	/* What has not happened yet, and what was after its end. */
	if (from >= v->end || (v->focus && v->focus->gone && from > v->focus->last_ns))
		return false;
	return series_range(curve(v), from, to > from ? to : from + 1, min, max);
}

static wchar_t block(bool ascii, int eighths)
{
	static const wchar_t blocks[] = L" ▁▂▃▄▅▆▇█";

	if (ascii)
		return eighths >= EIGHTHS ? L'#' : eighths >= 4 ? L'=' : eighths ? L'_' : L' ';
	return blocks[eighths < EIGHTHS ? eighths : EIGHTHS];
}

static int to_eighths(uint64_t bytes, uint64_t top, int height)
{
	int all = height * EIGHTHS, n;

	if (!bytes || !top)
		return 0;
	n = (int)((unsigned __int128)(bytes < top ? bytes : top) * (unsigned)all / top);
	return n ? n : 1;
}

/* One cell, `below` eighths above the bottom: all memory, partly, or the spike above it. */
static void draw_cell(struct top_view *v, int row, int col, int lo, int hi, int below)
{
	bool ascii = v->g->ascii;
	int fill = lo - below, spike = hi - below;

	if (fill >= EIGHTHS)
		cells_fill(v->g, row, col, 1, CELL_MEMORY, block(ascii, EIGHTHS));
	else if (spike >= EIGHTHS)
		cells_fill(v->g, row, col, 1, CELL_SPIKE, ascii ? L':' : L'▒');
	else if (fill > 0 && fill == spike)
		cells_fill(v->g, row, col, 1, CELL_MEMORY, block(ascii, fill));
	else if (spike > 0)
		cells_fill(v->g, row, col, 1, fill > 0 ? CELL_MEMORY : CELL_SPIKE,
			   block(ascii, spike));
}

static void draw_column(struct top_view *v, const struct axis *a, int row, int height, int col,
			uint64_t top)
{
	uint64_t min, max;
	int lo, hi;

	if (!column_range(v, a, col, &min, &max))
		return;
	lo = to_eighths(min, top, height);
	hi = to_eighths(max, top, height);
	for (int i = 0; i < height; i++)
		draw_cell(v, row + height - 1 - i, a->left + col, lo, hi, i * EIGHTHS);
}

static uint64_t largest(const struct top_view *v, const struct axis *a)
{
	uint64_t top = 0, min, max;

	for (int col = 0; col < a->width; col++)
		if (column_range(v, a, col, &min, &max) && max > top)
			top = max;
	return top;
}

static void draw_scale(struct top_view *v, const struct axis *a, int row, int height, uint64_t top)
{
	char m[24];

	if (!a->left)
		return;
	text_mib(m, top > INT64_MAX ? INT64_MAX : (int64_t)top);
	if (strlen(m) >= AXIS)
		snprintf(m, sizeof(m), "%.0fG", (double)top / (1u << 30));
	cells_right(v->g, row, 0, AXIS - 1, CELL_FAINT, m);
	if (height > 2)
		cells_right(v->g, row + height - 1, 0, AXIS - 1, CELL_FAINT, "0 MiB");
}

/* Whose phases stand under the curve: of the page, of the selected row, of the peak. */
static struct board_process *whose(const struct top_view *v)
{
	struct board_process *bp = v->focus;

	if (!bp && v->f->selected.mm_id)
		bp = board_find(v->b, v->f->selected.mm_id);
	return bp ? bp : board_find(v->b, v->b->peak.mm_id);
}

struct strip {
	struct top_view *v;
	const struct axis *a;
	const struct board_process *bp;
	int row;
	bool implied; /* which of them are drawn now: named ones go over implied ones */
};

/* "|transform:users----": a name where it has room. */
static void draw_phase(struct strip *s, const struct phase *ph)
{
	const struct axis *a = s->a;
	bool ascii = s->v->g->ascii;
	uint64_t end = ph->id ? ph->end_ns : s->v->end;
	char name[TOP_NAME_MAX];
	int from, to;

	if ((ph->kind >= PH_STARTUP) != s->implied || ph->depth || end < a->from ||
	    ph->start_ns > a->to)
		return;
	from = column_of(a, clamp(ph->start_ns, a->from, a->to));
	to = column_of(a, clamp(end, a->from, a->to));
	cells_fill(s->v->g, s->row, a->left + from, to - from + 1, CELL_FAINT, ascii ? L'-' : L'─');
	cells_put(s->v->g, s->row, a->left + from, 1, CELL_PLAIN, ascii ? "|" : "├");
	if (ph->id && end <= a->to)
		cells_put(s->v->g, s->row, a->left + to, 1, CELL_PLAIN, ascii ? "|" : "┤");
	if (to - from < 4)
		return;
	top_phase_name(s->v, s->bp, ph, name);
	cells_fit(s->v->g, s->row, a->left + from + 1, to - from - 1,
		  s->implied ? CELL_FAINT : CELL_PLAIN, name);
}

static void draw_strip(struct top_view *v, const struct axis *a, int row)
{
	struct strip s = {.v = v, .a = a, .bp = whose(v), .row = row};
	size_t n;

	if (!s.bp)
		return;
	for (int pass = 0; pass < 2; pass++) {
		s.implied = !pass;
		for (const struct board_phase *d = s.bp->phases; d; d = d->older)
			draw_phase(&s, &d->ph);
		n = v->now ? top_open(v, s.bp) : 0;
		for (size_t i = 0; i < n; i++)
			draw_phase(&s, &v->list->open[i]);
	}
}

/* Of the page: of a phase, a process, the whole job. TOP_NOW: none yet. */
static uint64_t peak_ns(const struct top_view *v)
{
	if (!v->b->peak.mm_id)
		return TOP_NOW;
	if (v->has_focus_phase)
		return v->focus_phase.peak.at_ns;
	return v->focus ? v->focus->p.peak.at_ns : v->b->peak.at_ns;
}

static void mark_peak(struct top_view *v, const struct axis *a, int row)
{
	uint64_t at = peak_ns(v);
	int col = at == TOP_NOW ? -1 : column_of(a, at);

	if (col >= 0)
		cells_put(v->g, row, a->left + col, 1, CELL_PEAK, v->g->ascii ? "^" : "▲");
}

static void mark_moment(struct top_view *v, const struct axis *a, int row, int height)
{
	int col = v->now ? -1 : column_of(a, v->at);

	if (col < 0)
		return;
	for (int i = 0; i < height; i++) {
		struct cell *c = cell_at(v->g, row + i, a->left + col);

		c->cursor = true;
		/* Seen without attributes, too. */
		if (c->ch[0] == L' ')
			c->ch[0] = v->g->ascii ? L'!' : L'┊';
	}
}

static struct axis axis_of(const struct top_view *v)
{
	struct axis a = {.left = v->g->cols >= 40 ? AXIS : 0};

	a.width = v->g->cols - a.left;
	choose_time(v, &a);
	return a;
}

static void note_boundary(struct top_view *v, uint64_t ns)
{
	struct top_facts *f = v->f;

	if (ns < v->at && (f->before_ns == TOP_NOW || ns > f->before_ns))
		f->before_ns = ns;
	if (ns > v->at && ns < f->after_ns)
		f->after_ns = ns;
}

void top_moments(struct top_view *v)
{
	struct axis a = axis_of(v);
	struct board_process *bp = whose(v);
	size_t n = bp && v->now ? top_open(v, bp) : 0;

	v->f->peak_ns = peak_ns(v);
	v->f->step_ns = (a.to - a.from) / (unsigned)a.width;
	v->f->before_ns = v->f->after_ns = TOP_NOW;
	for (const struct board_phase *d = bp ? bp->phases : NULL; d; d = d->older) {
		note_boundary(v, d->ph.start_ns);
		note_boundary(v, d->ph.end_ns);
	}
	for (size_t i = 0; i < n; i++)
		note_boundary(v, v->list->open[i].start_ns);
}

/* height: of the curve and, if it is more than one, the strip of phases under it. */
int top_timeline(struct top_view *v, int row, int height)
{
	int strip = height > 1, curve_rows = height - strip;
	struct axis a = axis_of(v);
	uint64_t top;

	if (height < 1 || a.width < 2)
		return 0;
	top = largest(v, &a);
	for (int col = 0; col < a.width; col++)
		draw_column(v, &a, row, curve_rows, col, top);
	draw_scale(v, &a, row, curve_rows, top);
	if (strip)
		draw_strip(v, &a, row + curve_rows);
	mark_peak(v, &a, row);
	mark_moment(v, &a, row, curve_rows);
	return height;
}

/* The curve of one row: `width` cells of the time that the phase was open. */
void top_curve(struct top_view *v, const struct board_process *bp, const struct phase *ph, int row,
	       int col, int width)
{
	uint64_t end = ph->end_ns > ph->start_ns ? ph->end_ns : ph->start_ns + 1;
	uint64_t span = end - ph->start_ns, top = ph->peak.bytes, min, max;

	for (int i = 0; i < width; i++) {
		uint64_t from = ph->start_ns +
				(uint64_t)((unsigned __int128)span * (unsigned)i / (unsigned)width);
		uint64_t to = ph->start_ns + (uint64_t)((unsigned __int128)span *
							((unsigned)i + 1) / (unsigned)width);

		if (series_range(&bp->rss, from, to > from ? to : from + 1, &min, &max))
			cells_fill(v->g, row, col + i, 1, CELL_MEMORY,
				   block(v->g->ascii, to_eighths(max, top, 1)));
	}
}
