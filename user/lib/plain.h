/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Text without what only a terminal takes from it: colours and other control sequences (ECMA-48:
 * CSI, OSC such as hyperlinks, DCS, and the short ones). One that has no end, or runs into the end
 * of a line, is text. Pure, thread-safe.
 */
#ifndef PEAKPHASE_LIB_PLAIN_H
#define PEAKPHASE_LIB_PLAIN_H

#include <stddef.h>

/* To out, which has room for n bytes and is not text; returns its length. */
size_t plain_copy(char *out, const char *text, size_t n);
/* Where in text its plain bytes up to `end` (at most what plain_copy() returns) end. */
size_t plain_end(const char *text, size_t n, size_t end);

#endif
