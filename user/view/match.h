/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Phases by their label, as the user writes it. Pure, thread-safe. */
#ifndef PEAKPHASE_VIEW_MATCH_H
#define PEAKPHASE_VIEW_MATCH_H

#include "model/phase.h"

/*
 * Is pattern the label as view_label() shows it in UTF-8, or a glob as in fnmatch(3) that it
 * matches? A backslash is one: escapes can be copied from a report.
 */
bool match_label(const char *pattern, const struct phase *ph);

#endif
