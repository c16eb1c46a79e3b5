/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Private to the layout's files: one frame in the making. */
#ifndef PEAKPHASE_VIEW_TOP_VIEW_H
#define PEAKPHASE_VIEW_TOP_VIEW_H

#include "view/columns.h"
#include "view/top/layout.h"

#define TOP_NAME_MAX (VIEW_LABEL_MAX + 128) /* of a process or a phase, escaped */
#define MOMENT_OPEN_MAX 64		    /* open phases of one process that are shown */

/* A row of the list. */
struct top_row {
	struct board_process *bp;
	const struct board_phase *done;	   /* finished; NULL: open, or the process itself */
	uint64_t start_win;		   /* TOP_NOW: the process itself; TOP_THREAD, TOP_SMALL */
	const struct board_thread *thread; /* of TOP_THREAD; NULL: those that have no row */
	unsigned int depth;		   /* of indentation */
	uint64_t key;
	size_t order;
};

struct top_list {
	struct top_row *rows;
	struct top_item *items; /* the same, for the state */
	size_t n, room;
	struct board_process **processes; /* scratch */
	size_t nprocesses;
	size_t threads_left; /* known threads without a row */
	size_t small;	     /* processes that are one row */
	uint64_t small_peak;
	struct phase open[MOMENT_OPEN_MAX]; /* scratch: of open_of */
	const struct board_process *open_of;
	size_t nopen;
};

struct top_view {
	struct board *b;
	struct top_state *s;
	struct top_facts *f;
	struct top_list *list;
	struct cells *g;
	uint64_t at;   /* moment shown */
	bool now;      /* it is the last one */
	uint64_t end;  /* of the time known */
	unsigned text; /* enum text_flags */
	struct board_process
	    *focus; /* of the pages of a process and of a phase; NULL: the whole job */
	struct phase focus_phase; /* of the page of a phase */
	bool has_focus_phase;
};

/* rows.c: what is listed. 0 or -ENOMEM. */
int top_list_build(struct top_view *v);
/* Its open phases at the moment, outermost first: in v->list->open. */
size_t top_open(struct top_view *v, const struct board_process *bp);
/* Its memory is no more at the moment. */
bool top_is_gone(const struct top_view *v, const struct board_process *bp);
/* A process as if it were one phase, so that the columns of phases tell of it. */
void top_process_phase(const struct top_view *v, const struct board_process *bp, struct phase *ph);
bool top_row_phase(struct top_view *v, const struct top_row *row, struct phase *ph);
/* Columns that are shown, and can be sorted by. */
#define TOP_COLUMNS_MAX 24
size_t top_columns(const struct column *out[static TOP_COLUMNS_MAX]);

/* threads_page.c */
/* Rows of the threads of v->focus: the largest, or all of them. 0 or -ENOMEM. */
int top_add_threads(struct top_view *v, bool all);
int top_add_row(struct top_view *v, struct top_row row);
/* "and 92 more threads, 5 without marks" */
void top_threads_rest(const struct top_view *v, const struct board_process *bp, char *out,
		      size_t cap);
void top_thread_name(struct top_view *v, const struct top_row *row, char *out, size_t cap);
/* "101 (7 in docker web-1) gunicorn", and its memory by kind. */
void top_process_line(struct top_view *v, int row);

/* roll_up.c */
/* Sets bp->small of those that have ended and did nothing of note; v->list counts them. */
void top_roll_up(struct top_view *v);

/* names.c */
/* "4242 python3 etl.py", "4242 (7) …", "4242 (7 in docker web-1) …". */
void top_process_name(const struct top_view *v, const struct board_process *bp, char *out,
		      size_t cap);
/* process_row.c: the same in short, with its end, in so many columns. */
void top_draw_process(struct top_view *v, const struct board_process *bp, int row, int col,
		      int width, enum cell_style style);
enum cell_style top_process_style(const struct top_view *v, const struct board_process *bp);
/* Its label; of the time since a mark "(since LABEL)". */
void top_phase_name(const struct top_view *v, const struct board_process *bp,
		    const struct phase *ph, char out[static TOP_NAME_MAX]);
/* The innermost phase of bp that was open at an instant, rather a named one. */
bool top_owner(struct top_view *v, const struct board_process *bp, uint64_t at_ns, uint64_t win,
	       struct phase *out);
/* "+12.40 s" since the begin of the run. */
void top_since(const struct top_view *v, uint64_t ns, char out[static 32]);

/* head.c, timeline.c, table.c, pages.c: parts of the screen; each returns the rows it took. */
int top_head(struct top_view *v, int row, int room);
/* bar.c: 1, or 0 where there is nothing to measure by. */
int top_bar(struct top_view *v, int row);
/* Where keys may lead to, seen or not: the peak, a column on, the boundaries of phases. */
void top_moments(struct top_view *v);
int top_timeline(struct top_view *v, int row, int height);
/* A curve of one row, beside its numbers. */
void top_curve(struct top_view *v, const struct board_process *bp, const struct phase *ph, int row,
	       int col, int width);
void top_table(struct top_view *v, int row, int room);
void top_phase_page(struct top_view *v, int row, int room);
void top_notes_page(struct top_view *v, int row, int room);
void top_help_page(struct top_view *v, int row, int room);
void top_footer(struct top_view *v, int row);

/* figures.c: what head.c and bar.c have in common. */
char *top_mib(char out[static 24], uint64_t bytes);
/* Of the page, at the moment; of the job its RSS sum. */
uint64_t top_rss_at(const struct top_view *v);
/* It is a sum of several processes. */
bool top_is_sum(const struct top_view *v);
/* The process that is nearest to its limit; NULL: there is no limit. */
const struct board_process *top_tightest(const struct top_view *v);
/* n of whole, in units of which there are `width`. */
int top_scaled(uint64_t n, uint64_t whole, int width);

/* "exit status 3", …, of the whole run; "" while it goes on. */
void top_ended(const struct top_view *v, char *out, size_t cap);

#endif
