/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "source/unheard.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SECOND 1000000000ull
/* A program maps its files within an exec, its base comes at the end of that. */
#define WAIT_NS SECOND
#define FILES_MAX 4096u

/* An mm that is or was traced: who ran on it, and when. */
struct life {
	uint64_t mm_id, parent_mm_id;
	uint64_t begin_ns, end_ns; /* end: 0 while it goes on */
	uint32_t pid;
	bool forked;
};

struct unheards {
	struct life *life; /* by begin */
	size_t n, cap;
	uint64_t pruned_ns;
	struct unheard_file *file;
	size_t nfiles, cap_files;
};

struct unheards *unheards_new(void)
{
	return calloc(1, sizeof(struct unheards));
}

void unheards_free(struct unheards **u)
{
	if (!*u)
		return;
	free((*u)->life);
	free((*u)->file);
	free(*u);
	*u = NULL;
}

static int grow(void **array, size_t *cap, size_t n, size_t each)
{
	size_t more = *cap ? 2 * *cap : 64;
	void *p;

	if (n < *cap)
		return 0;
	p = reallocarray(*array, more, each);
	if (!p)
		return -ENOMEM;
	*array = p;
	*cap = more;
	return 0;
}

/* Who ended long ago can have no file that is still to be told. */
static void prune(struct unheards *u, uint64_t now_ns)
{
	size_t kept = 0;

	if (now_ns < u->pruned_ns + WAIT_NS)
		return;
	u->pruned_ns = now_ns;
	for (size_t i = 0; i < u->n; i++) {
		const struct life *l = &u->life[i];

		if (!l->end_ns || l->end_ns + 4 * WAIT_NS > now_ns)
			u->life[kept++] = *l;
	}
	u->n = kept;
}

static int begin(struct unheards *u, const struct event *ev)
{
	int err = grow((void **)&u->life, &u->cap, u->n, sizeof(*u->life));

	if (err)
		return err;
	u->life[u->n++] = (struct life){
	    .mm_id = ev->mm_id,
	    .parent_mm_id = ev->edge.parent_mm_id,
	    .begin_ns = ev->time_ns,
	    .pid = ev->pid,
	    .forked = ev->edge.reason == PP_BY_FORK,
	};
	return 0;
}

int unheards_event(struct unheards *u, const struct event *ev)
{
	if (ev->kind == PP_BASE) {
		prune(u, ev->time_ns);
		return begin(u, ev);
	}
	if (ev->kind != PP_EXIT && ev->kind != PP_EXEC)
		return 0;
	for (size_t i = u->n; i-- > 0;) {
		if (u->life[i].mm_id != ev->mm_id)
			continue;
		u->life[i].end_ns = ev->time_ns;
		break;
	}
	return 0;
}

int unheards_file(struct unheards *u, const struct unheard_file *f)
{
	int err;

	if (u->nfiles == FILES_MAX)
		return -ENOSPC;
	err = grow((void **)&u->file, &u->cap_files, u->nfiles, sizeof(*u->file));
	if (err)
		return err;
	u->file[u->nfiles++] = *f;
	return 0;
}

struct emit {
	const struct unheards *u;
	const struct unheard_file *f;
	void (*fn)(void *ctx, const struct unheard *h);
	void *ctx;
};

/* One life that had the file from from_ns on, and the children that got it by fork. */
static void emit_life(const struct emit *e, const struct life *l, uint64_t from_ns)
{
	struct unheard h = {
	    .mm_id = l->mm_id,
	    .pid = l->pid,
	    .from_ns = from_ns > l->begin_ns ? from_ns : l->begin_ns,
	    .to_ns = l->end_ns && l->end_ns < e->f->to_ns ? l->end_ns : e->f->to_ns,
	    .looked = e->f->looked,
	};

	/* Probed before the program of an exec ran its first instruction: nothing is missing. */
	if (h.from_ns >= h.to_ns)
		return;
	memcpy(h.file, e->f->file, sizeof(h.file));
	e->fn(e->ctx, &h);
	/* Children begin after their parents: the walk comes to an end. */
	for (const struct life *c = l + 1; c < e->u->life + e->u->n; c++)
		if (c->forked && c->parent_mm_id == l->mm_id && c->begin_ns >= h.from_ns &&
		    c->begin_ns < h.to_ns)
			emit_life(e, c, c->begin_ns);
}

static const struct life *life_of(const struct unheards *u, const struct unheard_file *f)
{
	for (size_t i = 0; i < u->n; i++) {
		const struct life *l = &u->life[i];

		if (l->pid == f->pid && l->begin_ns >= f->exec_ns &&
		    (!l->end_ns || l->end_ns > f->from_ns))
			return l;
	}
	return NULL;
}

void unheards_resolve(struct unheards *u, uint64_t now_ns, bool last,
		      void (*fn)(void *ctx, const struct unheard *h), void *ctx)
{
	size_t kept = 0;

	for (size_t i = 0; i < u->nfiles; i++) {
		struct unheard_file f = u->file[i];
		const struct life *l = life_of(u, &f);
		/* Forks and ends within its time have been told by then. */
		bool settled = last || now_ns > f.to_ns;

		if (l && settled)
			emit_life(&(struct emit){u, &f, fn, ctx}, l, f.from_ns);
		else if (!last && (l || now_ns < f.to_ns + WAIT_NS))
			u->file[kept++] = f;
	}
	u->nfiles = kept;
}
