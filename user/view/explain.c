/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "view/explain.h"

#include <errno.h>
#include <string.h>

#include "view/answer.h"
#include "view/columns.h"
#include "view/match.h"
#include "view/put.h"

struct search {
	struct explained *x;
	const struct report_source *src;
	const struct process *p; /* whose phases go by */
};

static void keep_name(struct explained *x, const struct phase *ph)
{
	struct name name;

	name_of(&name, ph);
	for (size_t i = 0; i < x->nnames; i++)
		if (name_size(&x->names[i]) == name_size(&name) &&
		    !memcmp(&x->names[i], &name, name_size(&name)))
			return;
	if (x->nnames < EXPLAIN_NAMES)
		x->names[x->nnames++] = name;
	else
		x->more_names = true;
}

static int match_phase(void *arg, const struct phase *ph)
{
	struct search *s = arg;
	struct explained *x = s->x;

	if (!match_label(x->pattern, ph))
		return 0;
	x->matches++;
	keep_name(x, ph);
	if (x->has_phase && ph->peak.bytes <= x->phase.peak.bytes)
		return 0;
	x->has_phase = true;
	x->p = *s->p;
	x->phase = *ph;
	x->phase.where = NULL;
	x->phase.nwhere = 0;
	x->peak = ph->peak;
	return 0;
}

static int match_process(void *arg, const struct process *p)
{
	struct search *s = arg;

	s->p = p;
	return s->src->each_phase(s->src->ctx, p->mm_id, match_phase, s);
}

static int find(struct explained *x, const struct report_source *src)
{
	struct search s = {.x = x, .src = src};
	struct answer a;
	int err;

	if (x->pattern) {
		err = src->each_process(src->ctx, match_process, &s);
		return err ? err : x->has_phase ? 0 : -ENOENT;
	}
	err = answer_find(&a, src);
	if (err)
		return err;
	if (!a.images)
		return -ENODATA;
	x->p = a.top;
	x->peak = a.top.peak;
	x->has_phase = a.has_owner;
	x->phase = a.owner;
	x->matches = a.has_owner;
	return 0;
}

static int add_phase(void *arg, const struct phase *ph)
{
	return why_phase(arg, ph);
}

int explain(struct explained *x, const struct report_source *src, const char *pattern)
{
	int err;

	memset(x, 0, sizeof(*x));
	x->pattern = pattern;
	err = find(x, src);
	if (err)
		return err;
	err = why_begin(&x->why, &x->p, &x->peak, x->has_phase ? &x->phase : NULL);
	if (err)
		return err;
	err = src->each_phase(src->ctx, x->p.mm_id, add_phase, x->why);
	if (err >= 0)
		err = why_end(x->why, &x->rows, &x->n);
	if (err)
		return err;
	x->exact = x->p.exact;
	for (size_t i = 0; i < x->n; i++)
		x->exact &= x->rows[i].exact;
	return 0;
}

void explain_free(struct explained *x)
{
	why_free(&x->why);
}

static const char *part_json(enum why_part part)
{
	switch (part) {
	case WHY_INSIDE:
		return "inside";
	case WHY_INNER:
		return "inner";
	case WHY_SIBLING:
		return "sibling";
	case WHY_EARLIER:
		return "earlier";
	case WHY_OUTER:
		return "outer";
	case WHY_BESIDE:
		return "beside";
	case WHY_START:
		return "start";
	case WHY_OTHERS:
		return "others";
	case WHY_UNKNOWN:
	case WHY_PARTS:
		break;
	}
	return "unknown";
}

static void row_json(struct jw *j, const struct why_row *row)
{
	struct phase ph;

	jw_inline(j);
	jw_begin_object(j);
	put_text(j, "part", part_json(row->part));
	jw_key(j, "bytes");
	jw_i64(j, row->bytes);
	jw_key(j, "label");
	if (row->name) {
		name_phase(&ph, row->name);
		label_json(j, &ph);
	} else {
		jw_null(j);
	}
	put_u64(j, "phases", row->phases);
	put_bool(j, "overlaps", row->overlaps);
	put_bool(j, "exact", row->exact);
	jw_end_object(j);
}

void explain_json(struct jw *j, const struct explained *x)
{
	jw_begin_object(j);
	put_u64(j, "pid", x->p.pid);
	jw_key(j, "phase");
	if (x->has_phase)
		label_json(j, &x->phase);
	else
		jw_null(j);
	put_u64(j, "matches", x->matches);
	put_u64(j, "peak_bytes", x->peak.bytes);
	put_u64(j, "peak_at_ns", x->peak.at_ns);
	put_bool(j, "exact", x->exact);
	jw_key(j, "outer_bytes");
	jw_i64(j, why_sum(x->why, WHY_OUTER));
	jw_key(j, "sibling_bytes");
	jw_i64(j, why_sum(x->why, WHY_SIBLING));
	jw_key(j, "earlier_bytes");
	jw_i64(j, why_sum(x->why, WHY_EARLIER));
	jw_key(j, "rows");
	jw_begin_array(j);
	for (size_t i = 0; i < x->n; i++)
		row_json(j, &x->rows[i]);
	jw_end_array(j);
	jw_end_object(j);
}
