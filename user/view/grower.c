/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "view/grower.h"

#include "view/answer.h"

struct search {
	const struct around *a;
	const struct verdict *v;
	const struct around_row *row;
	struct grower *best;
	uint64_t half; /* of the largest growth */
	bool found;
};

/* What the victim's phases did after the kernel's choice is next to nothing. */
static int grown_by_then(const struct search *s, const struct phase *ph, uint64_t *bytes)
{
	bool victim = s->v->kind == VD_OOM && s->v->traced && ph->mm_id == s->v->mm_id;
	const struct report_source *src = s->a->src;
	uint64_t rss;
	int told;

	*bytes = ph->start_ns < s->v->at_ns ? phase_grew(ph) : 0;
	if (!*bytes || victim || ph->end_ns <= s->v->at_ns)
		return 0;
	told = src->rss_at(src->ctx, ph->mm_id, ph->start_ns, s->v->at_ns, &rss);
	if (told <= 0)
		*bytes = 0;
	else if (rss < ph->start_bytes + *bytes)
		*bytes = rss > ph->start_bytes ? rss - ph->start_bytes : 0;
	return told < 0 ? told : 0;
}

static void keep(struct search *s, const struct phase *ph, uint64_t bytes)
{
	*s->best = (struct grower){s->row, *ph, bytes};
	s->best->ph.where = NULL;
	s->best->ph.nwhere = 0;
	s->found = true;
}

static int largest(void *arg, const struct phase *ph)
{
	struct search *s = arg;
	uint64_t bytes;
	int err;

	if (phase_grew(ph) <= s->best->bytes)
		return 0;
	err = grown_by_then(s, ph, &bytes);
	if (!err && bytes > s->best->bytes)
		keep(s, ph, bytes);
	return err;
}

static int innermost(void *arg, const struct phase *ph)
{
	struct search *s = arg;
	uint64_t bytes;
	int err;

	if (phase_grew(ph) < s->half || !answer_encloses(&s->best->ph, ph))
		return 0;
	err = grown_by_then(s, ph, &bytes);
	if (!err && bytes >= s->half)
		keep(s, ph, bytes);
	return err;
}

static int largest_of(struct search *s, const struct around_row *row)
{
	const struct report_source *src = s->a->src;

	s->row = row;
	return src->each_phase(src->ctx, row->mm_id, largest, s);
}

static int look_at_other(void *arg, const struct around_row *row)
{
	struct search *s = arg;

	return row->grew_most > s->best->bytes ? largest_of(s, row) : 0;
}

int grower_find(const struct around *a, const struct verdict *v, struct grower *out)
{
	const struct around_row *own = around_find(a, v->mm_id);
	struct search s = {.a = a, .v = v, .best = out};
	const struct report_source *src = a->src;
	int err;

	out->bytes = 0;
	/* It has ended, and is not known here any more: the largest of the others says nothing. */
	if (!own)
		return 0;
	err = largest_of(&s, own);
	if (!err)
		err = around_each_other(a, v, look_at_other, &s);
	if (err || !s.found)
		return err;
	s.row = out->row;
	s.half = out->bytes - out->bytes / 2;
	err = src->each_phase(src->ctx, s.row->mm_id, innermost, &s);
	return err < 0 ? err : 1;
}
