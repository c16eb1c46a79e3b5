/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What stands below a verdict: live, in reports and in top the same lines. */
#ifndef PEAKPHASE_VIEW_VERDICT_MORE_H
#define PEAKPHASE_VIEW_VERDICT_MORE_H

#include "view/around.h"

/* Room for such a line: four processes of four phases each. */
#define VERDICT_MORE_MAX (16 * (VIEW_LABEL_MAX + 4) + 4 * 128 + 128)

/*
 * Calls line for each, without a newline: what the charge held besides, which phase grew most,
 * which were open, and in which ones the others were. 0 or -errno of the source.
 */
int verdict_more(const struct around *a, const struct verdict *v, unsigned flags,
		 void (*line)(void *, const char *), void *arg);

#endif
