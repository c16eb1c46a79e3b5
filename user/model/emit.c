/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Points where phases begin, and phases made of them when they end. */
#include "model/emit.h"

#include "model/where.h"

struct point point_now(struct model *m, const struct mm *p, const struct tally *tally)
{
	return (struct point){
	    .win = p->next - 1,
	    .time_ns = p->last_ns,
	    .bytes = p->now_bytes,
	    .lost = p->pub.lost,
	    .doubts = p->doubts,
	    .tally = *tally,
	    .snap = where_snap(m, p),
	};
}

void point_drop(struct model *m, struct point *pt)
{
	where_unsnap(m, &pt->snap);
}

static uint64_t max_since(const struct stack *s, uint64_t start, bool complement)
{
	struct stack_key key;

	if (!stack_max(s, start, &key, NULL))
		return EV_NONE;
	return complement ? ~key.value : key.value;
}

static struct peak peak_since(const struct mm *p, const struct point *from)
{
	struct stack_point pt;
	struct stack_key key;
	bool start = from->bytes >= p->now_bytes;

	if (stack_max(&p->rss, from->win, &key, &pt))
		return (struct peak){key.value, pt.at_ns, pt.members, pt.exact, key.win};
	/* It began at the edge of now: one of several marks of one write. */
	if (from->win == p->next - 1 && p->carry.bytes == p->now_bytes)
		return (struct peak){p->now_bytes, p->last_ns, p->carry.at.members, true,
				     p->next - 1};
	/* No window of its own: it began and ended at edges that came too late to have one. */
	return (struct peak){
	    .bytes = start ? from->bytes : p->now_bytes,
	    .at_ns = start ? from->time_ns : p->last_ns,
	    .win = p->next - 1,
	};
}

/* now: where no window of its own tells, what there is at its one edge. */
static uint64_t member_since(const struct stack *s, uint64_t now, uint64_t start)
{
	uint64_t most = max_since(s, start, false);

	return most == EV_NONE ? now : most;
}

struct maxima maxima_since(const struct mm *p, const struct point *from)
{
	return (struct maxima){
	    .peak = peak_since(p, from),
	    .anon = member_since(&p->anon, p->carry.anon, from->win),
	    .file = member_since(&p->file, p->carry.file, from->win),
	    .charge = max_since(&p->charge, from->win, false),
	    .headroom = max_since(&p->headroom, from->win, true),
	    .limit = max_since(&p->limit, from->win, true),
	};
}

/* Inner ones end first: an outer span of which one did at least half says less than that one. */
static void note_growth(struct mm *p, const struct phase *ph)
{
	struct phase *most = &p->grown;

	if (ph->grew_bytes <= most->grew_bytes)
		return;
	if (most->id && ph->tid == most->tid && ph->start_win <= most->start_win &&
	    ph->end_win >= most->end_win && most->grew_bytes >= ph->grew_bytes / 2)
		return;
	*most = *ph;
	most->where = NULL;
	most->nwhere = 0;
}

static void none_for_zero(uint64_t *n)
{
	if (!*n)
		*n = EV_NONE;
}

void leave_open(struct phase *ph)
{
	none_for_zero(&ph->grew_bytes);
	if (!ph->faults_minor && !ph->faults_major)
		ph->faults_minor = ph->faults_major = EV_NONE;
	ph->shrank_bytes = EV_NONE;
	ph->exact = false;
}

static void emit(struct model *m, struct mm *p, const struct point *from, const struct point *until,
		 const struct maxima *max, struct phase *ph)
{
	ph->id = ++m->phases;
	ph->mm_id = p->id;
	ph->pid = p->pub.pid;
	ph->start_ns = from->time_ns;
	ph->end_ns = until->time_ns;
	ph->start_win = from->win;
	ph->end_win = until->win;
	ph->start_bytes = from->bytes;
	ph->end_bytes = until->bytes;
	ph->peak = max->peak;
	ph->anon_peak = max->anon;
	ph->file_peak = max->file;
	ph->grew_bytes = minus(until->tally.grew, from->tally.grew);
	ph->shrank_bytes = minus(until->tally.shrank, from->tally.shrank);
	ph->faults_minor = minus(until->tally.minflt, from->tally.minflt);
	ph->faults_major = minus(until->tally.majflt, from->tally.majflt);
	ph->charge_peak = max->charge;
	ph->headroom_min = max->headroom;
	ph->limit = max->limit;
	if (ph->origin != PH_FROM_OUTPUT)
		ph->printed_bytes = EV_NONE;
	ph->lost = (uint32_t)(until->lost - from->lost);
	if (ph->lost || from->doubts != until->doubts || p->pub.error_bytes)
		ph->exact = false;
	note_growth(p, ph);
	if (p->unended)
		leave_open(ph);
	ph->where = ph->nwhere ? m->where : NULL;
	p->pub.phases++;
	if (m->sink.phase_ended)
		m->sink.phase_ended(m->sink.ctx, &p->pub, ph);
}

/*
 * From a point until now. The caller has set what it knows: kind, ended_by, label, token, tid,
 * depth, overlaps; exact to false if it has a reason of its own.
 */
void emit_phase(struct model *m, struct mm *p, const struct point *from, const struct tally *now,
		struct phase *ph)
{
	struct maxima max = maxima_since(p, from);
	struct point until = {
	    .win = p->next - 1,
	    .time_ns = p->last_ns,
	    .bytes = p->now_bytes,
	    .lost = p->pub.lost,
	    .doubts = p->doubts,
	    .tally = *now,
	};

	ph->nwhere = where_since(m, p, from->snap, NULL);
	ph->threads = p->now_threads;
	emit(m, p, from, &until, &max, ph);
}

/* The same until a point that has gone by; max: what was between the two. */
void emit_part(struct model *m, struct mm *p, const struct point *from, const struct point *until,
	       const struct maxima *max, struct phase *ph)
{
	ph->nwhere = where_since(m, p, from->snap, until);
	emit(m, p, from, until, max, ph);
}

/*
 * The starts that can still be asked for: of the process (a thread not seen yet may mark), of each
 * thread's next checkpoint, of the gap, of each open span. Both lists are in order.
 */
static void compact_one(struct mm *p, struct stack *s)
{
	const struct thread *t = p->by_from;
	const struct span *o = p->spans;
	uint64_t gap = p->gap_open ? p->gap.win : EV_NONE;

	stack_keep_begin(s);
	stack_keep(s, p->start.win);
	while (t || o || gap != EV_NONE) {
		uint64_t tw = t ? t->from.win : EV_NONE, ow = o ? o->from.win : EV_NONE;

		if (gap <= tw && gap <= ow) {
			stack_keep(s, gap);
			gap = EV_NONE;
		} else if (tw <= ow) {
			stack_keep(s, tw);
			t = t->next;
		} else {
			stack_keep(s, ow);
			o = o->next;
		}
	}
	stack_keep_end(s);
}

void compact(struct mm *p)
{
	struct stack *all[] = {&p->rss, &p->anon, &p->file, &p->charge, &p->headroom, &p->limit};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (stack_due(all[i]))
			compact_one(p, all[i]);
}

struct gap_cut gap_so_far(const struct mm *p)
{
	return (struct gap_cut){p->sum, maxima_since(p, &p->gap)};
}
