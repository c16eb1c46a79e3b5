/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the command of `top` prints while the view has the terminal: kept in a file without a name,
 * printed when the view is gone. Keys are the view's, so the command reads nothing from a terminal.
 */
#ifndef PEAKPHASE_CMD_OUTPUT_H
#define PEAKPHASE_CMD_OUTPUT_H

#include <stdbool.h>

struct output {
	int file, null; /* -1: not open */
};

void output_init(struct output *o);
/*
 * The command's 0, 1 and 2: ours where they are no terminal. In batch mode frames go to stdout, so
 * what the command prints goes to stderr. 0 or -errno (said).
 */
int output_take(struct output *o, bool batch, int stdio[3]);
/* Prints what was kept, closes. */
void output_print(struct output *o);

#endif
