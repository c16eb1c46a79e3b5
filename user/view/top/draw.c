/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "view/top/draw.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <term.h>

#include "view/top/draw_crash.h"
#include "view/top/state.h"

#define ROWS_MAX 1000
#define COLS_MAX 1000
#define ESCAPE_MS 25 /* a key of several bytes comes at once; a person's Esc stands alone */

struct draw {
	SCREEN *screen;
	struct termios before;
	int rows, cols;
	bool colors; /* the terminal has them */
};

/* "\033[?1049l\033[?25h…": what undoes what curses has set. */
static void end_text(char *out, size_t cap)
{
	static const char *const names[] = {"sgr0", "cnorm", "rmkx", "rmcup"};

	out[0] = '\0';
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *s = tigetstr(names[i]);

		if (s && s != (char *)-1 && strlen(out) + strlen(s) + 3 < cap)
			strcat(out, s);
	}
	strcat(out, "\r\n");
}

/* Colours that are told apart with any eyes: blue, yellow (an orange on most), cyan; never red and
 * green. */
static void init_colors(struct draw *d)
{
	d->colors = has_colors() && start_color() == OK && use_default_colors() == OK;
	if (!d->colors)
		return;
	init_pair(CELL_MEMORY, COLOR_BLUE, -1);
	init_pair(CELL_SPIKE, COLOR_CYAN, -1);
	init_pair(CELL_PEAK, COLOR_YELLOW, -1);
	init_pair(CELL_BAD, COLOR_MAGENTA, -1);
	init_pair(CELL_KEY, COLOR_CYAN, -1);
}

static bool can_draw(void)
{
	const char *cup;
	int err;

	if (setupterm(NULL, STDOUT_FILENO, &err) != OK)
		return false;
	cup = tigetstr("cup");
	return cup && cup != (char *)-1;
}

int draw_check(void)
{
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return -ENOTTY;
	return can_draw() ? 0 : -ENOTSUP;
}

int draw_open(struct draw **out)
{
	char text[256];
	struct draw *d;
	int err = draw_check();

	*out = NULL;
	if (err)
		return err;
	d = calloc(1, sizeof(*d));
	if (!d)
		return -ENOMEM;
	tcgetattr(STDIN_FILENO, &d->before);
	/* We hear of a new size ourselves: curses's handler would interrupt other threads. */
	use_tioctl(TRUE);
	d->screen = newterm(NULL, stdout, stdin);
	if (!d->screen) {
		free(d);
		return -ENOTSUP;
	}
	end_text(text, sizeof(text));
	draw_crash_arm(STDOUT_FILENO, &d->before, text);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(ESCAPE_MS);
	leaveok(stdscr, TRUE);
	curs_set(0);
	init_colors(d);
	*out = d;
	return 0;
}

void draw_close(struct draw **dp)
{
	struct draw *d = *dp;

	if (!d)
		return;
	endwin();
	draw_crash_disarm();
	delscreen(d->screen);
	free(d);
	*dp = NULL;
}

void draw_abandon(struct draw *d)
{
	tcsetattr(STDIN_FILENO, TCSANOW, &d->before);
}

static int within(int n, int max)
{
	return n < 1 ? 1 : n > max ? max : n;
}

void draw_size(const struct draw *d, int *rows, int *cols)
{
	struct winsize size;

	(void)d;
	*rows = 24;
	*cols = 80;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col) {
		*rows = within(size.ws_row, ROWS_MAX);
		*cols = within(size.ws_col, COLS_MAX);
	}
}

static attr_t attributes(const struct draw *d, const struct cell *c, bool color)
{
	static const attr_t plain[CELL_NSTYLES] = {
	    [CELL_STRONG] = A_BOLD, [CELL_FAINT] = A_DIM, [CELL_HEAD] = A_REVERSE,
	    [CELL_PEAK] = A_BOLD,   [CELL_BAD] = A_BOLD,  [CELL_KEY] = A_BOLD,
	};
	attr_t a = plain[c->style];

	if (c->style == CELL_FAINT && d->colors && !color)
		a = A_NORMAL;
	if (c->selected || c->cursor)
		a ^= A_REVERSE;
	return a;
}

static short pair(const struct draw *d, const struct cell *c, bool color)
{
	bool has = c->style == CELL_MEMORY || c->style == CELL_SPIKE || c->style == CELL_PEAK ||
		   c->style == CELL_BAD || c->style == CELL_KEY;

	return d->colors && color && has ? (short)c->style : 0;
}

void draw_cells(struct draw *d, const struct cells *g, bool color)
{
	if (g->rows != d->rows || g->cols != d->cols) {
		resizeterm(g->rows, g->cols);
		d->rows = g->rows;
		d->cols = g->cols;
		clearok(stdscr, TRUE);
	}
	for (int row = 0; row < g->rows; row++) {
		for (int col = 0; col < g->cols; col++) {
			const struct cell *c = cell_at(g, row, col);
			wchar_t text[CELL_CHARS + 1] = {0};
			cchar_t cc;

			if (!c->width)
				continue;
			memcpy(text, c->ch, sizeof(c->ch));
			if (setcchar(&cc, text, attributes(d, c, color), pair(d, c, color), NULL) ==
			    OK)
				mvadd_wch(row, col, &cc);
		}
	}
	refresh();
}

static uint32_t special(wint_t key)
{
	switch (key) {
	case KEY_UP:
		return TOP_KEY_UP;
	case KEY_DOWN:
		return TOP_KEY_DOWN;
	case KEY_LEFT:
		return TOP_KEY_LEFT;
	case KEY_RIGHT:
		return TOP_KEY_RIGHT;
	case KEY_PPAGE:
		return TOP_KEY_PAGE_UP;
	case KEY_NPAGE:
		return TOP_KEY_PAGE_DOWN;
	case KEY_HOME:
		return TOP_KEY_HOME;
	case KEY_END:
		return TOP_KEY_END;
	case KEY_ENTER:
		return TOP_KEY_ENTER;
	case KEY_BACKSPACE:
	case KEY_DC:
		return TOP_KEY_BACKSPACE;
	default:
		return TOP_KEY_LAST + 1; /* a key that means nothing */
	}
}

int64_t draw_key(struct draw *d)
{
	wint_t key;
	int kind;

	(void)d;
	errno = 0;
	kind = get_wch(&key);
	if (kind == ERR)
		return errno == EIO ? -EIO : 0;
	if (kind == KEY_CODE_YES)
		return special(key);
	if (key == L'\r' || key == L'\n')
		return TOP_KEY_ENTER;
	if (key == 27)
		return TOP_KEY_ESCAPE;
	if (key == 8 || key == 127)
		return TOP_KEY_BACKSPACE;
	return key ? (int64_t)key : TOP_KEY_LAST + 1;
}

void draw_redraw(struct draw *d)
{
	(void)d;
	clearok(stdscr, TRUE);
}

void draw_suspend(struct draw *d)
{
	(void)d;
	endwin();
}

void draw_resume(struct draw *d)
{
	(void)d;
	reset_prog_mode();
	clearok(stdscr, TRUE);
	refresh();
}
