/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "view/match.h"

#include <fnmatch.h>
#include <string.h>

#include "view/label.h"

bool match_label(const char *pattern, const struct phase *ph)
{
	char label[VIEW_LABEL_MAX];

	view_label(label, ph, 0);
	return !strcmp(pattern, label) || !fnmatch(pattern, label, FNM_NOESCAPE);
}
