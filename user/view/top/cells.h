/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A screen as a grid of cells: what layout makes and what drawing, batch frames and snapshots
 * take. Text is UTF-8 that has been escaped; what is no printable character all the same becomes
 * "?". Widths are the locale's (wcwidth). Not thread-safe.
 */
#ifndef PEAKPHASE_VIEW_TOP_CELLS_H
#define PEAKPHASE_VIEW_TOP_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <wchar.h>

/* What a cell means; drawing chooses colours and attributes. None is told by colour alone. */
enum cell_style {
	CELL_PLAIN,
	CELL_STRONG, /* titles, names of processes */
	CELL_FAINT,  /* what has ended, axes */
	CELL_HEAD,   /* the first line, column titles */
	CELL_MEMORY, /* the curve, the bar */
	CELL_SPIKE,  /* between smallest and largest of a column */
	CELL_PEAK,   /* the peak and its owner */
	CELL_BAD,    /* killed, lost, no room */
	CELL_KEY,    /* keys in the footer */
	CELL_NSTYLES,
};

#define CELL_CHARS 3 /* a character and two combining ones; more of them are left out */

struct cell {
	wchar_t ch[CELL_CHARS]; /* 0: no more */
	unsigned char style;
	unsigned char width; /* 2: the next cell belongs to this one and has width 0 */
	bool selected;
	bool cursor;
};

struct cells {
	int rows, cols;
	bool ascii;
	struct cell *c;
};

/* Blank, of that size. 0 or -ENOMEM (unchanged). */
int cells_reset(struct cells *g, int rows, int cols, bool ascii);
void cells_free(struct cells *g);

static inline struct cell *cell_at(const struct cells *g, int row, int col)
{
	return &g->c[(size_t)row * (size_t)g->cols + (size_t)col];
}

/*
 * From col on, in at most width columns, never past the edge; what is outside is left out. Returns
 * the columns taken. A wide character that would not fit whole is left out.
 */
int cells_put(struct cells *g, int row, int col, int width, enum cell_style style, const char *s);
/* The same at the right end of width columns; if it does not fit its beginning is left out. */
int cells_right(struct cells *g, int row, int col, int width, enum cell_style style, const char *s);
/* The same from the left; what does not fit loses its middle, with a mark. */
int cells_fit(struct cells *g, int row, int col, int width, enum cell_style style, const char *s);
/* One character n times. */
void cells_fill(struct cells *g, int row, int col, int n, enum cell_style style, wchar_t ch);
void cells_select(struct cells *g, int row, int col, int width);

/* As text, a line a row, without spaces at the ends. */
void cells_print(const struct cells *g, FILE *f);

#endif
