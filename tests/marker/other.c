/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <peakphase/log_rss.h>

#include "other.h"

uint64_t other_begin(const char *label)
{
	log_rss(label);
	return log_rss_begin(label);
}

int other_enabled(void)
{
	return log_rss_enabled();
}
