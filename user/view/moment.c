/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "view/moment.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int add(struct moment *m, const struct moment_row *row)
{
	if (m->n == m->cap) {
		size_t cap = m->cap ? 2 * m->cap : 16;
		struct moment_row *more = realloc(m->rows, cap * sizeof(*more));

		if (!more)
			return -ENOMEM;
		m->rows = more;
		m->cap = cap;
	}
	m->rows[m->n++] = *row;
	return 0;
}

static int add_share(void *arg, const struct job_share *s)
{
	return add(arg, &(struct moment_row){.mm_id = s->mm_id, .bytes = s->bytes});
}

static void name(struct moment_row *row, const struct process *p)
{
	row->mm_id = p->mm_id;
	row->start_ns = p->start_ns;
	row->pid = p->pid;
	memcpy(row->comm, p->comm, sizeof(row->comm));
}

static int by_id(const void *a, const void *b)
{
	const struct moment_row *x = a, *y = b;

	return (x->mm_id > y->mm_id) - (x->mm_id < y->mm_id);
}

static int name_share(void *arg, const struct process *p)
{
	struct moment *m = arg;
	struct moment_row key = {.mm_id = p->mm_id}, *row;

	row = m->n ? bsearch(&key, m->rows, m->n, sizeof(key), by_id) : NULL;
	if (row)
		name(row, p);
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct moment_row *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return by_id(a, b);
}

static void sort(struct moment *m, int (*order)(const void *, const void *))
{
	if (m->n)
		qsort(m->rows, m->n, sizeof(*m->rows), order);
}

int moment_of_sum(struct moment *m, const struct report_source *src)
{
	int err;

	*m = (struct moment){.at_ns = src->run->job.sum_at_ns};
	if (!src->run->job.most_live)
		return 0;
	err = src->each_share(src->ctx, add_share, m);
	sort(m, by_id);
	if (!err)
		err = src->each_process(src->ctx, name_share, m);
	sort(m, by_start);
	return err;
}

static int add_living(void *arg, const struct process *p)
{
	struct moment *m = arg;
	struct moment_row row = {.bytes = EV_NONE};

	if (p->start_ns > m->at_ns || (p->end_ns && p->end_ns < m->at_ns))
		return 0;
	name(&row, p);
	return add(m, &row);
}

int moment_of_charge(struct moment *m, const struct report_source *src)
{
	*m = (struct moment){.at_ns = src->run->job.charge_at_ns};
	if (!src->run->job.most_live || src->run->job.charge_bytes == EV_NONE)
		return 0;
	return src->each_process(src->ctx, add_living, m);
}

void moment_free(struct moment *m)
{
	free(m->rows);
	*m = (struct moment){0};
}

static int largest_first(const void *a, const void *b)
{
	const struct moment_row *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	return by_start(a, b);
}

void moment_sort(struct moment *m)
{
	sort(m, largest_first);
}

/* At the very beginning of a process its first phase is open. */
int moment_phases(const struct moment *m, const struct moment_row *row,
		  const struct report_source *src, report_phase_fn fn, void *arg)
{
	uint64_t ns = m->at_ns > row->start_ns ? m->at_ns : row->start_ns + 1;

	return src->phases_at_time(src->ctx, row->mm_id, ns, fn, arg);
}

bool moment_sum_bounded(const struct report_run *run)
{
	return run->job.most_live && !run->losses[PP_LOSS_SAMPLES] && !run->losses[PP_LOSS_EDGES] &&
	       !run->losses[PP_LOSS_MMS] && !run->missed;
}
