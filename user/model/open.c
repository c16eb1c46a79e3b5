/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Phases of the living as they stand. Reads only: nothing here changes what they will be when they
 * end. */
#include <string.h>

#include "model/checkpoint.h"
#include "model/emit.h"
#include "model/fold.h"

/* A point's maximum since then, the open window with it. */
static struct peak peak_since(const struct mm *p, const struct point *from)
{
	struct carry c = fold_open(p);
	struct stack_point pt;
	struct stack_key key;

	if (stack_max(&p->rss, from->win, &key, &pt) && key.value >= c.bytes)
		return (struct peak){key.value, pt.at_ns, pt.members, pt.exact, key.win};
	return (struct peak){c.bytes, c.at.at_ns, c.at.members, c.at.exact, p->next};
}

static uint64_t larger_known(uint64_t a, uint64_t b)
{
	return a == EV_NONE || (b != EV_NONE && b > a) ? b : a;
}

static uint64_t most_since(const struct stack *s, const struct point *from, uint64_t open)
{
	struct stack_key key;

	return larger_known(stack_max(s, from->win, &key, NULL) ? key.value : EV_NONE, open);
}

static uint64_t least_since(const struct stack *s, const struct point *from, uint64_t open)
{
	struct stack_key key;
	uint64_t past = stack_max(s, from->win, &key, NULL) ? ~key.value : EV_NONE;

	return past < open ? past : open;
}

/* t: whose growth it has; NULL: that of all. */
static void preview(const struct mm *p, const struct point *from, const struct thread *t,
		    uint64_t now_ns, struct phase *ph)
{
	const struct tally *now = t ? &t->last : &p->sum;
	struct carry c = fold_open(p);

	ph->mm_id = p->id;
	ph->pid = p->pub.pid;
	ph->ended_by = PH_BY_TRACE;
	ph->start_ns = from->time_ns;
	ph->end_ns = now_ns > from->time_ns ? now_ns : from->time_ns;
	ph->start_win = from->win;
	ph->end_win = p->next;
	ph->start_bytes = from->bytes;
	ph->end_bytes = sampled(p) ? p->tail.now : p->now_bytes;
	ph->peak = peak_since(p, from);
	ph->grew_bytes = minus(now->grew, from->tally.grew) + fold_rose(p, t);
	ph->faults_minor = minus(now->minflt, from->tally.minflt);
	ph->faults_major = minus(now->majflt, from->tally.majflt);
	ph->anon_peak = most_since(&p->anon, from, c.anon);
	ph->file_peak = most_since(&p->file, from, c.file);
	ph->charge_peak = most_since(&p->charge, from, c.charge);
	ph->headroom_min = least_since(&p->headroom, from, c.headroom);
	ph->limit = least_since(&p->limit, from, c.limit);
	ph->lost = (uint32_t)(p->pub.lost - from->lost);
	leave_open(ph);
}

static void preview_span(const struct mm *p, const struct span *s, uint64_t now_ns,
			 struct phase *ph)
{
	*ph = (struct phase){
	    .tid = s->thread->tid,
	    .kind = PH_SPAN,
	    .token = s->token,
	    .depth = s->depth,
	    .overlaps = s->crowded,
	};
	ph->label.len = s->label_len;
	ph->label.flags = s->label_flags;
	ph->label.hash = s->label_hash;
	memcpy(ph->label.bytes, s->label, s->label_len);
	preview(p, &s->from, s->thread, now_ns, ph);
}

int model_each_open(const struct model *m, uint64_t mm_id, uint64_t now_ns,
		    int (*fn)(void *, const struct phase *), void *ctx)
{
	const struct mm *p;
	struct phase ph;
	int err = 0;

	HASH_FIND(hh, m->mms, &mm_id, sizeof(mm_id), p);
	if (!p || !p->begun)
		return 0;
	for (const struct span *s = p->spans; s && !err; s = s->next) {
		preview_span(p, s, now_ns, &ph);
		err = fn(ctx, &ph);
	}
	if (p->spans || !p->gap_open)
		return err;
	ph = (struct phase){.tid = p->pub.pid, .kind = p->marked ? PH_BETWEEN : PH_STARTUP};
	preview(p, &p->gap, NULL, now_ns, &ph);
	return fn(ctx, &ph);
}

const struct phase *model_grown(const struct model *m, uint64_t mm_id)
{
	const struct phase *grown = NULL;
	const struct mm *p;

	HASH_FIND(hh, m->mms, &mm_id, sizeof(mm_id), p);
	if (p)
		grown = &p->grown;
	for (unsigned int i = 0; !grown && i < KILLED_MAX && i < m->nkilled; i++)
		if (m->killed[i].pub.mm_id == mm_id)
			grown = &m->killed[i].grown;
	return grown && grown->id ? grown : NULL;
}
