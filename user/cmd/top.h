/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What `top` has in common, live and of a recording. */
#ifndef PEAKPHASE_CMD_TOP_H
#define PEAKPHASE_CMD_TOP_H

#include "cmd/output.h"
#include "cmd/trace.h"
#include "source/signals.h"
#include "view/top/screen.h"

struct top {
	struct board board;
	struct screen_options options;
	struct screen *screen;	/* NULL: not open, or left by the user */
	struct output output;	/* of the command */
	struct signals signals; /* of the whole time */
	char host[65], command[512];
	bool interrupted;
};

/* 0; -errno: said. */
int top_setup(struct top *top, const struct trace_options *opt);
/* Until the user has seen enough, or somebody ends us. */
void top_wait(struct top *top);
void top_cleanup(struct top *top);

/*
 * Lets the user choose a container or a process: into opt. -ECANCELED: none was chosen; other
 * -errno: said.
 */
int top_choose(struct trace_options *opt);
/* The whole of `top RECORDING`: an exit status. */
int top_recording(const struct trace_options *opt, const char *path);

#endif
