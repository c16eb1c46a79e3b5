/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* diff --json: docs/json.md. One label a line. */
#include "view/budget.h"
#include "view/columns.h"
#include "view/diff.h"
#include "view/put.h"

#define FORMAT 1

static const char *const names[MEASURES] = {
    [OF_PEAK] = "peak_bytes",
    [OF_GREW] = "grew_bytes",
    [OF_KEPT] = "kept_bytes",
    [OF_TIME] = "time_ns",
};

static void put_i64(struct jw *j, const char *key, int64_t n)
{
	jw_key(j, key);
	if (n == MEASURE_NONE)
		jw_null(j);
	else
		jw_i64(j, n);
}

static void put_letter(struct jw *j, const char *key, size_t i)
{
	char s[2] = {diff_letter(i), '\0'};

	put_text(j, key, s);
}

/* to − from, and its share of from; null where from is 0, or one is not known. */
static void put_change(struct jw *j, int64_t from, int64_t to)
{
	bool known = from != MEASURE_NONE && to != MEASURE_NONE;
	int64_t permille;

	put_i64(j, "delta", known ? (int64_t)((uint64_t)to - (uint64_t)from) : MEASURE_NONE);
	jw_key(j, "permille");
	if (known && compare_permille(from, to, &permille))
		jw_i64(j, permille);
	else
		jw_null(j);
}

static void put_recording(struct jw *j, const struct diff *d, size_t i)
{
	const struct answer *base = compare_answer(d->c, 0), *a = compare_answer(d->c, i);

	jw_inline(j);
	jw_begin_object(j);
	put_letter(j, "name", i);
	put_text(j, "file", d->files[i]);
	put_text(j, "command", d->commands[i]);
	put_u64(j, "processes", a->processes);
	put_bool(j, "exact", a->exact);
	put_known(j, "peak_bytes", a->images ? a->top.peak.bytes : EV_NONE);
	jw_key(j, "peak_phase");
	if (a->has_owner)
		label_json(j, &a->owner);
	else
		jw_null(j);
	jw_key(j, "change");
	if (i && base->images && a->images) {
		jw_begin_object(j);
		put_change(j, (int64_t)base->top.peak.bytes, (int64_t)a->top.peak.bytes);
		jw_end_object(j);
	} else {
		jw_null(j);
	}
	jw_end_object(j);
}

static void put_spread(struct jw *j, const struct compared *base, const struct compared *c,
		       enum measure m, bool first)
{
	const struct spread *s = &c->of[m];

	jw_key(j, names[m]);
	jw_begin_object(j);
	put_i64(j, "min", s->min);
	put_i64(j, "median", s->median);
	put_i64(j, "max", s->max);
	if (!first && base->count)
		put_change(j, base->of[m].median, s->median);
	jw_end_object(j);
}

static void put_row(struct jw *j, const struct diff *d, const struct compare_row *row)
{
	struct phase ph;

	name_phase(&ph, row->name);
	jw_inline(j);
	jw_begin_object(j);
	jw_key(j, "label");
	label_json(j, &ph);
	jw_key(j, "in");
	jw_begin_array(j);
	for (size_t i = 0; i < compare_recordings(d->c); i++) {
		const struct compared *c = &row->in[i];

		if (!c->count) {
			jw_null(j);
			continue;
		}
		jw_begin_object(j);
		put_u64(j, "count", c->count);
		put_bool(j, "exact", c->exact);
		for (int m = 0; m < MEASURES; m++)
			put_spread(j, &row->in[0], c, (enum measure)m, !i);
		jw_end_object(j);
	}
	jw_end_array(j);
	jw_end_object(j);
}

int diff_json(const struct diff *d, FILE *f)
{
	struct jw j;
	int err = jw_open(&j, f);

	if (err)
		return err;
	jw_begin_object(&j);
	put_u64(&j, "format", FORMAT);
	put_text(&j, "peakphase", d->version);
	jw_key(&j, "recordings");
	jw_begin_array(&j);
	for (size_t i = 0; i < compare_recordings(d->c); i++)
		put_recording(&j, d, i);
	jw_end_array(&j);
	jw_key(&j, "labels");
	jw_begin_array(&j);
	for (size_t i = 0; i < d->n && !j.err; i++)
		put_row(&j, d, &d->rows[i]);
	jw_end_array(&j);
	if (d->budgets) {
		jw_key(&j, "budgets");
		budgets_json(&j, d->budgets);
	}
	jw_end_object(&j);
	return jw_close(&j);
}
