/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef PEAKPHASE_VIEW_TOP_DRAW_CRASH_H
#define PEAKPHASE_VIEW_TOP_DRAW_CRASH_H

#include <termios.h>

/* A crash writes text (what ends the terminal's modes) and sets its attributes back. */
void draw_crash_arm(int fd, const struct termios *before, const char *text);
void draw_crash_disarm(void);

#endif
