/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "view/top/cells.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text.h"

int cells_reset(struct cells *g, int rows, int cols, bool ascii)
{
	size_t n = (size_t)rows * (size_t)cols;

	if (rows != g->rows || cols != g->cols) {
		struct cell *c = reallocarray(g->c, n ? n : 1, sizeof(*c));

		if (!c)
			return -ENOMEM;
		g->c = c;
		g->rows = rows;
		g->cols = cols;
	}
	g->ascii = ascii;
	for (size_t i = 0; i < n; i++)
		g->c[i] = (struct cell){.ch = {L' '}, .width = 1};
	return 0;
}

void cells_free(struct cells *g)
{
	free(g->c);
	*g = (struct cells){0};
}

/* The next character of s: its bytes, and in *w its columns, -1 if it is none to show. */
static size_t next_char(const char *s, size_t len, wchar_t *ch, int *w)
{
	uint32_t cp;
	size_t n = text_utf8_next(s, len, &cp);

	*w = -1;
	if (!n)
		return 1;
	*ch = (wchar_t)cp;
	if (cp < 0x80)
		*w = cp < 0x20 || cp == 0x7f ? -1 : 1;
	else if (!text_is_hidden(cp))
		*w = wcwidth((wchar_t)cp);
	return n;
}

static int columns(const char *s, size_t len)
{
	int cols = 0, w;
	wchar_t ch;

	for (size_t i = 0; i < len; cols += w < 0 ? 1 : w)
		i += next_char(s + i, len - i, &ch, &w);
	return cols;
}

/* Bytes of the longest beginning of at most cols columns, with the combining ones behind it. */
static size_t head(const char *s, size_t len, int cols)
{
	size_t i = 0, n;
	wchar_t ch;
	int w;

	for (; i < len; i += n) {
		n = next_char(s + i, len - i, &ch, &w);
		w = w < 0 ? 1 : w;
		if (w > cols)
			break;
		cols -= w;
	}
	return i;
}

/* A wide character that loses one half is gone whole. */
static void clear_halves(struct cells *g, int row, int col)
{
	struct cell *c = cell_at(g, row, col);

	if (!c->width && col)
		*cell_at(g, row, col - 1) = (struct cell){.ch = {L' '}, .width = 1};
	if (c->width == 2 && col + 1 < g->cols)
		*cell_at(g, row, col + 1) = (struct cell){.ch = {L' '}, .width = 1};
}

static void set(struct cells *g, int row, int col, wchar_t ch, int w, enum cell_style style)
{
	for (int i = 0; i < w; i++) {
		struct cell *c = cell_at(g, row, col + i);
		bool selected = c->selected, cursor = c->cursor;

		clear_halves(g, row, col + i);
		*c = (struct cell){.ch = {i ? 0 : ch},
				   .width = (unsigned char)(i ? 0 : w),
				   .style = (unsigned char)style,
				   .selected = selected,
				   .cursor = cursor};
	}
}

static void combine(struct cells *g, int row, int col, wchar_t ch)
{
	struct cell *c = cell_at(g, row, col);

	if (!c->width && col)
		c = cell_at(g, row, col - 1);
	for (int i = 1; i < CELL_CHARS; i++)
		if (!c->ch[i]) {
			c->ch[i] = ch;
			return;
		}
}

static int put(struct cells *g, int row, int col, int width, enum cell_style style, const char *s,
	       size_t len)
{
	int used = 0, w;
	wchar_t ch;

	if (row < 0 || row >= g->rows || col < 0)
		return 0;
	if (width > g->cols - col)
		width = g->cols - col;
	for (size_t i = 0; i < len; used += w) {
		i += next_char(s + i, len - i, &ch, &w);
		if (w < 0) {
			ch = L'?';
			w = 1;
		}
		if (used + w > width)
			break;
		if (w)
			set(g, row, col + used, ch, w, style);
		else if (used)
			combine(g, row, col + used - 1, ch);
	}
	return used;
}

int cells_put(struct cells *g, int row, int col, int width, enum cell_style style, const char *s)
{
	return put(g, row, col, width, style, s, strlen(s));
}

int cells_right(struct cells *g, int row, int col, int width, enum cell_style style, const char *s)
{
	size_t len = strlen(s), skip = 0;
	int cols = columns(s, len), w;
	wchar_t ch;

	for (; cols > width && skip < len; cols -= w < 0 ? 1 : w)
		skip += next_char(s + skip, len - skip, &ch, &w);
	return put(g, row, col + width - cols, cols, style, s + skip, len - skip);
}

/* What tells labels apart is at their ends as often as at their beginnings. */
int cells_fit(struct cells *g, int row, int col, int width, enum cell_style style, const char *s)
{
	const char *mark = g->ascii ? ".." : "…";
	int mark_cols = g->ascii ? 2 : 1, used, rest;
	size_t len = strlen(s), first, skip = 0;
	wchar_t ch;
	int w;

	rest = columns(s, len);
	if (rest <= width || width < mark_cols + 2)
		return put(g, row, col, width, style, s, len);
	first = head(s, len, (width - mark_cols + 1) / 2);
	used = put(g, row, col, width, style, s, first);
	used += put(g, row, col + used, mark_cols, style, mark, strlen(mark));
	s += first;
	len -= first;
	rest = columns(s, len);
	/* Combining characters without their base go too. */
	for (w = 0; skip < len && rest > width - used; rest -= w < 0 ? 1 : w)
		skip += next_char(s + skip, len - skip, &ch, &w);
	while (skip < len) {
		size_t n = next_char(s + skip, len - skip, &ch, &w);

		if (w)
			break;
		skip += n;
	}
	return used + put(g, row, col + used, width - used, style, s + skip, len - skip);
}

void cells_fill(struct cells *g, int row, int col, int n, enum cell_style style, wchar_t ch)
{
	if (row < 0 || row >= g->rows || col < 0)
		return;
	for (int i = 0; i < n && col + i < g->cols; i++)
		set(g, row, col + i, ch, 1, style);
}

void cells_select(struct cells *g, int row, int col, int width)
{
	if (row < 0 || row >= g->rows || col < 0)
		return;
	for (int i = 0; i < width && col + i < g->cols; i++)
		cell_at(g, row, col + i)->selected = true;
}

static void put_utf8(FILE *f, wchar_t ch)
{
	uint32_t c = (uint32_t)ch;

	if (c < 0x80) {
		putc((int)c, f);
		return;
	}
	if (c >= 0x10000) {
		putc((int)(0xf0 | c >> 18), f);
		putc((int)(0x80 | (c >> 12 & 0x3f)), f);
	} else if (c >= 0x800) {
		putc((int)(0xe0 | c >> 12), f);
	}
	if (c >= 0x800)
		putc((int)(0x80 | (c >> 6 & 0x3f)), f);
	else
		putc((int)(0xc0 | c >> 6), f);
	putc((int)(0x80 | (c & 0x3f)), f);
}

void cells_print(const struct cells *g, FILE *f)
{
	for (int row = 0; row < g->rows; row++) {
		int end = g->cols;

		while (end && cell_at(g, row, end - 1)->ch[0] == L' ' &&
		       cell_at(g, row, end - 1)->width == 1)
			end--;
		for (int col = 0; col < end; col++)
			for (int i = 0; i < CELL_CHARS && cell_at(g, row, col)->ch[i]; i++)
				put_utf8(f, cell_at(g, row, col)->ch[i]);
		putc('\n', f);
	}
}
