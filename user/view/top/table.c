/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rows of the list, in the columns of view/columns.h. */
#include <stdio.h>
#include <string.h>

#include "view/top/view.h"

#define NAME_MIN 14  /* columns of a name, before numbers are left out; */
#define NAME_WIDE 24 /* on a terminal of some width */
#define NAME_TOLD 32 /* with these a process can be told: faults and spikes go for them */
#define NAME_GOOD 40 /* with these there is room for curves */
#define CURVE 14
#define NOTE_WIDE 8 /* " ◀ peak" */
#define NOTE 2

struct shape {
	const struct column *column[TOP_COLUMNS_MAX];
	size_t n;
	int name, curve, note;
};

static int numbers_width(const struct shape *s)
{
	int width = 0;

	for (size_t i = 0; i < s->n; i++)
		width += (int)s->column[i]->width;
	return width;
}

static void remove_column(struct shape *s, size_t i)
{
	memmove(&s->column[i], &s->column[i + 1], (s->n - i - 1) * sizeof(s->column[0]));
	s->n--;
}

/* Faults, then the spike, which is what the peak has over the rest. SIZE_MAX: they are gone. */
static size_t least_extra(const struct shape *s)
{
	for (size_t i = s->n; i--;)
		if (s->column[i]->unit == UNIT_COUNT || s->column[i]->flags & COLUMN_EXTRA)
			return i;
	return SIZE_MAX;
}

/* Which column goes first where there is no room: from the right; the peak goes last. */
static size_t least(const struct shape *s)
{
	if (least_extra(s) != SIZE_MAX)
		return least_extra(s);
	for (size_t i = s->n; i--;)
		if (s->column[i]->unit == UNIT_BYTES &&
		    !(s->column[i]->flags & (COLUMN_ANSWER | COLUMN_LIVE)))
			return i;
	for (size_t i = s->n; i--;)
		if (s->column[i]->unit == UNIT_DURATION)
			return i;
	for (size_t i = s->n; i--;)
		if (!(s->column[i]->flags & COLUMN_ANSWER))
			return i;
	return s->n - 1;
}

static void choose_shape(const struct top_view *v, struct shape *s)
{
	int cols = v->g->cols, min = cols >= 60 ? NAME_WIDE : NAME_MIN;

	s->n = top_columns(s->column);
	s->note = cols >= 100 ? NOTE_WIDE : cols >= 30 ? NOTE : 0;
	s->curve = 0;
	while (s->n && cols - s->note - numbers_width(s) < min)
		remove_column(s, least(s));
	while (min == NAME_WIDE && least_extra(s) != SIZE_MAX &&
	       cols - s->note - numbers_width(s) < NAME_TOLD)
		remove_column(s, least_extra(s));
	s->name = cols - s->note - numbers_width(s);
	if (s->name >= NAME_GOOD + CURVE) {
		s->curve = CURVE;
		s->name -= CURVE;
	}
}

static bool is_sorted_by(const struct top_view *v, const struct column *c)
{
	const struct column *all[TOP_COLUMNS_MAX];
	size_t n = top_columns(all);

	return v->s->sort && v->s->sort <= n && all[v->s->sort - 1] == c;
}

static void titles(struct top_view *v, const struct shape *s, int row)
{
	enum top_page page = top_place(v->s)->page;
	int col = s->name;

	cells_fill(v->g, row, 0, v->g->cols, CELL_HEAD, L' ');
	cells_put(v->g, row, 0, s->name, CELL_HEAD,
		  page == TOP_TREE   ? (v->s->flat ? "processes, phases" : "processes, open phases")
		  : page == TOP_DONE ? "finished phases"
		  : page == TOP_THREADS ? "threads of the process"
					: "phases of the process");
	for (size_t i = 0; i < s->n; i++) {
		const struct column *c = s->column[i];
		char title[32];

		snprintf(title, sizeof(title), "%s%s", c->title,
			 !is_sorted_by(v, c) ? ""
			 : v->g->ascii	     ? (v->s->reverse ? "^" : "v")
			 : v->s->reverse     ? "▴"
					     : "▾");
		cells_right(v->g, row, col, (int)c->width, CELL_HEAD, title);
		col += (int)c->width;
	}
	if (s->curve)
		cells_put(v->g, row, col + 2, s->curve - 2, CELL_HEAD, "RSS");
}

static void number(struct top_view *v, const struct column *c, const struct row *r, bool known,
		   bool marked, int row, int col, enum cell_style style)
{
	char text[32], *s = text;

	if (!known) {
		cells_right(v->g, row, col, (int)c->width, CELL_FAINT, "-");
		return;
	}
	if (marked)
		*s++ = '~';
	column_text(s, c, r);
	cells_right(v->g, row, col + 1, (int)c->width - 1, style, text);
}

static bool is_owner(struct top_view *v, const struct top_row *row, const struct phase *ph)
{
	const struct process *p = &row->bp->p;
	struct phase owner;

	if (row->start_win >= TOP_SMALL || !p->peak.win || ph->start_win >= p->peak.win)
		return false;
	if (row->done && p->peak.win > ph->end_win)
		return false;
	return top_owner(v, row->bp, p->peak.at_ns, p->peak.win, &owner) &&
	       owner.start_win == ph->start_win && owner.kind == ph->kind && owner.id == ph->id;
}

static const char *note_of(struct top_view *v, const struct top_row *row, const struct phase *ph,
			   int room)
{
	bool ascii = v->g->ascii;

	if (!room || !is_owner(v, row, ph))
		return NULL;
	if (room < NOTE_WIDE)
		return ascii ? " <" : " ◀";
	return ascii ? " <- peak" : " ◀ peak";
}

static bool is_known(const struct top_row *row, const struct column *c, bool past)
{
	if (past && c->flags & COLUMN_TOTAL)
		return false;
	if (row->thread) /* its counters, and nothing else */
		return c->flags & COLUMN_TOTAL && !(c->flags & COLUMN_LIVE);
	return row->start_win != TOP_NOW || c->unit != UNIT_COUNT;
}

/* Many in one, and no numbers of theirs. */
static bool draw_rest(struct top_view *v, const struct top_row *row, int at)
{
	char text[200], peak[24];
	uint64_t most = v->list->small_peak;

	if (row->start_win == TOP_SMALL)
		snprintf(
		    text, sizeof(text),
		    "%zu processes of less than a second without marks: largest peak %s MiB (t: all)",
		    v->list->small, text_mib(peak, most > INT64_MAX ? INT64_MAX : (int64_t)most));
	else if (row->start_win == TOP_THREAD && !row->thread)
		top_threads_rest(v, row->bp, text, sizeof(text));
	else
		return false;
	cells_fit(v->g, at, 0, v->g->cols, CELL_FAINT, text);
	return true;
}

static void draw_row(struct top_view *v, const struct shape *s, const struct top_row *row, int at)
{
	char name[TOP_NAME_MAX];
	bool process = row->start_win == TOP_NOW;
	bool past = !v->now && !row->done;
	enum cell_style style = process ? top_process_style(v, row->bp) : CELL_PLAIN;
	struct phase ph;
	struct row r = {.run = &v->b->run,
			.p = &row->bp->p,
			.ph = &ph,
			.gone = process && top_is_gone(v, row->bp)};
	int indent = (int)row->depth * 2, col = s->name;
	const char *note;

	if (draw_rest(v, row, at) || !top_row_phase(v, row, &ph))
		return;
	if (row->thread)
		top_thread_name(v, row, name, sizeof(name));
	else if (!process)
		top_phase_name(v, row->bp, &ph, name);
	note = note_of(v, row, &ph, s->note);
	if (indent > s->name / 3)
		indent = s->name / 3;
	if (process)
		top_draw_process(v, row->bp, at, indent, s->name - indent - 1, style);
	else
		cells_fit(v->g, at, indent, s->name - indent - 1, note ? CELL_PEAK : style, name);
	for (size_t i = 0; i < s->n; i++) {
		const struct column *c = s->column[i];

		number(v, c, &r, is_known(row, c, past),
		       row->thread ? c->flags & COLUMN_TOTAL && !ph.exact : column_marked(c, &r),
		       at, col, note ? CELL_PEAK : style);
		col += (int)c->width;
	}
	if (s->curve && !row->thread)
		top_curve(v, row->bp, &ph, at, col + 2, s->curve - 2);
	if (note)
		cells_put(v->g, at, col + s->curve, s->note, CELL_PEAK, note);
}

void top_table(struct top_view *v, int row, int room)
{
	struct top_place *place = top_place(v->s);
	struct top_list *l = v->list;
	struct shape shape;
	int rows = room;

	choose_shape(v, &shape);
	if (room >= 2) {
		titles(v, &shape, row++);
		rows--;
	}
	v->f->page_rows = rows > 0 ? (size_t)rows : 0;
	top_state_rows(place, l->items, l->n, v->f->page_rows);
	v->f->rows = l->n;
	v->f->selected = l->n ? place->selected : (struct top_item){0};
	for (int i = 0; i < rows && place->first + (size_t)i < l->n; i++) {
		size_t n = place->first + (size_t)i;

		draw_row(v, &shape, &l->rows[n], row + i);
		if (n == place->row)
			cells_select(v->g, row + i, 0, v->g->cols);
	}
	if (!l->n && rows > 0)
		cells_fit(v->g, row, 2, v->g->cols - 2, CELL_FAINT,
			  v->s->filter[0] ? "nothing matches the filter (Esc)" : "nothing yet");
}
