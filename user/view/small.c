/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "view/small.h"

#include <inttypes.h>
#include <stdio.h>

#include "lib/text.h"

#define SECOND 1000000000ull

/* A process without marks has one phase, from its beginning to its end. */
static bool is_small(const struct process *p, const struct phase *ph)
{
	return ph->kind == PH_STARTUP && ph->start_ns == p->start_ns &&
	       (ph->ended_by == PH_BY_EXIT || ph->ended_by == PH_BY_EXEC) &&
	       ph->end_ns - ph->start_ns < SECOND;
}

bool small_folds(struct small *s, const struct process *p, const struct phase *ph)
{
	if (!is_small(p, ph))
		return false;
	if (ph->end_ns - s->second_ns >= SECOND) {
		s->second_ns = ph->end_ns;
		s->shown = 0;
	}
	if (s->shown < SMALL_EACH_SECOND) {
		s->shown++;
		return false;
	}
	s->folded++;
	if (ph->peak.bytes > s->most_bytes)
		s->most_bytes = ph->peak.bytes;
	return true;
}

void small_format(const struct small *s, char out[static SMALL_TEXT_MAX])
{
	char mib[24];

	text_mib(mib, s->most_bytes > INT64_MAX ? INT64_MAX : (int64_t)s->most_bytes);
	snprintf(out, SMALL_TEXT_MAX,
		 "%" PRIu64
		 " more process%s of less than a second without marks: largest peak %s MB",
		 s->folded, s->folded == 1 ? "" : "es", mib);
}
