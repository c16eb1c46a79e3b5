/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The top of the screen: what is traced, how it is doing, and the sentence that says it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "view/top/view.h"
#include "view/verdict.h"

#define BAR_MIN 20

static char *mib(char out[static 24], uint64_t bytes)
{
	return text_mib(out, bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes);
}

/* "live +83.2 s", "frozen at +80.1 s", "> x2 +12.4 s of 60.0 s" */
static void clock_text(const struct top_view *v, char *out, size_t cap)
{
	char at[32], end[32];
	bool ascii = v->g->ascii;

	top_since(v, v->at, at);
	top_since(v, v->end, end);
	if (v->b->over && v->now)
		snprintf(out, cap, "%s %s", v->f->recording ? "recording" : "ended", end + 1);
	else if (v->s->playing)
		snprintf(out, cap, "%s %s%s %s of %s", ascii ? ">" : "▶", ascii ? "x" : "×",
			 top_speed(v->s), at, end + 1);
	else if (v->f->recording || v->b->over)
		snprintf(out, cap, "%s %s of %s", ascii ? "||" : "⏸", at, end + 1);
	else if (v->now)
		snprintf(out, cap, "live %s", at);
	else
		snprintf(out, cap, "at %s, live %s", at, end);
}

static void title(struct top_view *v, int row)
{
	const struct report_run *run = &v->b->run;
	char clock[112], command[512], line[700];
	int width = v->g->cols, used;

	cells_fill(v->g, row, 0, width, CELL_HEAD, L' ');
	clock_text(v, clock, sizeof(clock));
	text_escape_as(command, sizeof(command), run->command ? run->command : "",
		       run->command ? strlen(run->command) : 0, v->text);
	snprintf(line, sizeof(line), "peakphase  %s%s%s", run->host ? run->host : "",
		 run->host ? "  " : "", command);
	used = (int)text_columns(clock);
	if (used + 24 <= width) {
		cells_right(v->g, row, 0, width, CELL_HEAD, clock);
		cells_fit(v->g, row, 0, width - used - 2, CELL_HEAD, line);
	} else {
		cells_fit(v->g, row, 0, width, CELL_HEAD, clock);
	}
}

/* What of the job can be told of a moment in the past: its RSS alone. */
static uint64_t rss_at(const struct top_view *v)
{
	if (v->focus)
		return v->now && !v->focus->gone ? v->focus->now : board_rss_at(v->focus, v->at);
	if (v->now)
		return v->b->now;
	return v->at == v->b->peak.at_ns ? v->b->peak.bytes : series_at(&v->b->rss, v->at);
}

static size_t live_at(const struct top_view *v)
{
	size_t n = 0;

	if (v->now)
		return v->b->live;
	for (const struct board_process *bp = v->b->processes; bp; bp = bp->hh.next)
		n += bp->p.start_ns <= v->at && !(bp->gone && bp->last_ns <= v->at);
	return n;
}

/* The process that is nearest to its limit; NULL: there is no limit. */
static const struct board_process *tightest(const struct top_view *v)
{
	const struct board_process *found = NULL;

	for (const struct board_process *bp = v->b->processes; bp; bp = bp->hh.next) {
		if ((v->focus && bp != v->focus) || bp->headroom == EV_NONE ||
		    bp->limit == EV_NONE || bp->gone)
			continue;
		if (!found || bp->headroom < found->headroom)
			found = bp;
	}
	return found;
}

static uint64_t losses(const struct board *b)
{
	uint64_t n = b->run.missed;

	for (int i = 0; i < PP_LOSS_MAX; i++)
		if (i != PP_LOSS_BYTES) /* no marks, and there may be billions */
			n += b->run.losses[i];
	return n;
}

static uint64_t charge_now(const struct board *b)
{
	uint64_t most = EV_NONE;

	for (const struct board_process *bp = b->processes; bp; bp = bp->hh.next)
		if (!bp->gone && bp->charge != EV_NONE && (most == EV_NONE || bp->charge > most))
			most = bp->charge;
	return most;
}

static int piece(struct top_view *v, int row, int col, enum cell_style style, const char *s)
{
	if (col)
		col += 3;
	if (col + (int)text_columns(s) > v->g->cols)
		return col ? col - 3 : cells_fit(v->g, row, 0, v->g->cols, style, s);
	return col + cells_put(v->g, row, col, v->g->cols - col, style, s);
}

static void numbers(struct top_view *v, int row)
{
	const struct board *b = v->b;
	char s[160], m[24], n[24];
	size_t live = live_at(v);
	uint64_t charge = v->now ? charge_now(b) : EV_NONE, lost = losses(b);
	int col = 0;

	snprintf(s, sizeof(s), "%zu of %zu process%s", live, b->begun, b->begun == 1 ? "" : "es");
	col = piece(v, row, col, CELL_PLAIN, s);
	snprintf(s, sizeof(s), "%s %s MiB", b->begun == 1 ? "RSS" : "RSS sum", mib(m, rss_at(v)));
	col = piece(v, row, col, CELL_PLAIN, s);
	if (charge != EV_NONE || b->charge_peak != EV_NONE) {
		if (charge == EV_NONE)
			snprintf(s, sizeof(s), "charge peak %s MiB", mib(n, b->charge_peak));
		else
			snprintf(s, sizeof(s), "charge %s (peak %s) MiB", mib(m, charge),
				 mib(n, b->charge_peak));
		col = piece(v, row, col, CELL_PLAIN, s);
	}
	snprintf(s, sizeof(s), "%" PRIu64 " phase%s", b->nphases, b->nphases == 1 ? "" : "s");
	col = piece(v, row, col, CELL_PLAIN, s);
	if (lost)
		snprintf(s, sizeof(s), "LOST %s (n)", text_count(m, lost));
	else
		snprintf(s, sizeof(s), "nothing lost");
	piece(v, row, col, lost ? CELL_BAD : CELL_FAINT, s);
}

struct bar {
	uint64_t now, peak, whole;
	const char *what, *of; /* the whole is */
};

/* The nearest that any process came to its limit. */
static bool ended_bar(const struct top_view *v, struct bar *bar)
{
	const struct process *p = NULL;

	for (const struct board_process *bp = v->b->processes; bp; bp = bp->hh.next)
		if ((!v->focus || bp == v->focus) && bp->p.headroom_min <= bp->p.limit &&
		    bp->p.limit != EV_NONE && (!p || bp->p.headroom_min < p->headroom_min))
			p = &bp->p;
	if (p)
		*bar = (struct bar){0, p->limit - p->headroom_min, p->limit, "peak ", "limit"};
	return p;
}

static bool choose_bar(const struct top_view *v, struct bar *bar)
{
	const struct board_process *p = v->now ? tightest(v) : NULL;

	if (v->now && v->b->over)
		return ended_bar(v, bar);
	if (p) {
		uint64_t min = p->p.headroom_min < p->headroom ? p->p.headroom_min : p->headroom;

		*bar = (struct bar){p->limit - p->headroom, p->limit - min, p->limit, "", "limit"};
		return p->headroom <= p->limit;
	}
	*bar = (struct bar){rss_at(v), v->focus ? v->focus->p.peak.bytes : v->b->peak.bytes,
			    v->focus ? v->focus->p.peak.bytes : v->b->peak.bytes, "", "peak"};
	return bar->whole != 0;
}

static int scaled(uint64_t n, uint64_t whole, int width)
{
	if (n >= whole)
		return width;
	return (int)((unsigned __int128)n * (unsigned)width / whole);
}

/* "charge [#######|    ] 512.3 of 1024.0 MiB limit" */
static int draw_bar(struct top_view *v, int row)
{
	bool ascii = v->g->ascii;
	char text[96], now[24], whole[24];
	struct bar bar;
	int width, used, peak;

	if (!choose_bar(v, &bar))
		return 0;
	snprintf(text, sizeof(text), " %s%s of %s MiB %s", bar.what,
		 mib(now, *bar.what ? bar.peak : bar.now), mib(whole, bar.whole), bar.of);
	width = v->g->cols - (int)strlen(text) - 2;
	if (width < BAR_MIN) {
		cells_fit(v->g, row, 0, v->g->cols, CELL_PLAIN, text + 1);
		return 1;
	}
	used = scaled(bar.now, bar.whole, width);
	peak = scaled(bar.peak, bar.whole, width - 1);
	cells_put(v->g, row, 0, 1, CELL_FAINT, "[");
	cells_fill(v->g, row, 1, used, CELL_MEMORY, ascii ? L'#' : L'█');
	cells_fill(v->g, row, 1 + used, width - used, CELL_FAINT, ascii ? L'.' : L'░');
	cells_fill(v->g, row, 1 + peak, 1, CELL_PEAK, ascii ? L'|' : L'┃');
	cells_put(v->g, row, 1 + width, 1, CELL_FAINT, "]");
	cells_put(v->g, row, 2 + width, v->g->cols, CELL_PLAIN, text);
	return 1;
}

/* "transform:users, 12 s ago" */
static void peak_text(struct top_view *v, char *out, size_t cap)
{
	const struct board_process *bp = v->focus ? v->focus : board_find(v->b, v->b->peak.mm_id);
	uint64_t at = v->focus ? v->focus->p.peak.at_ns : v->b->peak.at_ns;
	char name[TOP_NAME_MAX], when[32];
	struct phase owner;

	if (v->now && !v->b->over)
		text_duration(when, v->at > at ? v->at - at : 0);
	else
		top_since(v, at, when);
	if (bp && top_owner(v, bp, at, v->focus ? v->focus->p.peak.win : 0, &owner)) {
		top_phase_name(v, bp, &owner, name);
		/* What follows it has to stay in sight. */
		if (strlen(name) > 60)
			strcpy(name + view_whole_chars(name, 57), v->g->ascii ? "..." : "…");
		snprintf(out, cap, "%s, ", name);
	} else {
		out[0] = '\0';
	}
	snprintf(out + strlen(out), cap - strlen(out), v->now && !v->b->over ? "%s ago" : "at %s",
		 when);
}

static void headroom_text(const struct top_view *v, char *out, size_t cap)
{
	const struct board_process *p = v->now ? tightest(v) : NULL;
	char m[24];

	out[0] = '\0';
	if (p)
		snprintf(out, cap, ", headroom %s MiB", mib(m, p->headroom));
}

void top_sentence(struct top_view *v, int row)
{
	uint64_t peak = v->focus ? v->focus->p.peak.bytes : v->b->peak.bytes;
	uint64_t now = rss_at(v);
	char line[TOP_NAME_MAX + 400], which[TOP_NAME_MAX + 64], room[48], ended[96], m[24], n[24],
	    at[32];
	bool over = v->now && (v->b->over || (v->focus && v->focus->ended));
	enum cell_style style = CELL_STRONG;

	if (!v->b->begun) {
		top_ended(v, ended, sizeof(ended));
		cells_fit(v->g, row, 0, v->g->cols, CELL_STRONG,
			  v->b->over ? ended : "waiting for the first process");
		return;
	}
	peak_text(v, which, sizeof(which));
	headroom_text(v, room, sizeof(room));
	top_ended(v, ended, sizeof(ended));
	if (v->focus && v->focus->ended)
		view_exit(ended, &v->focus->p);
	top_since(v, v->at, at);
	if (over) {
		snprintf(line, sizeof(line), "%s at %s; peak %s MiB (%s)", ended, at, mib(n, peak),
			 which);
		if (strncmp(ended, "exit", 4) != 0 || strcmp(ended, "exit status 0") == 0)
			style = strncmp(ended, "killed", 6) ? CELL_STRONG : CELL_BAD;
	} else {
		snprintf(line, sizeof(line), "%s %s MiB, %d %% of the peak %s MiB (%s)%s",
			 v->now ? "now" : at, mib(m, now), scaled(now, peak ? peak : 1, 100),
			 mib(n, peak), which, room);
	}
	cells_fit(v->g, row, 0, v->g->cols, style, line);
}

/* The last one that is worth a line; it stays. */
static int draw_verdict(struct top_view *v, int row)
{
	char text[VERDICT_TEXT_MAX], line[VERDICT_TEXT_MAX + 48], at[32];
	size_t n = v->b->nverdicts;

	while (n &&
	       (v->b->verdicts[n - 1].at_ns > v->at || !verdict_is_news(&v->b->verdicts[n - 1])))
		n--;
	if (!n)
		return 0;
	top_since(v, v->b->verdicts[n - 1].at_ns, at);
	verdict_what(text, &v->b->verdicts[n - 1], v->text);
	snprintf(line, sizeof(line), "%s  %s (n)", at, text);
	cells_fit(v->g, row, 0, v->g->cols, CELL_BAD, line);
	return 1;
}

/* From what matters most: with less room the lines above it go. */
int top_head(struct top_view *v, int row, int room)
{
	int used = 0;

	if (room >= 2)
		title(v, row + used++);
	if (room >= 4)
		numbers(v, row + used++);
	if (room >= 3)
		used += draw_bar(v, row + used);
	if (room >= 1)
		top_sentence(v, row + used++);
	if (room >= 3)
		used += draw_verdict(v, row + used);
	return used;
}
