/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The program's last lines, as they stand below a verdict. Pure, thread-safe. */
#ifndef PEAKPHASE_VIEW_TAIL_TEXT_H
#define PEAKPHASE_VIEW_TAIL_TEXT_H

#include "lib/text.h"
#include "model/tail.h"

#define TAIL_TEXT_MAX (TAIL_BYTES * TEXT_ESCAPED_MAX * 2 + 32)

/* "  | ValueError: …\n", escaped: nothing in it can look like a line of ours. Returns its length.
 */
size_t tail_text(char out[static TAIL_TEXT_MAX], const struct tail_line *line, unsigned flags);

#endif
