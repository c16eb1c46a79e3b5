/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Points where phases begin, and phases made of them when they end. */
#include "model/mm.h"

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

static void set_peak(const struct mm *p, struct phase *ph)
{
	struct stack_point pt;
	struct stack_key key;

	if (stack_max(&p->rss, ph->start_win, &key, &pt)) {
		ph->peak = (struct peak){key.value, pt.at_ns, pt.members, pt.exact, key.win};
		return;
	}
	/* No window of its own: it began and ended at edges that came too late to have one. */
	bool start = ph->start_bytes >= ph->end_bytes;

	ph->peak = (struct peak){
	    .bytes = start ? ph->start_bytes : ph->end_bytes,
	    .at_ns = start ? ph->start_ns : ph->end_ns,
	    .win = ph->end_win,
	};
}

static uint64_t max_since(const struct stack *s, uint64_t start, bool complement)
{
	struct stack_key key;

	if (!stack_max(s, start, &key, NULL))
		return EV_NONE;
	return complement ? ~key.value : key.value;
}

/*
 * The caller has set what it knows: kind, ended_by, label, token, tid, depth, overlaps; exact to
 * false if it has a reason of its own.
 */
void emit_phase(struct model *m, struct mm *p, const struct point *from, const struct tally *now,
		struct phase *ph)
{
	ph->id = ++m->phases;
	ph->mm_id = p->id;
	ph->pid = p->pub.pid;
	ph->start_ns = from->time_ns;
	ph->end_ns = p->last_ns;
	ph->start_win = from->win;
	ph->end_win = p->next - 1;
	ph->start_bytes = from->bytes;
	ph->end_bytes = p->now_bytes;
	set_peak(p, ph);
	ph->grew_bytes = minus(now->grew, from->tally.grew);
	ph->shrank_bytes = minus(now->shrank, from->tally.shrank);
	ph->faults_minor = minus(now->minflt, from->tally.minflt);
	ph->faults_major = minus(now->majflt, from->tally.majflt);
	ph->charge_peak = max_since(&p->charge, from->win, false);
	ph->headroom_min = max_since(&p->headroom, from->win, true);
	ph->limit = max_since(&p->limit, from->win, true);
	ph->lost = (uint32_t)(p->pub.lost - from->lost);
	if (ph->lost || from->doubts != p->doubts || p->pub.error_bytes)
		ph->exact = false;
	ph->nwhere = where_since(m, p, from->snap);
	ph->where = ph->nwhere ? m->where : NULL;
	p->pub.phases++;
	if (m->sink.phase_ended)
		m->sink.phase_ended(m->sink.ctx, &p->pub, ph);
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
	struct stack *all[] = {&p->rss, &p->charge, &p->headroom, &p->limit};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (stack_due(all[i]))
			compact_one(p, all[i]);
}
