/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The live line of a finished phase:
 * peak RSS [transform:users]: ~284.7 MB  (grew 212.3, kept 208.0, now 280.1; 1.24 s)
 * MB is 2^20 bytes; "~" is part of the format, whatever the exactness. Pure, thread-safe.
 */
#ifndef PEAKPHASE_VIEW_LINE_H
#define PEAKPHASE_VIEW_LINE_H

#include "view/label.h"

#define LINE_TEXT_MAX (VIEW_LABEL_MAX + 320)

enum line_flags {
	LINE_ASCII = TEXT_ASCII, /* the locale is not UTF-8 */
	LINE_PID = 4,		 /* several processes are traced: name this one */
};

/* One line with its newline and a NUL. Returns the bytes without the NUL. */
size_t line_format(char out[static LINE_TEXT_MAX], const struct process *p, const struct phase *ph,
		   unsigned flags);

#endif
