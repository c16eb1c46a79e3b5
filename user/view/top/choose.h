/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A list on the screen, one line of which is chosen: before anything is traced. */
#ifndef PEAKPHASE_VIEW_TOP_CHOOSE_H
#define PEAKPHASE_VIEW_TOP_CHOOSE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * lines: escaped. stop_fd: readable when somebody ends us. The number of the line; -ECANCELED: none
 * was chosen; or -errno of the terminal.
 */
int choose(const char *title, const char *const *lines, size_t n, bool ascii, int stop_fd);

#endif
