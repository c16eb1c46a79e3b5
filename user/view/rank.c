/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "view/rank.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "view/columns.h"
#include "view/put.h"

static const char *const names[] = {
    [RANK_TOTAL] = "total", [RANK_ANON] = "anon", [RANK_FILE] = "file"};

enum rank_by rank_named(const char *name)
{
	for (int by = RANK_TOTAL; by <= RANK_FILE; by++)
		if (!strcmp(name, names[by]))
			return (enum rank_by)by;
	return RANK_NONE;
}

uint64_t rank_bytes(const struct phase *ph, enum rank_by by)
{
	switch (by) {
	case RANK_ANON:
		return ph->anon_peak;
	case RANK_FILE:
		return ph->file_peak;
	case RANK_TOTAL:
	case RANK_NONE:
		break;
	}
	return ph->peak.bytes;
}

/* Of one process's phases that needed as much, the inner one before what is around it. */
static bool goes_before(const struct phase *a, const struct phase *b, enum rank_by by)
{
	uint64_t x = rank_bytes(a, by), y = rank_bytes(b, by);

	if (x != y)
		return x > y;
	return a->mm_id == b->mm_id && a->start_win >= b->start_win && a->end_win <= b->end_win;
}

struct pass {
	struct ranking *r;
	const struct report_source *src;
};

static int add_phase(void *arg, const struct phase *ph)
{
	struct ranking *r = ((struct pass *)arg)->r;
	size_t at = r->n;

	while (at && goes_before(ph, &r->rows[at - 1], r->by))
		at--;
	if (r->n == RANK_MAX)
		r->more++;
	if (at == RANK_MAX)
		return 0;
	if (r->n < RANK_MAX)
		r->n++;
	memmove(&r->rows[at + 1], &r->rows[at], (r->n - at - 1) * sizeof(r->rows[0]));
	r->rows[at] = *ph;
	r->rows[at].where = NULL;
	r->rows[at].nwhere = 0;
	return 0;
}

static int add_process(void *arg, const struct process *p)
{
	struct pass *pass = arg;

	return pass->src->each_phase(pass->src->ctx, p->mm_id, add_phase, pass);
}

int rank_phases(struct ranking **out, const struct report_source *src, enum rank_by by)
{
	struct pass pass = {.r = calloc(1, sizeof(**out)), .src = src};

	if (!pass.r)
		return -ENOMEM;
	pass.r->by = by;
	*out = pass.r;
	return src->each_process(src->ctx, add_process, &pass);
}

void rank_json(struct jw *j, const struct ranking *r)
{
	jw_begin_object(j);
	put_text(j, "by", names[r->by]);
	put_u64(j, "more", r->more);
	jw_key(j, "rows");
	jw_begin_array(j);
	for (size_t i = 0; i < r->n; i++) {
		const struct phase *ph = &r->rows[i];

		jw_inline(j);
		jw_begin_object(j);
		jw_key(j, "label");
		label_json(j, ph);
		put_u64(j, "pid", ph->pid);
		put_u64(j, "start_ns", ph->start_ns);
		put_u64(j, "bytes", rank_bytes(ph, r->by));
		put_bool(j, "exact", ph->exact);
		jw_end_object(j);
	}
	jw_end_array(j);
	jw_end_object(j);
}
