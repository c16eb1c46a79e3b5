/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What phases kept, and the process gave back right after them: allocators do so in their own time.
 */
#ifndef PEAKPHASE_VIEW_FREED_H
#define PEAKPHASE_VIEW_FREED_H

#include "view/source.h"

#define FREED_LATER_NS 2000000000ull

struct freed {
	uint64_t bytes;
	bool exact; /* false: by a point of the timeline, or of a phase that is not exact */
};

/*
 * What the whole process shrank by in the implied phase that begins where ph ends, until its end,
 * at most FREED_LATER_NS from then, and at most what ph kept. 0 where ph kept nothing, is itself
 * implied, or open, where another mark follows at once, and where the process had ended by then.
 * 0 or -errno.
 */
int freed_later(const struct report_source *src, const struct phase *ph, struct freed *out);

#endif
