/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A recording shown as a report: of `report`, and of `run` and `attach` when they are done. */
#ifndef PEAKPHASE_CMD_SHOW_H
#define PEAKPHASE_CMD_SHOW_H

#include <stdbool.h>
#include <stdio.h>

#include "view/source.h"

struct recording;

struct show_options {
	bool json;
	bool no_color;
	bool notes;   /* the texts that the program gave to its phases */
	bool members; /* anon, file and shmem of every phase */
};

/*
 * Opens, writes, closes; says errors. A reader that stops reading (EPIPE) is no error. Returns an
 * exit status: STATUS_DONE or STATUS_FAILED.
 */
int show_recording(const char *path, const struct show_options *opt, FILE *f);

/* Its facts; strings live until recording_close(). */
struct report_run show_run(const struct recording *r);

#endif
