/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The page of one process: who it is, its memory by kind, its threads. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/top/view.h"

#define SHOWN 8 /* threads beside the phases; the rest has a page of its own */
#define NAME_ROOM 40

static int larger_first(const void *x, const void *y)
{
	const struct board_thread *a = *(const struct board_thread *const *)x;
	const struct board_thread *b = *(const struct board_thread *const *)y;

	if (a->grew != b->grew)
		return a->grew < b->grew ? 1 : -1;
	return (a->tid > b->tid) - (a->tid < b->tid);
}

static bool matches(const struct top_view *v, const struct board_thread *t)
{
	char tid[16];

	if (t->first_ns > v->at)
		return false;
	snprintf(tid, sizeof(tid), "%" PRIu32, t->tid);
	return !v->s->filter[0] || strstr(tid, v->s->filter);
}

static size_t collect(const struct top_view *v, const struct board_thread **out)
{
	size_t n = 0;

	for (const struct board_thread *t = v->focus->threads.table; t; t = t->hh.next)
		if (matches(v, t))
			out[n++] = t;
	qsort(out, n, sizeof(*out), larger_first);
	return n;
}

/* Of a process with one thread its phases say it all. */
int top_add_threads(struct top_view *v, bool all)
{
	const struct threads *t = &v->focus->threads;
	const struct board_thread **sorted;
	size_t n, shown;
	int err = 0;

	if (!all && t->begun <= 1 && t->known <= 1)
		return 0;
	sorted = calloc(threads_count(t) + 1, sizeof(*sorted));
	if (!sorted)
		return -ENOMEM;
	n = collect(v, sorted);
	shown = all || n <= SHOWN ? n : SHOWN;
	for (size_t i = 0; i < shown && !err; i++) {
		struct top_row row = {.bp = v->focus, .start_win = TOP_THREAD, .thread = sorted[i]};

		err = top_add_row(v, row);
	}
	/* Those that are not kept any more, too, if it is not about a moment or a filter. */
	v->list->threads_left = (v->now && !v->s->filter[0] ? t->known : n) - shown;
	if (!err && !v->s->filter[0] && (v->list->threads_left || threads_unmarked(t)))
		err = top_add_row(v, (struct top_row){.bp = v->focus, .start_win = TOP_THREAD});
	free(sorted);
	return err;
}

void top_threads_rest(const struct top_view *v, const struct board_process *bp, char *out,
		      size_t cap)
{
	uint64_t unmarked = threads_unmarked(&bp->threads);
	size_t left = v->list->threads_left;

	if (left && unmarked)
		snprintf(out, cap, "and %zu more threads, %" PRIu64 " without marks", left,
			 unmarked);
	else if (left)
		snprintf(out, cap, "and %zu more thread%s", left, left == 1 ? "" : "s");
	else
		snprintf(out, cap, "%" PRIu64 " thread%s without marks", unmarked,
			 unmarked == 1 ? "" : "s");
}

void top_thread_name(struct top_view *v, const struct top_row *row, char *out, size_t cap)
{
	const struct board_thread *t = row->thread;
	char label[TOP_NAME_MAX] = "";
	struct phase ph;

	if ((t->ended || row->bp->gone) && v->at >= t->last_ns)
		strcpy(label, "ended");
	else if (board_thread_open(v->b, row->bp, t->tid, v->at, v->now, &ph))
		top_phase_name(v, row->bp, &ph, label);
	snprintf(out, cap, "thread %" PRIu32 "  %s", t->tid, label);
}

/* "anon 120.0 file 8.0 shmem 0.0 MiB": now, or at its peak. */
static void members_text(const struct top_view *v, char *out, size_t cap)
{
	const struct board_process *bp = v->focus;
	bool live = v->now && !bp->gone;
	const struct ev_members *m = live ? &bp->members : &bp->p.peak.members;
	bool exact = live || bp->p.peak.members_exact;
	char s[PP_NMEMBERS][24];

	for (int i = 0; i < PP_NMEMBERS; i++)
		text_mib(s[i], m->m[i] > INT64_MAX ? INT64_MAX : (int64_t)m->m[i]);
	snprintf(out, cap, "%s%sanon %s file %s shmem %s swap %s MiB",
		 live ? "now " : "at its peak ", exact ? "" : "~", s[PP_ANON], s[PP_FILE],
		 s[PP_SHMEM], s[PP_SWAP]);
}

void top_process_line(struct top_view *v, int row)
{
	char name[TOP_NAME_MAX], members[160];
	int room = v->g->cols, used;

	members_text(v, members, sizeof(members));
	used = (int)text_columns(members) + 2;
	if (room >= used + NAME_ROOM) {
		cells_right(v->g, row, 0, room, CELL_PLAIN, members);
		room -= used;
	}
	top_process_name(v, v->focus, name, sizeof(name));
	cells_fit(v->g, row, 0, room, CELL_STRONG, name);
}
