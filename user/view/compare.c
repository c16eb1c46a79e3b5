/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "view/compare.h"

#include <errno.h>
#include <stdlib.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct values {
	int64_t *v; /* MEASURES of each phase */
	size_t n, cap;
	bool inexact;
};

struct row {
	UT_hash_handle hh;
	struct compare_row pub;
	struct name *name;
	struct compared *in;
	struct values values[];
};

struct compare {
	size_t n, reading;
	struct answer *answers;
	struct row *table; /* in the order in which they came */
	struct compare_row *rows;
	const struct report_source *src;
};

int compare_new(struct compare **out, size_t recordings)
{
	struct compare *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->n = recordings;
	c->answers = calloc(recordings, sizeof(*c->answers));
	if (!c->answers) {
		free(c);
		return -ENOMEM;
	}
	*out = c;
	return 0;
}

static void row_free(struct row *r, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(r->values[i].v);
	free(r->name);
	free(r->in);
	free(r);
}

void compare_free(struct compare **cp)
{
	struct compare *c = *cp;
	struct row *r, *next;

	if (!c)
		return;
	HASH_ITER (hh, c->table, r, next) {
		HASH_DEL(c->table, r);
		row_free(r, c->n);
	}
	free(c->rows);
	free(c->answers);
	free(c);
	*cp = NULL;
}

static struct row *row_new(struct compare *c, const struct name *name)
{
	struct row *r = calloc(1, sizeof(*r) + c->n * sizeof(r->values[0]));

	if (!r)
		return NULL;
	r->name = malloc(sizeof(*name));
	r->in = calloc(c->n, sizeof(*r->in));
	if (!r->name || !r->in) {
		row_free(r, c->n);
		return NULL;
	}
	memcpy(r->name, name, name_size(name));
	HASH_ADD_KEYPTR(hh, c->table, r->name, name_size(name), r);
	if (!r->hh.tbl) {
		row_free(r, c->n);
		return NULL;
	}
	return r;
}

static struct row *row_find(const struct compare *c, const struct name *name)
{
	struct row *r;

	HASH_FIND(hh, c->table, name, name_size(name), r);
	return r;
}

int64_t measure_of(const struct phase *ph, enum measure m)
{
	switch (m) {
	case OF_PEAK:
		return (int64_t)ph->peak.bytes;
	case OF_GREW:
		return ph->grew_bytes == EV_NONE ? MEASURE_NONE : (int64_t)ph->grew_bytes;
	case OF_KEPT:
		return phase_kept(ph);
	case OF_TIME:
	case MEASURES:
		break;
	}
	return ph->end_ns > ph->start_ns ? (int64_t)(ph->end_ns - ph->start_ns) : 0;
}

static int add_values(struct values *values, const struct phase *ph)
{
	int64_t *v;

	if (values->n == values->cap) {
		size_t cap = values->cap ? 2 * values->cap : 1;

		v = realloc(values->v, cap * MEASURES * sizeof(*v));
		if (!v)
			return -ENOMEM;
		values->v = v;
		values->cap = cap;
	}
	v = &values->v[values->n++ * MEASURES];
	for (int m = 0; m < MEASURES; m++)
		v[m] = measure_of(ph, (enum measure)m);
	values->inexact |= !ph->exact;
	return 0;
}

static int read_phase(void *arg, const struct phase *ph)
{
	struct compare *c = arg;
	struct name name;
	struct row *r;

	name_of(&name, ph);
	r = row_find(c, &name);
	if (!r)
		r = row_new(c, &name);
	return r ? add_values(&r->values[c->reading], ph) : -ENOMEM;
}

static int read_process(void *arg, const struct process *p)
{
	struct compare *c = arg;

	return c->src->each_phase(c->src->ctx, p->mm_id, read_phase, c);
}

int compare_read(struct compare *c, size_t i, const struct report_source *src)
{
	int err = answer_find(&c->answers[i], src);

	if (err)
		return err;
	c->reading = i;
	c->src = src;
	return src->each_process(src->ctx, read_process, c);
}

static int by_value(const void *va, const void *vb)
{
	int64_t a = *(const int64_t *)va, b = *(const int64_t *)vb;

	return a < b ? -1 : a > b;
}

/* Of one measure, brought together in scratch. */
static struct spread spread_of(const struct values *values, enum measure m, int64_t *scratch)
{
	struct spread s = {MEASURE_NONE, MEASURE_NONE, MEASURE_NONE};
	size_t n = 0, half;

	for (size_t i = 0; i < values->n; i++)
		if (values->v[i * MEASURES + m] != MEASURE_NONE)
			scratch[n++] = values->v[i * MEASURES + m];
	if (!n)
		return s;
	half = n / 2;
	qsort(scratch, n, sizeof(*scratch), by_value);
	s.min = scratch[0];
	s.max = scratch[n - 1];
	s.median = scratch[half];
	if (n % 2 == 0)
		s.median = (int64_t)(((__int128)scratch[half - 1] + scratch[half]) >> 1);
	return s;
}

static int sum_up(struct compared *in, struct values *values)
{
	int64_t *scratch;

	in->count = values->n;
	in->exact = !values->inexact;
	if (!values->n)
		return 0;
	scratch = malloc(values->n * sizeof(*scratch));
	if (!scratch)
		return -ENOMEM;
	for (int m = 0; m < MEASURES; m++)
		in->of[m] = spread_of(values, (enum measure)m, scratch);
	free(scratch);
	free(values->v);
	*values = (struct values){0};
	return 0;
}

int compare_end(struct compare *c, const struct compare_row **rows, size_t *n)
{
	struct row *r, *next;
	int err = 0;

	*n = 0;
	c->rows = calloc(HASH_COUNT(c->table) + 1, sizeof(*c->rows));
	if (!c->rows)
		return -ENOMEM;
	HASH_ITER (hh, c->table, r, next) {
		for (size_t i = 0; i < c->n && !err; i++)
			err = sum_up(&r->in[i], &r->values[i]);
		r->pub = (struct compare_row){r->name, r->in};
		c->rows[(*n)++] = r->pub;
	}
	*rows = c->rows;
	return err;
}

size_t compare_recordings(const struct compare *c)
{
	return c->n;
}

const struct answer *compare_answer(const struct compare *c, size_t i)
{
	return &c->answers[i];
}

const struct compare_row *compare_find(const struct compare *c, const struct phase *ph)
{
	struct name name;
	const struct row *r;

	name_of(&name, ph);
	r = row_find(c, &name);
	return r ? &r->pub : NULL;
}

bool compare_permille(int64_t from, int64_t to, int64_t *out)
{
	__int128 n = ((__int128)to - from) * 1000, half = from / 2;

	if (from <= 0)
		return false;
	*out = (int64_t)((n < 0 ? n - half : n + half) / from);
	return true;
}
