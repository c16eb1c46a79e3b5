/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What views read recordings by: the store's reader behind the views' interface. */
#ifndef PEAKPHASE_CMD_SHOW_SOURCE_H
#define PEAKPHASE_CMD_SHOW_SOURCE_H

#include <stdio.h>

#include "view/source.h"

struct recording;

/* What views read it by. run is its facts, and lives as long as the source. */
struct report_source show_source(struct recording *r, const struct report_run *run);
/* err of a view that wrote to f, said, as an exit status. */
int show_status(int err, FILE *f);

/* Its facts; strings live until recording_close(). */
struct report_run show_run(const struct recording *r);

#endif
