/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "model/job.h"

#include <errno.h>
#include <stdlib.h>

#define LAG_NS 1000000000ull
#define STEPS_MAX 16384u /* past that the earliest is folded without waiting: 640 KiB */
#define MIB (1ull << 20)

enum step_kind { STEP_VALUE = 1, STEP_SAMPLE, STEP_MAX, STEP_END };

struct step {
	uint64_t time_ns, order, id, bytes;
	enum step_kind kind;
};

static bool earlier(const struct step *a, const struct step *b)
{
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->order < b->order;
}

static struct step pop(struct job_fold *j)
{
	struct step first = j->steps[0], s = j->steps[--j->nsteps];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < j->nsteps) {
		if (child + 1 < j->nsteps && earlier(&j->steps[child + 1], &j->steps[child]))
			child++;
		if (!earlier(&j->steps[child], &s))
			break;
		j->steps[i] = j->steps[child];
		i = child;
	}
	j->steps[i] = s;
	return first;
}

static int push(struct job_fold *j, struct step s)
{
	size_t i = j->nsteps;

	if (i == j->cap) {
		size_t cap = j->cap ? 2 * j->cap : 256;
		struct step *more = realloc(j->steps, cap * sizeof(*more));

		if (!more)
			return -ENOMEM;
		j->steps = more;
		j->cap = cap;
	}
	s.order = ++j->order;
	for (; i && earlier(&s, &j->steps[(i - 1) / 2]); i = (i - 1) / 2)
		j->steps[i] = j->steps[(i - 1) / 2];
	j->steps[i] = s;
	j->nsteps++;
	return 0;
}

static struct member *find(struct job_fold *j, uint64_t id)
{
	struct member *m;

	HASH_FIND(hh, j->members, &id, sizeof(id), m);
	return m;
}

/* A sample is due at 1 MiB or 1 % of what is then, whichever is larger: 1/99 of what was. */
static uint64_t slack_of(const struct member *m)
{
	uint64_t due = m->sampled / 99 > MIB ? m->sampled / 99 : MIB;
	uint64_t off = m->value > m->sampled ? m->value - m->sampled : m->sampled - m->value;

	return due + off + m->error;
}

/* What it held at the moment of the largest sum. */
static uint64_t share_of(const struct job_fold *j, const struct member *m)
{
	return m->version == j->version ? m->then : m->value;
}

static void drop_gone(struct job_fold *j)
{
	while (j->gone) {
		struct member *m = j->gone;

		j->gone = m->next;
		free(m);
	}
}

/* sum is the largest so far. */
static void take(struct job_fold *j, uint64_t sum, uint64_t ns)
{
	j->best.sum_bytes = sum;
	j->best.sum_at_ns = ns;
	j->version++;
	drop_gone(j);
}

/* m holds this much from now on; before that changes anything, what it held is kept. */
static void set(struct job_fold *j, struct member *m, uint64_t bytes, uint64_t slack)
{
	if (m->version != j->version) {
		m->then = m->value;
		m->version = j->version;
	}
	j->sum += bytes - m->value;
	j->slack += slack - m->slack;
	m->value = bytes;
	m->slack = slack;
}

static void changed(struct job_fold *j, uint64_t id, uint64_t ns)
{
	if (id != j->last_id) {
		j->other_ns = j->last_ns;
		j->last_id = id;
	}
	j->last_ns = ns;
}

static void leave(struct job_fold *j, struct member *m)
{
	set(j, m, 0, 0);
	j->live -= m->live;
	HASH_DEL(j->members, m);
	if (!share_of(j, m)) {
		free(m);
		return;
	}
	m->next = j->gone;
	j->gone = m;
}

/*
 * The maximum of a window, of one instant, told late when the window was long: it counts if what
 * the others held then is what they hold now.
 */
static void fold_max(struct job_fold *j, struct member *m, const struct step *s)
{
	uint64_t others_ns = j->last_id == m->id ? j->other_ns : j->last_ns;
	uint64_t sum = j->sum - m->value + s->bytes;

	if (s->time_ns < others_ns || sum <= j->best.sum_bytes)
		return;
	take(j, sum, s->time_ns);
	if (sum + j->slack - m->slack > j->upper)
		j->upper = sum + j->slack - m->slack;
	m->then = s->bytes;
	m->version = j->version;
}

static void fold(struct job_fold *j, const struct step *s)
{
	struct member *m = find(j, s->id);

	/* Ended, and this comes after its end. */
	if (!m)
		return;
	if (s->kind == STEP_MAX) {
		if (m->live)
			fold_max(j, m, s);
		return;
	}
	if (s->time_ns > j->done_ns)
		j->done_ns = s->time_ns;
	if (!m->live) {
		m->live = true;
		m->sampled = s->bytes;
		if (++j->live > j->most_live)
			j->most_live = j->live;
	}
	if (s->kind == STEP_SAMPLE)
		m->sampled = s->bytes;
	set(j, m, s->bytes, 0);
	m->slack = slack_of(m);
	j->slack += m->slack;
	changed(j, m->id, j->done_ns);
	if (j->sum > j->best.sum_bytes)
		take(j, j->sum, j->done_ns);
	if (j->sum + j->slack > j->upper)
		j->upper = j->sum + j->slack;
	if (s->kind == STEP_END)
		leave(j, m);
}

static void fold_first(struct job_fold *j)
{
	struct step s = pop(j);

	fold(j, &s);
}

static int hold(struct job_fold *j, struct step s)
{
	int err;

	if (j->nsteps == STEPS_MAX)
		fold_first(j);
	err = push(j, s);
	if (s.time_ns > j->newest_ns)
		j->newest_ns = s.time_ns;
	while (!err && j->nsteps && j->newest_ns - j->steps[0].time_ns > LAG_NS)
		fold_first(j);
	return err;
}

static struct member *join(struct job_fold *j, const struct event *ev)
{
	struct member *m = calloc(1, sizeof(*m));
	uint32_t threads = ev->edge.threads ? ev->edge.threads : 1;

	if (!m)
		return NULL;
	m->id = ev->mm_id;
	m->told = EV_NONE;
	m->error = j->error_per_thread * threads;
	HASH_ADD(hh, j->members, id, sizeof(m->id), m);
	if (m->hh.tbl)
		return m;
	free(m);
	return NULL;
}

static void see_charge(struct job_fold *j, const struct event *ev, uint64_t bytes, uint64_t ns)
{
	struct job *b = &j->best;

	if (bytes == EV_NONE || (b->charge_bytes != EV_NONE && bytes <= b->charge_bytes))
		return;
	b->charge_bytes = bytes;
	b->charge_at_ns = ns && ns < ev->time_ns ? ns : ev->time_ns;
	b->charge_mm_id = ev->mm_id;
}

static int feed_edge(struct job_fold *j, const struct event *ev)
{
	const struct ev_window *w = &ev->edge.win;
	struct member *m = find(j, ev->mm_id);
	struct step s = {.time_ns = ev->time_ns, .id = ev->mm_id, .bytes = ev_rss(&ev->edge.now)};
	struct step max = {
	    .time_ns = w->max_at_ns, .id = ev->mm_id, .bytes = w->max, .kind = STEP_MAX};
	int err = 0;

	see_charge(j, ev, w->charge_max, w->charge_max_at_ns);
	see_charge(j, ev, ev->edge.charge, ev->time_ns);
	if (!m)
		m = join(j, ev);
	if (!m)
		return -ENOMEM;
	if (m->ending)
		return 0;
	/* Marks of a process at rest. A sample in between has a bound that holds after it, too. */
	m->ending = ev->kind == PP_EXIT || ev->kind == PP_EXEC || ev->kind == PP_DETACH;
	if (!m->ending && m->told == s.bytes && w->max <= s.bytes)
		return 0;
	m->told = s.bytes;
	s.kind = m->ending ? STEP_END : STEP_VALUE;
	/* A base's window is none of the process's. */
	if (ev->kind != PP_BASE && w->max > s.bytes && w->max_at_ns)
		err = hold(j, max);
	return err ? err : hold(j, s);
}

static int feed_sample(struct job_fold *j, const struct event *ev)
{
	see_charge(j, ev, ev->sample.charge, ev->time_ns);
	return hold(j, (struct step){.time_ns = ev->time_ns,
				     .id = ev->mm_id,
				     .bytes = ev_rss(&ev->sample.now),
				     .kind = STEP_SAMPLE});
}

void job_init(struct job_fold *j, uint64_t error_per_thread)
{
	*j = (struct job_fold){
	    .error_per_thread = error_per_thread, .version = 1, .best.charge_bytes = EV_NONE};
}

int job_feed(struct job_fold *j, const struct event *ev)
{
	return event_is_edge(ev->kind) ? feed_edge(j, ev) : feed_sample(j, ev);
}

static int largest_first(const void *a, const void *b)
{
	const struct job_share *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	return (x->mm_id > y->mm_id) - (x->mm_id < y->mm_id);
}

static void add_share(struct job_fold *j, const struct member *m, struct job *out)
{
	uint64_t bytes = share_of(j, m);

	if (bytes)
		j->shares[out->nshares++] = (struct job_share){m->id, bytes};
}

int job_finish(struct job_fold *j, struct job *out)
{
	size_t n = 1 + HASH_COUNT(j->members);

	while (j->nsteps)
		fold_first(j);
	for (const struct member *m = j->gone; m; m = m->next)
		n++;
	free(j->shares);
	j->shares = calloc(n, sizeof(*j->shares));
	if (!j->shares)
		return -ENOMEM;
	*out = j->best;
	out->most_live = j->most_live;
	/* Alone, a process is known to the page: its windows tell. */
	out->sum_error_bytes = j->most_live > 1 ? j->upper - j->best.sum_bytes : 0;
	for (const struct member *m = j->members; m; m = m->hh.next)
		add_share(j, m, out);
	for (const struct member *m = j->gone; m; m = m->next)
		add_share(j, m, out);
	qsort(j->shares, out->nshares, sizeof(*j->shares), largest_first);
	out->shares = j->shares;
	return 0;
}

void job_free(struct job_fold *j)
{
	struct member *m, *next;

	HASH_ITER (hh, j->members, m, next) {
		HASH_DEL(j->members, m);
		free(m);
	}
	drop_gone(j);
	free(j->steps);
	free(j->shares);
	*j = (struct job_fold){0};
}
