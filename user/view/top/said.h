/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is said while the screen is taken: kept, shown in short, printed when it is free again. */
#ifndef PEAKPHASE_VIEW_TOP_SAID_H
#define PEAKPHASE_VIEW_TOP_SAID_H

#include <stdbool.h>
#include <stddef.h>

struct said;

/* From now on messages (lib/say.h) come here. NULL: no memory; they go on to stderr. */
struct said *said_open(void);
/* To stderr again, what was kept first. NULL is fine. Nulls *s. */
void said_close(struct said **s);
/*
 * The last error or warning since the last call, in one line: "warning: …". False: there was none,
 * and out is left as it is.
 */
bool said_last(struct said *s, char *out, size_t cap);

#endif
