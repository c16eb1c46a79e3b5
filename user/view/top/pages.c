/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The page of one phase, of what happened, and of help; and the line of keys. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "view/top/view.h"
#include "view/verdict_more.h"

#define FIELD_WIDTH 38

static void value_text(const struct top_view *v, const struct column *c, const struct row *r,
		       char out[static 64])
{
	struct value value = c->get(r);
	char s[32];

	switch (value.kind) {
	case VALUE_BOOL:
		strcpy(out, value.b ? "yes" : "no");
		return;
	case VALUE_TEXT:
		snprintf(out, 64, "%s", value.text);
		return;
	case VALUE_U64:
		if (c->unit == UNIT_INSTANT) {
			top_since(v, value.u, out);
			return;
		}
		break;
	case VALUE_NONE:
	case VALUE_I64:
	case VALUE_LABEL:
	case VALUE_HEX:
	case VALUE_COMMAND:
	case VALUE_CONTAINER:
	case VALUE_MEMBERS:
	case VALUE_WHERE:
		break;
	}
	column_text(s, c, r);
	snprintf(out, 64, "%s%s", s, c->unit == UNIT_BYTES && strcmp(s, "-") != 0 ? " MiB" : "");
}

static bool is_field(const struct column *c, const struct row *r)
{
	enum value_kind kind = c->get(r).kind;

	return kind != VALUE_LABEL && kind != VALUE_HEX && kind != VALUE_MEMBERS &&
	       kind != VALUE_WHERE && kind != VALUE_COMMAND && kind != VALUE_CONTAINER &&
	       (kind != VALUE_NONE || !(c->flags & COLUMN_OPTIONAL));
}

/* Everything that the table of columns has of it, in as many columns as fit. */
static void fields(struct top_view *v, const struct column *columns, size_t n, const struct row *r,
		   int row, int room)
{
	int across = v->g->cols / FIELD_WIDTH > 0 ? v->g->cols / FIELD_WIDTH : 1, at = 0;

	for (size_t i = 0; i < n && at < across * room; i++) {
		const struct column *c = &columns[i];
		int y = row + at % room, x = at / room * FIELD_WIDTH;
		char value[64];

		if (!is_field(c, r))
			continue;
		value_text(v, c, r, value);
		cells_put(v->g, y, x, 20, CELL_FAINT, c->title ? c->title : c->json);
		cells_right(v->g, y, x + 20, FIELD_WIDTH - 22, CELL_PLAIN, value);
		at++;
	}
}

void top_phase_page(struct top_view *v, int row, int room)
{
	char name[TOP_NAME_MAX];
	struct row r = {.run = &v->b->run, .p = &v->focus->p, .ph = &v->focus_phase};

	if (room < 1)
		return;
	if (!v->has_focus_phase) {
		cells_fit(v->g, row, 0, v->g->cols, CELL_FAINT,
			  "this phase is not open at this moment, or not kept any more");
		return;
	}
	top_phase_name(v, v->focus, &v->focus_phase, name);
	cells_fill(v->g, row, 0, v->g->cols, CELL_HEAD, L' ');
	cells_fit(v->g, row, 0, v->g->cols, CELL_HEAD, name);
	if (room > 1)
		fields(v, phase_columns, phase_ncolumns, &r, row + 1, room - 1);
}

struct notes {
	struct top_view *v;
	int row, end;
};

static void note(struct notes *n, enum cell_style style, const char *text)
{
	if (n->row < n->end)
		cells_fit(n->v->g, n->row++, 0, n->v->g->cols, style, text);
}

static void note_losses(struct notes *n)
{
	const struct report_run *run = &n->v->b->run;
	char line[200];

	for (int i = 0; i < PP_LOSS_MAX; i++) {
		if (!run->losses[i])
			continue;
		snprintf(line, sizeof(line), "lost: %" PRIu64 " %s", run->losses[i],
			 loss_names[i].text);
		note(n, CELL_BAD, line);
	}
	if (run->missed) {
		snprintf(line, sizeof(line), "%" PRIu64 " events were passed over by the kernel",
			 run->missed);
		note(n, CELL_BAD, line);
	}
	if (n->v->b->dropped_processes) {
		snprintf(line, sizeof(line),
			 "%" PRIu64 " ended processes are not shown any more (the smallest peaks)",
			 n->v->b->dropped_processes);
		note(n, CELL_FAINT, line);
	}
}

static void note_more(void *arg, const char *text)
{
	char line[VERDICT_MORE_MAX + 8];

	snprintf(line, sizeof(line), "    %s", text);
	note(arg, CELL_PLAIN, line);
}

/* "+12.40 s  OOM kill: pid 42 (etl) in [join]", why, what it held, and what was around it. */
static void note_verdict(struct notes *n, const struct verdict *v, const struct around *a)
{
	const struct verdict_who who = around_who(a, v);
	char text[VERDICT_TEXT_MAX], line[VERDICT_TEXT_MAX + 40], at[32];

	top_since(n->v, v->at_ns, at);
	verdict_what(text, v, &who, n->v->text);
	snprintf(line, sizeof(line), "%s  %s", at, text);
	note(n, CELL_BAD, line);
	if (verdict_why(text, v, &who, n->v->text))
		note_more(n, text);
	if (verdict_memory(text, v))
		note_more(n, text);
	verdict_more(a, v, n->v->text, note_more, n);
}

void top_notes_page(struct top_view *v, int row, int room)
{
	struct notes n = {.v = v, .row = row + 1, .end = row + room};
	const struct report_source src = board_source(v->b);
	int first = n.row;
	struct around a;

	if (room < 1)
		return;
	around_load(&a, &src);
	cells_fill(v->g, row, 0, v->g->cols, CELL_HEAD, L' ');
	cells_put(v->g, row, 0, v->g->cols, CELL_HEAD, "notes: kills, crossed limits, losses");
	note_losses(&n);
	/* The last first: there may be more than fit. */
	for (size_t i = v->b->nverdicts; i-- && n.row < n.end;)
		if (v->b->verdicts[i].at_ns <= v->at)
			note_verdict(&n, &v->b->verdicts[i], &a);
	around_free(&a);
	if (n.row == first)
		note(&n, CELL_FAINT, "nothing was lost, nothing was killed, no limit was crossed");
}

void top_help_page(struct top_view *v, int row, int room)
{
	static const char *const lines[] = {
	    "Up Down PgUp PgDn Home End   move in the list",
	    "Enter  into a process or a phase     Esc  back",
	    "/  filter    s  sort by the next column    r  reverse",
	    "t  tree or list    f  finished phases    n  notes: kills, crossed limits, losses",
	    "Space  freeze (tracing goes on); of a recording: play, pause",
	    "<  >   move in time     [  ]  to the next boundary of phases",
	    "p  to the moment of the peak     g  to the begin     G  to the end, to now",
	    "+  -   zoom of time     {  }  speed of a recording",
	    "w  write a text snapshot     c  colours     q  quit",
	    "",
	    "The curve: full up to the smallest RSS of its column, light up to the largest.",
	    "now, peak, grew, kept, spike in MiB (2^20 bytes); ~ where a number is not exact.",
	    "RSS sum: of all processes; pages that they share count in each. The charge of",
	    "their cgroup counts them once. docs/top.md has it all.",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]) && (int)i < room; i++)
		cells_fit(v->g, row + (int)i, 1, v->g->cols - 1, CELL_PLAIN, lines[i]);
}

static int key(struct top_view *v, int row, int col, const char *k, const char *what)
{
	int need = (int)(text_columns(k) + text_columns(what)) + 3;

	if (col + need > v->g->cols + 2)
		return v->g->cols;
	col += cells_put(v->g, row, col, v->g->cols - col, CELL_KEY, k);
	col += 1 + cells_put(v->g, row, col + 1, v->g->cols - col - 1, CELL_PLAIN, what);
	return col + 2;
}

void top_footer(struct top_view *v, int row)
{
	enum top_page page = top_place(v->s)->page;
	char line[TOP_FILTER_MAX * TEXT_ESCAPED_MAX + 32],
	    filter[TOP_FILTER_MAX * TEXT_ESCAPED_MAX + 1];
	int col = 0;

	text_escape_as(filter, sizeof(filter), v->s->filter, strlen(v->s->filter), v->text);
	if (v->s->typing) {
		snprintf(line, sizeof(line), "filter: %s%s", filter, v->g->ascii ? "_" : "▏");
		cells_fit(v->g, row, 0, v->g->cols, CELL_STRONG, line);
		return;
	}
	col = key(v, row, col, "q", "quit");
	if (page == TOP_HELP) {
		key(v, row, col, v->g->cols < 40 ? "any" : "any other key", "back");
		return;
	}
	col = key(v, row, col, "?", "help");
	if (v->s->message[0]) {
		cells_fit(v->g, row, col, v->g->cols - col, CELL_STRONG, v->s->message);
		return;
	}
	if (filter[0]) {
		snprintf(line, sizeof(line), "filter %s", filter);
		col = key(v, row, col, "/", line);
	}
	if (v->s->depth)
		col = key(v, row, col, "Esc", "back");
	col = key(v, row, col, v->g->ascii ? "Enter" : "⏎", "into");
	col = key(v, row, col, "Space",
		  v->f->recording ? (v->s->playing ? "pause" : "play")
		  : v->now	  ? "freeze"
				  : "go on");
	col = key(v, row, col, "p", "peak");
	col = key(v, row, col, "f", "finished");
	col = key(v, row, col, "/", "filter");
	col = key(v, row, col, "s", "sort");
	col = key(v, row, col, "<>", "time");
	col = key(v, row, col, "+-", "zoom");
	key(v, row, col, "w", "write");
}
