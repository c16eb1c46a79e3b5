/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "view/top/board.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RUN_BUCKETS 8192u

int board_init(struct board *b)
{
	memset(b, 0, sizeof(*b));
	b->charge_peak = EV_NONE;
	b->status = -1;
	series_init(&b->rss, 0, RUN_BUCKETS);
	return -pthread_mutex_init(&b->lock, NULL);
}

static void free_process(struct board *b, struct board_process *bp)
{
	HASH_DEL(b->processes, bp);
	b->nprocesses--;
	series_free(&bp->rss);
	threads_free(&bp->threads, &b->nthreads);
	free(bp);
}

void board_free(struct board *b)
{
	while (b->processes)
		free_process(b, b->processes);
	for (size_t i = 0; i < b->ndone; i++)
		free(b->done[i]);
	free(b->done);
	free(b->verdicts);
	board_cgroups_free(b);
	series_free(&b->rss);
	pthread_mutex_destroy(&b->lock);
	memset(b, 0, sizeof(*b));
}

void board_lock(struct board *b)
{
	pthread_mutex_lock(&b->lock);
}

bool board_lock_for(struct board *b, unsigned int ms)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += ms / 1000;
	until.tv_nsec += (long)(ms % 1000) * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	return !pthread_mutex_clocklock(&b->lock, CLOCK_MONOTONIC, &until);
}

void board_unlock(struct board *b)
{
	pthread_mutex_unlock(&b->lock);
}

struct board_process *board_find(const struct board *b, uint64_t mm_id)
{
	struct board_process *bp;

	HASH_FIND(hh, b->processes, &mm_id, sizeof(mm_id), bp);
	return bp;
}

/* Buckets of a process's curve: fewer, the more processes there are, so that all of them fit. */
static size_t buckets(const struct board *b)
{
	return b->nprocesses < 16 ? 8192 : b->nprocesses < 128 ? 1024 : 256;
}

static int by_peak(const void *x, const void *y)
{
	const struct board_process *a = *(struct board_process *const *)x;
	const struct board_process *b = *(struct board_process *const *)y;

	return (a->p.peak.bytes > b->p.peak.bytes) - (a->p.peak.bytes < b->p.peak.bytes);
}

static void drop_phases(struct board *b)
{
	size_t kept = 0;

	for (struct board_process *bp = b->processes; bp; bp = bp->hh.next)
		bp->phases = NULL;
	for (size_t i = 0; i < b->ndone; i++) {
		struct board_phase *ph = b->done[i];
		struct board_process *bp = board_find(b, ph->ph.mm_id);

		if (ph->drop || !bp || bp->drop) {
			free(ph);
			continue;
		}
		ph->older = bp->phases;
		bp->phases = ph;
		b->done[kept++] = ph;
	}
	b->ndone = kept;
	b->ncovered = 0;
	b->changes++;
}

/* Half of those that have ended and are not the peak's, the smallest. */
static void drop_processes(struct board *b)
{
	struct board_process **all = calloc(b->nprocesses, sizeof(*all)), *bp, *tmp;
	size_t n = 0;

	if (!all)
		return;
	for (bp = b->processes; bp; bp = bp->hh.next)
		if (bp->ended && bp->p.mm_id != b->peak.mm_id)
			all[n++] = bp;
	qsort(all, n, sizeof(*all), by_peak);
	for (size_t i = 0; i < (n + 1) / 2; i++)
		all[i]->drop = true;
	free(all);
	drop_phases(b);
	for (bp = b->processes; bp; bp = bp->hh.next)
		if (bp->image && bp->image->drop)
			bp->image = NULL;
	HASH_ITER (hh, b->processes, bp, tmp) {
		if (!bp->drop)
			continue;
		b->dropped_processes++;
		free_process(b, bp);
	}
}

/* Its former image has just ended by exec: among the last to end. */
static bool link_image(struct board *b, struct board_process *bp)
{
	struct board_process *last =
	    b->processes ? ELMT_FROM_HH(b->processes->hh.tbl, b->processes->hh.tbl->tail) : NULL;

	for (int i = 0; last && i < 256; i++, last = last->hh.prev)
		if (last != bp && last->p.pid == bp->p.pid && last->p.exit == PX_EXEC &&
		    !last->image) {
			last->image = bp;
			return true;
		}
	return false;
}

void board_process_begun(struct board *b, const struct process *p)
{
	struct board_process *bp = board_find(b, p->mm_id);

	if (bp) { /* its name came late */
		bp->p = *p;
		return;
	}
	if (b->nprocesses >= BOARD_PROCESSES_MAX)
		drop_processes(b);
	bp = calloc(1, sizeof(*bp));
	if (!bp)
		return;
	bp->p = *p;
	bp->charge = bp->limit = bp->headroom = EV_NONE;
	bp->last_ns = p->start_ns;
	series_init(&bp->rss, p->start_ns, buckets(b));
	HASH_ADD(hh, b->processes, p.mm_id, sizeof(bp->p.mm_id), bp);
	if (!bp->hh.tbl) {
		free(bp);
		return;
	}
	if (!b->begun) {
		b->first_ns = p->start_ns;
		b->rss.t0 = p->start_ns;
	}
	b->nprocesses++;
	b->live++;
	/* What a process became by exec is the same process. */
	if (p->reason != PP_BY_EXEC || !link_image(b, bp))
		b->begun++;
}

void board_process_ended(struct board *b, const struct process *p)
{
	struct board_process *bp = board_find(b, p->mm_id);

	if (!bp || bp->ended)
		return;
	bp->p = *p;
	bp->ended = true;
	if (p->end_ns > bp->last_ns)
		bp->last_ns = p->end_ns;
	b->live--;
}

void board_process_revised(struct board *b, const struct process *p)
{
	struct board_process *bp = board_find(b, p->mm_id);

	if (bp)
		bp->p = *p;
}

/* One that comes again corrects what was said; of too many the oldest goes. */
void board_verdict(struct board *b, const struct verdict *v)
{
	if (!b->verdicts)
		b->verdicts = calloc(BOARD_VERDICTS_MAX, sizeof(*b->verdicts));
	if (!b->verdicts)
		return;
	for (size_t i = 0; i < b->nverdicts; i++)
		if (b->verdicts[i].id == v->id) {
			b->verdicts[i] = *v;
			return;
		}
	if (b->nverdicts == BOARD_VERDICTS_MAX)
		memmove(b->verdicts, b->verdicts + 1, --b->nverdicts * sizeof(*b->verdicts));
	b->verdicts[b->nverdicts++] = *v;
}

static int u64_by_value(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;

	return (a > b) - (a < b);
}

/* Half of them, those of the smallest peaks; the peak's own phases stay. */
static void halve_phases(struct board *b)
{
	uint64_t *peaks = calloc(b->ndone, sizeof(*peaks)), median;
	size_t dropped = 0;

	if (!peaks)
		return;
	for (size_t i = 0; i < b->ndone; i++)
		peaks[i] = b->done[i]->ph.peak.bytes;
	qsort(peaks, b->ndone, sizeof(*peaks), u64_by_value);
	median = peaks[b->ndone / 2];
	free(peaks);
	/* Of equals the oldest go first. */
	for (size_t i = 0; i < b->ndone && dropped < b->ndone / 2; i++) {
		b->done[i]->drop = b->done[i]->ph.peak.bytes <= median;
		dropped += b->done[i]->drop;
	}
	drop_phases(b);
}

void board_phase_ended(struct board *b, const struct phase *ph)
{
	struct board_process *bp = board_find(b, ph->mm_id);
	struct board_phase *d;

	b->nphases++;
	b->changes++;
	if (!bp)
		return;
	if (b->ndone == b->room) {
		size_t room = b->room ? 2 * b->room : 256;
		struct board_phase **done = reallocarray(b->done, room, sizeof(*done));

		if (!done)
			return;
		b->done = done;
		b->room = room;
	}
	d = malloc(sizeof(*d));
	if (!d)
		return;
	*d = (struct board_phase){.ph = *ph, .older = bp->phases};
	d->ph.where = NULL;
	d->ph.nwhere = 0;
	bp->phases = d;
	b->done[b->ndone++] = d;
	if (b->ndone < BOARD_PHASES_MAX)
		return;
	if (b->ncovered > b->ndone / 4)
		drop_phases(b);
	else
		halve_phases(b);
}

/*
 * Phases of a process end in the order of end_win. What is covered leaves its process at once and
 * the list of all when there is enough of it.
 */
void board_covered(struct board *b, uint64_t mm_id, uint64_t from_win, uint64_t to_win)
{
	struct board_process *bp = board_find(b, mm_id);
	struct board_phase **at = bp ? &bp->phases : NULL;

	while (at && *at && (*at)->ph.end_win > from_win) {
		struct board_phase *d = *at;

		if (d->ph.kind >= PH_STARTUP && d->ph.start_win >= from_win &&
		    d->ph.end_win <= to_win) {
			d->drop = true;
			*at = d->older;
			b->ncovered++;
			b->changes++;
		} else {
			at = &d->older;
		}
	}
	if (b->ncovered > b->ndone / 4 + 64)
		drop_phases(b);
}

static void job_touch(struct board *b, const struct board_process *bp, uint64_t ns, uint64_t bytes)
{
	uint64_t sum = b->now - bp->now + bytes;

	series_touch(&b->rss, ns, sum);
	/* A sample tells of a maximum after it was reached, an edge when that was. */
	if (sum > b->peak.bytes || !b->peak.mm_id ||
	    (sum == b->peak.bytes && ns < b->peak.at_ns && bp->p.mm_id == b->peak.mm_id))
		b->peak = (struct board_peak){sum, ns, bp->p.mm_id};
}

static void touch(struct board *b, struct board_process *bp, uint64_t ns, uint64_t bytes)
{
	series_touch(&bp->rss, ns, bytes);
	job_touch(b, bp, ns, bytes);
}

static void put(struct board *b, struct board_process *bp, uint64_t ns,
		const struct ev_members *members)
{
	uint64_t bytes = ev_rss(members);

	job_touch(b, bp, ns, bytes);
	b->now = b->now - bp->now + bytes;
	bp->now = bytes;
	bp->members = *members;
	series_put(&bp->rss, ns, bytes);
	series_put(&b->rss, ns, b->now);
}

static void set_charge(struct board *b, struct board_process *bp, uint64_t charge)
{
	if (charge == EV_NONE)
		return;
	bp->charge = charge;
	if (b->charge_peak == EV_NONE || charge > b->charge_peak)
		b->charge_peak = charge;
}

static uint64_t within(uint64_t t, uint64_t from, uint64_t to)
{
	return t < from ? from : t > to ? to : t;
}

static void on_edge(struct board *b, struct board_process *bp, const struct event *ev)
{
	const struct ev_edge *e = &ev->edge;
	const struct ev_window *w = &e->win;

	if (w->max > ev_rss(&e->now))
		touch(b, bp, within(w->max_at_ns, bp->p.start_ns, ev->time_ns), w->max);
	if (bp->win == w->seq && w->min < bp->win_min && w->min < bp->now)
		touch(b, bp, ev->time_ns, w->min);
	put(b, bp, ev->time_ns, &e->now);
	set_charge(b, bp, w->charge_max);
	set_charge(b, bp, e->charge);
	bp->limit = e->limit;
	bp->headroom = e->limit == EV_NONE || e->limiter == EV_NONE ? EV_NONE
		       : e->limit > e->limiter			    ? e->limit - e->limiter
								    : 0;
	bp->win = w->seq + 1;
	bp->win_max = 0;
	bp->win_min = EV_NONE;
	if (ev->kind != PP_EXIT && ev->kind != PP_EXEC)
		return;
	bp->gone = true;
	b->now -= bp->now;
	series_put(&b->rss, ev->time_ns, b->now);
}

/* A sample tells the extremes of its window so far: only what is new of them lies before it. */
static void on_sample(struct board *b, struct board_process *bp, const struct event *ev)
{
	const struct ev_sample *s = &ev->sample;
	uint64_t now = ev_rss(&s->now), charge = bp->charge;

	if (s->seq != bp->win) {
		bp->win = s->seq;
		bp->win_max = 0;
		bp->win_min = EV_NONE;
	}
	if (s->max > bp->win_max && s->max > now && s->max > bp->now)
		touch(b, bp, ev->time_ns, s->max);
	if (s->min < bp->win_min && s->min < now && s->min < bp->now)
		touch(b, bp, ev->time_ns, s->min);
	bp->win_max = s->max;
	bp->win_min = s->min;
	put(b, bp, ev->time_ns, &s->now);
	set_charge(b, bp, s->charge);
	/* The owner of the limit is told at edges; until the next its charge moves with this one.
	 */
	if (bp->headroom != EV_NONE && charge != EV_NONE && s->charge != EV_NONE) {
		uint64_t room = bp->headroom + charge;

		bp->headroom = room > s->charge ? room - s->charge : 0;
	}
}

void board_event(struct board *b, const struct event *ev)
{
	struct board_process *bp = board_find(b, ev->mm_id);

	if (!bp || bp->gone)
		return;
	threads_event(&bp->threads, ev, &b->nthreads);
	if (ev->kind == PP_SAMPLE)
		on_sample(b, bp, ev);
	else if (event_is_edge(ev->kind))
		on_edge(b, bp, ev);
	else
		return;
	if (ev->time_ns > bp->last_ns)
		bp->last_ns = ev->time_ns;
	if (ev->time_ns > b->last_ns)
		b->last_ns = ev->time_ns;
}

void board_over(struct board *b, uint64_t end_ns, int status)
{
	b->model = NULL;
	b->over = true;
	b->status = status;
	if (end_ns > b->last_ns)
		b->last_ns = end_ns;
}
