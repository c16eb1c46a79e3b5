/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Cells → the terminal, by ncursesw, which sends only what changed. One thread uses a draw; it may
 * hang in a write while the terminal is stopped (Ctrl-S).
 *
 * While it is open a crash of this process restores the terminal before it dies as it would have.
 */
#ifndef PEAKPHASE_VIEW_TOP_DRAW_H
#define PEAKPHASE_VIEW_TOP_DRAW_H

#include <stdint.h>

#include "view/top/cells.h"

struct draw;

/* The terminal is stdin and stdout. 0, -ENOTTY; -ENOTSUP: it cannot move its cursor. */
int draw_check(void);
/* The same, and -ENOMEM. */
int draw_open(struct draw **d);
/* Restores the terminal. */
void draw_close(struct draw **d);
/* Only the terminal's own settings, from another thread than the one that hangs. */
void draw_abandon(struct draw *d);

void draw_size(const struct draw *d, int *rows, int *cols);
void draw_cells(struct draw *d, const struct cells *g, bool color);
/* The next key that waits, as in state.h; 0: none. -EIO: the terminal has gone. */
int64_t draw_key(struct draw *d);
/* Everything is to be drawn anew. */
void draw_redraw(struct draw *d);
/* Gives the terminal back, and takes it again. */
void draw_suspend(struct draw *d);
void draw_resume(struct draw *d);

#endif
