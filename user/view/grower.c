/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "view/grower.h"

#include "view/answer.h"

struct search {
	struct phase *best;
	uint64_t most;
	bool found;
};

static void keep(struct search *s, const struct phase *ph)
{
	*s->best = *ph;
	s->best->where = NULL;
	s->best->nwhere = 0;
	s->found = true;
}

static int largest(void *arg, const struct phase *ph)
{
	struct search *s = arg;

	if (ph->grew_bytes > s->most) {
		s->most = ph->grew_bytes;
		keep(s, ph);
	}
	return 0;
}

/* Rows come by start, outer before inner. */
static int innermost(void *arg, const struct phase *ph)
{
	struct search *s = arg;

	if (ph->grew_bytes >= s->most - s->most / 2 && answer_encloses(s->best, ph))
		keep(s, ph);
	return 0;
}

int grower_find(const struct report_source *src, uint64_t mm_id, struct phase *out)
{
	struct search s = {.best = out};
	int err = src->each_phase(src->ctx, mm_id, largest, &s);

	if (!err && s.found)
		err = src->each_phase(src->ctx, mm_id, innermost, &s);
	return err < 0 ? err : s.found;
}
