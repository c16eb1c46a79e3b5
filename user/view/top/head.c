/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The top of the screen: what is traced, how it is doing, and the sentence that says it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "view/top/view.h"
#include "view/verdict.h"

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

static size_t live_at(const struct top_view *v)
{
	size_t n = 0;

	if (v->now)
		return v->b->live;
	for (const struct board_process *bp = v->b->processes; bp; bp = bp->hh.next)
		n += bp->p.start_ns <= v->at && !(bp->gone && bp->last_ns <= v->at);
	return n;
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

	/* Others go where there is no room for all. */
	if (lost) {
		snprintf(s, sizeof(s), "LOST %s (n)", text_count(m, lost));
		col = piece(v, row, col, CELL_BAD, s);
	}
	snprintf(s, sizeof(s), "%zu of %zu process%s", live, b->begun, b->begun == 1 ? "" : "es");
	col = piece(v, row, col, CELL_PLAIN, s);
	if (top_is_sum(v))
		snprintf(s, sizeof(s), "RSS sum %s (peak %s) MiB", top_mib(m, top_rss_at(v)),
			 top_mib(n, b->peak.bytes));
	else
		snprintf(s, sizeof(s), "RSS %s MiB", top_mib(m, top_rss_at(v)));
	col = piece(v, row, col, CELL_PLAIN, s);
	if (charge != EV_NONE || b->charge_peak != EV_NONE) {
		if (charge == EV_NONE)
			snprintf(s, sizeof(s), "charge peak %s MiB", top_mib(n, b->charge_peak));
		else
			snprintf(s, sizeof(s), "charge %s (peak %s) MiB", top_mib(m, charge),
				 top_mib(n, b->charge_peak));
		col = piece(v, row, col, CELL_PLAIN, s);
	}
	snprintf(s, sizeof(s), "%" PRIu64 " phase%s", b->nphases, b->nphases == 1 ? "" : "s");
	col = piece(v, row, col, CELL_PLAIN, s);
	if (!lost)
		piece(v, row, col, CELL_FAINT, "nothing lost");
}

/* A peak: of the process on the page, of the largest one, of the sum. */
struct of_peak {
	const struct board_process *bp; /* whose phase was open then */
	uint64_t bytes, at_ns, win;	/* win 0: not known */
	bool pid;			/* it is one of several */
};

static struct of_peak peak_of(const struct board_process *bp, bool pid)
{
	const struct peak *peak = &bp->p.peak;

	return (struct of_peak){bp, peak->bytes, peak->at_ns, peak->win, pid};
}

/*
 * When all is over what counts is who rose highest, as in the report; while it goes on, what all
 * of them hold: pages that they share are in that sum more than once.
 */
static struct of_peak choose_peak(const struct top_view *v, bool over)
{
	const struct board_process *largest = over && top_is_sum(v) ? board_largest(v->b) : NULL;
	const struct board_peak *sum = &v->b->peak;
	const struct board_process *bp = board_find(v->b, sum->mm_id);

	if (v->focus)
		return peak_of(v->focus, false);
	if (largest)
		return peak_of(largest, true);
	return (struct of_peak){bp, sum->bytes, sum->at_ns, 0, bp && top_is_sum(v)};
}

/* "transform:users, 12 s ago" */
static void peak_text(struct top_view *v, const struct of_peak *of, char *out, size_t cap)
{
	bool ago = v->now && !v->b->over;
	char name[TOP_NAME_MAX], when[32];
	struct phase owner;
	size_t n = 0;

	if (ago)
		text_duration(when, v->at > of->at_ns ? v->at - of->at_ns : 0);
	else
		top_since(v, of->at_ns, when);
	out[0] = '\0';
	if (of->bp && top_owner(v, of->bp, of->at_ns, of->win, &owner)) {
		top_phase_name(v, of->bp, &owner, name);
		/* What follows it has to stay in sight. */
		if (strlen(name) > 60)
			strcpy(name + view_whole_chars(name, 57), v->g->ascii ? "..." : "…");
		n = (size_t)snprintf(out, cap, "%s, ", name);
	}
	if (of->pid)
		n += (size_t)snprintf(out + n, cap - n, "pid %" PRIu32 ", ", of->bp->p.pid);
	snprintf(out + n, cap - n, ago ? "%s ago" : "at %s", when);
}

static void headroom_text(const struct top_view *v, char *out, size_t cap)
{
	const struct board_process *p = v->now ? top_tightest(v) : NULL;
	char m[24];

	out[0] = '\0';
	if (p)
		snprintf(out, cap, ", headroom %s MiB", top_mib(m, p->headroom));
}

/* "exit status 3 at +8.31 s; peak 512.3 MiB (join, at +4.10 s)" */
static enum cell_style ended_sentence(struct top_view *v, const struct of_peak *of,
				      const char *which, char *out, size_t cap)
{
	const struct board_process *focus = v->focus && v->focus->ended ? v->focus : NULL;
	char ended[96], at[32], m[24];

	top_ended(v, ended, sizeof(ended));
	if (focus)
		view_exit(ended, &focus->p);
	top_since(v, focus && focus->p.exit != PX_RUNNING ? focus->last_ns : v->at, at);
	snprintf(out, cap, "%s at %s; peak %s MiB (%s)", ended, at, top_mib(m, of->bytes), which);
	return strncmp(ended, "killed", 6) ? CELL_STRONG : CELL_BAD;
}

static void sentence(struct top_view *v, int row)
{
	bool over = v->now && (v->b->over || (v->focus && v->focus->ended));
	struct of_peak of = choose_peak(v, over);
	uint64_t now = top_rss_at(v);
	char line[TOP_NAME_MAX + 400], which[TOP_NAME_MAX + 64], room[48], m[24], n[24], at[33];
	enum cell_style style = CELL_STRONG;

	if (!v->b->begun) {
		top_ended(v, line, sizeof(line));
		cells_fit(v->g, row, 0, v->g->cols, CELL_STRONG,
			  v->b->over ? line : "waiting for the first process");
		return;
	}
	peak_text(v, &of, which, sizeof(which));
	headroom_text(v, room, sizeof(room));
	at[0] = '\0';
	if (!v->now) {
		top_since(v, v->at, at);
		strcat(at, " ");
	}
	if (over)
		style = ended_sentence(v, &of, which, line, sizeof(line));
	else
		snprintf(line, sizeof(line), "%s%s%s MiB, %d %% of %s peak %s MiB (%s)%s", at,
			 top_is_sum(v) ? "RSS sum "
			 : v->now      ? "now "
				       : "",
			 top_mib(m, now), top_scaled(now, of.bytes ? of.bytes : 1, 100),
			 top_is_sum(v) ? "its" : "the", top_mib(n, of.bytes), which, room);
	cells_fit(v->g, row, 0, v->g->cols, style, line);
}

/* The last one that is worth a line; it stays. */
static int draw_verdict(struct top_view *v, int row)
{
	char text[VERDICT_TEXT_MAX], line[VERDICT_TEXT_MAX + 48], at[32];
	size_t n = v->b->nverdicts;
	const struct verdict *last;
	struct verdict_who who;

	while (n &&
	       (v->b->verdicts[n - 1].at_ns > v->at || !verdict_is_news(&v->b->verdicts[n - 1])))
		n--;
	if (!n)
		return 0;
	last = &v->b->verdicts[n - 1];
	who = board_who(v->b, last);
	top_since(v, last->at_ns, at);
	verdict_what(text, last, &who, v->text);
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
		used += top_bar(v, row + used);
	if (room >= 1)
		sentence(v, row + used++);
	if (room >= 3)
		used += draw_verdict(v, row + used);
	return used;
}
