/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is listed: the tree of processes with their open phases, or finished phases. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "view/top/view.h"

size_t top_columns(const struct column *out[static TOP_COLUMNS_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < phase_ncolumns && n < TOP_COLUMNS_MAX; i++)
		if (phase_columns[i].title && phase_columns[i].width &&
		    !(phase_columns[i].flags & (COLUMN_MEMBERS | COLUMN_LIMIT | COLUMN_PRINTED)))
			out[n++] = &phase_columns[i];
	return n;
}

size_t top_open(struct top_view *v, const struct board_process *bp)
{
	struct top_list *l = v->list;

	if (l->open_of == bp)
		return l->nopen;
	l->open_of = bp;
	l->nopen = board_open_at(v->b, bp, v->at, v->now, l->open, MOMENT_OPEN_MAX);
	return l->nopen;
}

bool top_is_gone(const struct top_view *v, const struct board_process *bp)
{
	return bp->gone && v->at >= bp->last_ns;
}

void top_process_phase(const struct top_view *v, const struct board_process *bp, struct phase *ph)
{
	const struct process *p = &bp->p;
	bool past = !v->now && v->at < bp->last_ns;
	uint64_t min, max, end = v->at;

	if (bp->gone && bp->last_ns < end)
		end = bp->last_ns;
	memset(ph, 0, sizeof(*ph));
	ph->mm_id = p->mm_id;
	ph->pid = ph->tid = p->pid;
	ph->kind = PH_SPAN;
	ph->ended_by = PH_BY_TRACE;
	ph->start_ns = p->start_ns;
	ph->end_ns = end > p->start_ns ? end : p->start_ns;
	ph->start_bytes = p->baseline_bytes;
	/* As it stood at its death: what its teardown freed was nobody's doing. */
	ph->end_bytes = bp->ended ? p->end_bytes : bp->now;
	ph->peak = p->peak;
	ph->exact = p->exact;
	ph->charge_peak = p->charge_peak;
	ph->limit = p->limit;
	ph->headroom_min = p->headroom_min;
	if (past) {
		ph->end_bytes = board_rss_at(bp, v->at);
		if (p->peak.at_ns > v->at && series_range(&bp->rss, p->start_ns, v->at, &min, &max))
			ph->peak = (struct peak){.bytes = max, .at_ns = v->at};
		ph->exact &= p->peak.at_ns <= v->at;
		return;
	}
	ph->grew_bytes = p->grew_bytes;
	ph->shrank_bytes = p->shrank_bytes;
	for (const struct board_phase *d = bp->phases; d; d = d->older) {
		/* Of the outermost ones only, as far as they are kept. */
		if (!d->ph.depth && d->ph.kind != PH_CHECKPOINT && d->ph.faults_minor != EV_NONE) {
			ph->faults_minor += d->ph.faults_minor;
			ph->faults_major += d->ph.faults_major;
		}
	}
}

/* False: it is not open any more. */
bool top_row_phase(struct top_view *v, const struct top_row *row, struct phase *ph)
{
	size_t n;

	if (row->start_win == TOP_NOW) {
		top_process_phase(v, row->bp, ph);
		return true;
	}
	if (row->start_win >= TOP_SMALL) {
		if (!row->thread)
			return false;
		*ph = (struct phase){.kind = PH_SPAN,
				     .grew_bytes = row->thread->grew,
				     .faults_minor = row->thread->minflt,
				     .faults_major = row->thread->majflt,
				     /* What it did since its last mark is not known. */
				     .exact = row->thread->ended || row->bp->gone};
		return true;
	}
	if (row->done) {
		*ph = row->done->ph;
		return true;
	}
	n = top_open(v, row->bp);
	for (size_t i = 0; i < n; i++)
		if (v->list->open[i].start_win == row->start_win) {
			*ph = v->list->open[i];
			return true;
		}
	return false;
}

/* Larger first, by the column that the rows are sorted by; 0 without one. */
static uint64_t key_of(const struct top_view *v, const struct board_process *bp,
		       const struct phase *ph, const struct column *c)
{
	struct row row = {.run = &v->b->run, .p = &bp->p, .ph = ph, .gone = top_is_gone(v, bp)};
	struct value value;

	if (!c)
		return 0;
	value = c->get(&row);
	if (value.kind == VALUE_U64)
		return value.u;
	if (value.kind == VALUE_I64)
		return (uint64_t)value.i ^ 1ull << 63;
	return 0;
}

static const struct column *sort_column(const struct top_view *v)
{
	const struct column *c[TOP_COLUMNS_MAX];
	size_t n = top_columns(c);

	return v->s->sort && v->s->sort <= n ? c[v->s->sort - 1] : NULL;
}

static bool matches(const struct top_view *v, const char *text)
{
	return !v->s->filter[0] || strcasestr(text, v->s->filter);
}

static bool phase_matches(const struct top_view *v, const struct board_process *bp,
			  const struct phase *ph)
{
	char label[TOP_NAME_MAX];

	if (!v->s->filter[0])
		return true;
	top_phase_name(v, bp, ph, label);
	return matches(v, label);
}

static bool process_matches(const struct top_view *v, const struct board_process *bp)
{
	char name[TOP_NAME_MAX];

	if (!v->s->filter[0])
		return true;
	top_process_name(v, bp, name, sizeof(name));
	return matches(v, name);
}

/* What a shell was between fork and exec tells nothing: its successor stands for it. */
static bool overtaken(const struct top_view *v, const struct board_process *bp)
{
	if (!bp->ended || bp->p.exit != PX_EXEC || v->at < bp->last_ns)
		return false;
	for (const struct board_phase *d = bp->phases; d; d = d->older)
		if (d->ph.kind < PH_STARTUP)
			return false;
	return true;
}

static bool listed(struct top_view *v, const struct board_process *bp)
{
	size_t n;

	if (bp->p.start_ns > v->at || overtaken(v, bp))
		return false;
	if (process_matches(v, bp))
		return true;
	n = top_open(v, bp);
	for (size_t i = 0; i < n; i++)
		if (phase_matches(v, bp, &v->list->open[i]))
			return true;
	return false;
}

static int larger_first(const void *x, const void *y)
{
	const struct board_process *a = *(struct board_process *const *)x;
	const struct board_process *b = *(struct board_process *const *)y;

	if (a->key != b->key)
		return a->key < b->key ? 1 : -1;
	if (a->p.start_ns != b->p.start_ns)
		return a->p.start_ns < b->p.start_ns ? -1 : 1;
	return (a->p.mm_id > b->p.mm_id) - (a->p.mm_id < b->p.mm_id);
}

/* The nearest one above that is listed. */
static struct board_process *parent_of(const struct top_view *v, const struct board_process *bp)
{
	uint64_t id = bp->p.parent_mm_id;

	for (int i = 0; i < 64 && id; i++) {
		struct board_process *image = board_find(v->b, id), *parent = image;

		for (int j = 0; j < 64 && parent && !parent->listed && parent->image; j++)
			parent = parent->image;
		if (!parent)
			return NULL;
		if (parent->listed && parent != bp)
			return parent;
		/* Not to be seen, or what bp itself was before its exec: the one above that. */
		id = image->p.parent_mm_id;
	}
	return NULL;
}

static int collect_processes(struct top_view *v)
{
	struct top_list *l = v->list;
	const struct column *c = sort_column(v);
	struct board_process **all;
	struct phase ph;

	top_roll_up(v);
	all = reallocarray(l->processes, v->b->nprocesses + 1, sizeof(*all));
	if (!all)
		return -ENOMEM;
	l->processes = all;
	l->nprocesses = 0;
	for (struct board_process *bp = v->b->processes; bp; bp = bp->hh.next) {
		bp->listed = !bp->small && listed(v, bp);
		bp->child = bp->next = NULL;
		bp->key = 0;
		if (!bp->listed)
			continue;
		if (c) {
			top_process_phase(v, bp, &ph);
			bp->key = key_of(v, bp, &ph, c);
			if (v->s->reverse)
				bp->key = ~bp->key;
		}
		all[l->nprocesses++] = bp;
	}
	qsort(all, l->nprocesses, sizeof(*all), larger_first);
	return 0;
}

static int by_begin(const void *x, const void *y)
{
	const struct phase *a = &((const struct top_row *)x)->done->ph;
	const struct phase *b = &((const struct top_row *)y)->done->ph;

	if (a->start_win != b->start_win)
		return a->start_win < b->start_win ? -1 : 1;
	if (a->end_win != b->end_win)
		return a->end_win > b->end_win ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

static int add_ended(struct top_view *v, struct board_process *bp, unsigned int depth)
{
	size_t first = v->list->n;
	int err = 0;

	for (const struct board_phase *d = bp->phases; d && !err; d = d->older)
		if (phase_matches(v, bp, &d->ph))
			err = top_add_row(v, (struct top_row){.bp = bp,
							      .done = d,
							      .start_win = d->ph.start_win,
							      .depth = depth + d->ph.depth});
	if (!err && v->list->n > first)
		qsort(v->list->rows + first, v->list->n - first, sizeof(struct top_row), by_begin);
	return err;
}

static int add_process(struct top_view *v, struct board_process *bp, unsigned int depth)
{
	bool whole = process_matches(v, bp);
	size_t n = top_open(v, bp);
	int err = top_add_row(v, (struct top_row){.bp = bp, .start_win = TOP_NOW, .depth = depth});

	for (size_t i = 0; i < n && !err; i++) {
		const struct phase *ph = &v->list->open[i];

		if (whole || phase_matches(v, bp, ph))
			err = top_add_row(v, (struct top_row){.bp = bp,
							      .start_win = ph->start_win,
							      .depth = depth + 1 + ph->depth});
	}
	/* Nothing is open any more: what it was is shown in its place. */
	if (v->b->over && v->now && !n && !err)
		err = add_ended(v, bp, depth + 1);
	for (struct board_process *child = bp->child; child && !err; child = child->next)
		err = add_process(v, child, depth + 1);
	return err;
}

static int build_tree(struct top_view *v)
{
	struct top_list *l = v->list;
	struct board_process *roots = NULL;
	int err = collect_processes(v);

	if (err)
		return err;
	for (size_t i = l->nprocesses; i--;) {
		struct board_process *bp = l->processes[i];
		struct board_process *parent = v->s->flat ? NULL : parent_of(v, bp);
		struct board_process **list = parent ? &parent->child : &roots;

		bp->next = *list;
		*list = bp;
	}
	for (struct board_process *bp = roots; bp && !err; bp = bp->next)
		err = add_process(v, bp, 0);
	if (!err && l->small)
		err =
		    top_add_row(v, (struct top_row){.bp = v->b->processes, .start_win = TOP_SMALL});
	return err;
}

static int row_by_key(const void *x, const void *y)
{
	const struct top_row *a = x, *b = y;

	if (a->key != b->key)
		return a->key < b->key ? 1 : -1;
	return (a->order > b->order) - (a->order < b->order);
}

static int add_done(struct top_view *v, const struct board_phase *d, struct board_process *bp,
		    const struct column *c)
{
	uint64_t key;

	if (d->drop || !bp || (!v->now && d->ph.end_ns > v->at) || !phase_matches(v, bp, &d->ph))
		return 0;
	key = c ? key_of(v, bp, &d->ph, c) : d->ph.peak.bytes;
	return top_add_row(v, (struct top_row){.bp = bp,
					       .done = d,
					       .start_win = d->ph.start_win,
					       .key = v->s->reverse ? ~key : key});
}

/* Finished phases, by peak unless asked otherwise. */
static int build_done(struct top_view *v)
{
	const struct column *c = sort_column(v);
	struct board_process *bp = NULL;
	size_t first;
	int err = 0;

	if (v->focus) {
		size_t n = top_open(v, v->focus);

		for (size_t i = 0; i < n && !err; i++)
			if (phase_matches(v, v->focus, &v->list->open[i]))
				err = top_add_row(
				    v, (struct top_row){.bp = v->focus,
							.start_win = v->list->open[i].start_win,
							.depth = v->list->open[i].depth});
	}
	if (v->focus && !err)
		err = top_add_threads(v, false);
	first = v->list->n;
	for (const struct board_phase *d = v->focus ? v->focus->phases : NULL; d && !err;
	     d = d->older)
		err = add_done(v, d, v->focus, c);
	for (size_t i = 0; i < v->b->ndone && !v->focus && !err; i++) {
		const struct board_phase *d = v->b->done[i];

		if (!bp || bp->p.mm_id != d->ph.mm_id)
			bp = board_find(v->b, d->ph.mm_id);
		err = add_done(v, d, bp, c);
	}
	if (!err && v->list->n > first)
		qsort(v->list->rows + first, v->list->n - first, sizeof(struct top_row),
		      row_by_key);
	return err;
}

static struct top_item item_of(const struct top_row *row)
{
	return (struct top_item){.mm_id = row->start_win == TOP_SMALL ? 0 : row->bp->p.mm_id,
				 .start_win = row->start_win,
				 .id = row->done     ? row->done->ph.id
				       : row->thread ? row->thread->tid
						     : 0};
}

int top_list_build(struct top_view *v)
{
	struct top_list *l = v->list;
	enum top_page page = top_place(v->s)->page;
	int err = 0;

	l->n = l->threads_left = l->small = 0;
	l->open_of = NULL;
	if (page == TOP_TREE)
		err = build_tree(v);
	else if (page == TOP_DONE || page == TOP_PROCESS)
		err = build_done(v);
	else if (page == TOP_THREADS)
		err = top_add_threads(v, true);
	for (size_t i = 0; i < l->n; i++)
		l->items[i] = item_of(&l->rows[i]);
	return err;
}
