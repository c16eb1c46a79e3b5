/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "view/around.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct cgroup *cgroup_of(const struct around *a, uint64_t id)
{
	for (size_t i = 0; i < a->ncgroups; i++)
		if (a->cgroups[i].id == id)
			return &a->cgroups[i];
	return NULL;
}

static int add_cgroup(struct around *a, uint64_t id)
{
	int known;

	if (!id || a->ncgroups == AROUND_CGROUPS_MAX || cgroup_of(a, id))
		return 0;
	if (!(a->ncgroups & (a->ncgroups - 1))) {
		size_t cap = a->ncgroups ? 2 * a->ncgroups : 1;
		struct cgroup *more = realloc(a->cgroups, cap * sizeof(*more));

		if (!more)
			return -ENOMEM;
		a->cgroups = more;
	}
	known = a->src->cgroup(a->src->ctx, id, &a->cgroups[a->ncgroups]);
	if (known <= 0)
		a->cgroups[a->ncgroups] = (struct cgroup){0};
	a->cgroups[a->ncgroups++].id = id;
	return known < 0 ? known : 0;
}

static int add(void *arg, const struct process *p)
{
	struct around *a = arg;
	struct around_row *row;

	if (a->n == a->cap) {
		size_t cap = a->cap ? 2 * a->cap : 16;
		struct around_row *more = realloc(a->rows, cap * sizeof(*more));

		if (!more)
			return -ENOMEM;
		a->rows = more;
		a->cap = cap;
	}
	row = &a->rows[a->n++];
	*row = (struct around_row){
	    .mm_id = p->mm_id,
	    .start_ns = p->start_ns,
	    .end_ns = p->end_ns,
	    .cgroup_id = p->cgroup_id,
	    .grew_most = p->end_ns ? p->grew_bytes : UINT64_MAX,
	    .pid = p->pid,
	    .ns_pid = p->ns_pid,
	};
	memcpy(row->comm, p->comm, sizeof(row->comm));
	return add_cgroup(a, p->cgroup_id);
}

static int by_id(const void *a, const void *b)
{
	const struct around_row *x = a, *y = b;

	return (x->mm_id > y->mm_id) - (x->mm_id < y->mm_id);
}

const struct around_row *around_find(const struct around *a, uint64_t mm_id)
{
	const struct around_row key = {.mm_id = mm_id};

	return a->n ? bsearch(&key, a->rows, a->n, sizeof(key), by_id) : NULL;
}

static int load(struct around *a, const struct report_source *src, const struct process *p,
		bool all)
{
	int err = 0;

	*a = (struct around){.src = src};
	if (all)
		err = src->each_process(src->ctx, add, a);
	if (a->n)
		qsort(a->rows, a->n, sizeof(*a->rows), by_id);
	if (err || !p || around_find(a, p->mm_id))
		return err;
	err = add(a, p);
	if (a->n)
		qsort(a->rows, a->n, sizeof(*a->rows), by_id);
	return err;
}

int around_load(struct around *a, const struct report_source *src)
{
	return load(a, src, NULL, true);
}

int around_load_of(struct around *a, const struct report_source *src, const struct process *p,
		   bool all)
{
	return load(a, src, p, all);
}

void around_free(struct around *a)
{
	free(a->rows);
	free(a->cgroups);
	*a = (struct around){0};
}

struct verdict_who around_who(const struct around *a, const struct verdict *v)
{
	const struct around_row *row = v->traced ? around_find(a, v->mm_id) : NULL;

	if (!row)
		return (struct verdict_who){0};
	return (struct verdict_who){row->ns_pid, cgroup_of(a, row->cgroup_id)};
}

static bool was_there(const struct around_row *row, const struct verdict *v)
{
	return row->start_ns <= v->at_ns && (!row->end_ns || row->end_ns >= v->at_ns);
}

/* "/a/b" lies in "/a", and so do "/a" and, in "/", everything. */
static bool lies_in(const char *path, const char *top, size_t len)
{
	if (len && top[len - 1] == '/')
		len--;
	return !strncmp(path, top, len) && (path[len] == '/' || !path[len]);
}

/* Without a limit it was the machine's memory. A path that was cut does not begin with a slash. */
static bool shares(const struct around *a, const struct around_row *row, const struct verdict *v)
{
	const struct cgroup *c = cgroup_of(a, row->cgroup_id);

	if (row->mm_id == v->mm_id || v->limit == EV_NONE)
		return true;
	if (c && c->path[0] && v->cgroup_len && v->cgroup_len <= EV_CGROUP_MAX &&
	    v->cgroup[0] == '/')
		return lies_in(c->path, v->cgroup, v->cgroup_len);
	return row->cgroup_id && row->cgroup_id == v->cgroup_id;
}

int around_each_other(const struct around *a, const struct verdict *v,
		      int (*fn)(void *, const struct around_row *), void *arg)
{
	int err = 0;

	for (size_t i = 0; i < a->n && !err; i++) {
		const struct around_row *row = &a->rows[i];

		if (row->mm_id != v->mm_id && was_there(row, v) && shares(a, row, v))
			err = fn(arg, row);
	}
	return err;
}
