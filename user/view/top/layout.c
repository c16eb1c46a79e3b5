/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "view/top/layout.h"

#include <string.h>

#include "view/top/view.h"

#define PAGE_ROOM 4 /* with less the list has it all */

static void take_numbers(void *ctx, const struct process *p)
{
	struct board_process *bp = board_find(ctx, p->mm_id);

	if (bp && !bp->ended)
		bp->p = *p;
}

static bool same_phase(const struct phase *ph, const struct top_item *item)
{
	return ph->start_win == item->start_win && (!item->id || !ph->id || item->id == ph->id);
}

/* Of a finished one what it was, whatever moment is shown; else as it stands. */
static void find_phase(struct top_view *v, const struct top_item *item)
{
	size_t n;

	for (const struct board_phase *d = v->focus->phases; d; d = d->older)
		if (same_phase(&d->ph, item)) {
			v->focus_phase = d->ph;
			v->has_focus_phase = true;
			return;
		}
	n = top_open(v, v->focus);
	for (size_t i = 0; i < n; i++)
		if (same_phase(&v->list->open[i], item)) {
			v->focus_phase = v->list->open[i];
			v->has_focus_phase = true;
			return;
		}
}

static void find_focus(struct top_view *v)
{
	struct top_place *place = top_place(v->s);

	if (place->page != TOP_PROCESS && place->page != TOP_PHASE && place->page != TOP_THREADS)
		return;
	v->focus = board_find(v->b, place->of.mm_id);
	if (!v->focus) /* dropped: so many have ended since */
		v->s->depth = 0;
	else if (place->page == TOP_PHASE)
		find_phase(v, &place->of);
}

/* Rows of the curve with its strip: a third of the screen, if there is room for a list. */
static int timeline_height(int rows)
{
	if (rows < 12)
		return 0;
	if (rows < 18)
		return 3;
	return rows / 4 + 1 < 20 ? rows / 4 + 1 : 20;
}

static void draw_pages(struct top_view *v, int row, int room)
{
	switch (top_place(v->s)->page) {
	case TOP_PROCESS:
	case TOP_THREADS:
		if (room >= PAGE_ROOM) {
			top_process_line(v, row++);
			room--;
		}
		top_table(v, row, room);
		break;
	case TOP_TREE:
	case TOP_DONE:
		top_table(v, row, room);
		break;
	case TOP_PHASE:
		top_phase_page(v, row, room);
		break;
	case TOP_NOTES:
		top_notes_page(v, row, room);
		break;
	case TOP_HELP:
		top_help_page(v, row, room);
		break;
	}
}

static void draw(struct top_view *v)
{
	int rows = v->g->rows, footer = rows >= 3, row, height;
	int head = rows >= 14 ? 4 : rows >= 8 ? 3 : rows >= 6 ? 2 : 1;

	v->f->rows = v->f->page_rows = 0;
	v->f->selected = (struct top_item){0};
	row = top_head(v, 0, head);
	height = top_place(v->s)->page == TOP_HELP ? 0 : timeline_height(rows);
	/* The list first: the strip is of the process that is selected there. */
	draw_pages(v, row + height, rows - row - height - footer);
	top_moments(v);
	if (height)
		top_timeline(v, row, height);
	if (footer)
		top_footer(v, rows - 1);
}

int top_layout(struct board *b, struct top_state *s, struct top_facts *f, struct top_list *l,
	       struct cells *g, uint64_t now_ns)
{
	struct top_view v = {.b = b, .s = s, .f = f, .list = l, .g = g};
	const struct column *columns[TOP_COLUMNS_MAX];
	int err;

	v.text = g->ascii ? TEXT_ASCII : 0;
	v.end = b->over || now_ns < b->last_ns ? b->last_ns : now_ns;
	v.now = s->at_ns == TOP_NOW || s->at_ns >= v.end;
	v.at = v.now ? v.end : s->at_ns;
	if (b->model)
		model_each_process(b->model, take_numbers, b);
	f->first_ns = b->first_ns;
	f->last_ns = v.end;
	f->ncolumns = top_columns(columns);
	l->open_of = NULL;
	find_focus(&v);
	err = top_list_build(&v);
	if (err)
		return err;
	draw(&v);
	return 0;
}
