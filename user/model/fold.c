/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One edge, in order, into the maxima of its window and the numbers of its process.
 *
 * The values at an edge belong to both windows that it parts: they are folded into the one that
 * ends and carried into the one that begins. So a phase's peak is the maximum of its windows and
 * nothing else, and the largest peak of all phases is the process's.
 */
#include "model/fold.h"

#include <string.h>

#include "model/checkpoint.h"
#include "model/emit.h"
#include "model/verdict_private.h"

static uint64_t max_known(uint64_t a, uint64_t b)
{
	if (a == EV_NONE)
		return b;
	if (b == EV_NONE)
		return a;
	return a > b ? a : b;
}

static uint64_t headroom_of(uint64_t limit, uint64_t limiter)
{
	if (limit == EV_NONE || limiter == EV_NONE)
		return EV_NONE;
	return minus(limit, limiter);
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b; /* EV_NONE is the largest: none */
}

static uint64_t clamp(uint64_t t, uint64_t from, uint64_t to)
{
	return t < from ? from : t > to ? to : t;
}

static void raise_members(struct carry *c, const struct ev_members *v)
{
	if (v->m[PP_ANON] > c->anon)
		c->anon = v->m[PP_ANON];
	if (v->m[PP_FILE] > c->file)
		c->file = v->m[PP_FILE];
}

/* Raises *c to the maximum of this edge's window and of the edge itself; the first instant wins. */
static void raise(struct carry *c, const struct mm *p, const struct event *ev, uint64_t from_ns)
{
	const struct ev_edge *e = &ev->edge;
	const struct ev_window *w = &e->win;
	uint64_t rss = ev_rss(&e->now);
	uint64_t top;

	if (w->max > c->bytes) {
		c->bytes = w->max;
		c->at.at_ns = clamp(w->max_at_ns, from_ns, p->last_ns);
		c->at.members = w->max_members;
		c->at.exact = !(ev->flags & PP_F_CO_INEXACT) && ev_rss(&w->max_members) == w->max;
	}
	if (rss > c->bytes) {
		c->bytes = rss;
		c->at = (struct stack_point){p->last_ns, e->now, true};
	}
	/* Of windows whose edges were lost: the kernel keeps the peak apart. */
	top = c->bytes > p->pub.peak.bytes ? c->bytes : p->pub.peak.bytes;
	if (e->peak > top) {
		c->bytes = e->peak;
		c->at.at_ns = p->last_ns;
		c->at.exact = false;
	}
	raise_members(c, &w->member_max);
	raise_members(c, &e->now);
	if (c->at.exact)
		raise_members(c, &c->at.members);
	c->charge = max_known(c->charge, max_known(w->charge_max, e->charge));
	c->headroom =
	    min_u64(c->headroom, headroom_of(e->limit, max_known(w->limiter_max, e->limiter)));
	c->limit = min_u64(c->limit, e->limit);
}

static void set_carry(struct mm *p, const struct ev_edge *e)
{
	p->carry = (struct carry){
	    .bytes = ev_rss(&e->now),
	    .at = {p->last_ns, e->now, true},
	    .anon = e->now.m[PP_ANON],
	    .file = e->now.m[PP_FILE],
	    .charge = e->charge,
	    .headroom = headroom_of(e->limit, e->limiter),
	    .limit = e->limit,
	};
}

/* c is what window win saw. */
static int push(struct mm *p, uint64_t win, const struct carry *c)
{
	struct process *pub = &p->pub;
	int err = stack_push(&p->rss, win, c->bytes, &c->at);

	err = err ? err : stack_push(&p->anon, win, c->anon, NULL);
	err = err ? err : stack_push(&p->file, win, c->file, NULL);
	if (!err && c->charge != EV_NONE)
		err = stack_push(&p->charge, win, c->charge, NULL);
	if (!err && c->headroom != EV_NONE)
		err = stack_push(&p->headroom, win, ~c->headroom, NULL);
	if (!err && c->limit != EV_NONE)
		err = stack_push(&p->limit, win, ~c->limit, NULL);
	if (c->bytes > pub->peak.bytes || !pub->peak.win)
		pub->peak = (struct peak){c->bytes, c->at.at_ns, c->at.members, c->at.exact, win};
	pub->charge_peak = max_known(pub->charge_peak, c->charge);
	pub->headroom_min = min_u64(pub->headroom_min, c->headroom);
	return err;
}

static void set_numbers(struct mm *p, const struct event *ev)
{
	const struct ev_edge *e = &ev->edge;
	struct process *pub = &p->pub;

	p->now_bytes = ev_rss(&e->now);
	p->now_threads = ev->kind >= PP_MARK && ev->kind <= PP_END ? e->threads_now : 0;
	pub->windows++;
	pub->end_bytes = p->now_bytes;
	pub->ext_grew_bytes = e->ext_grew;
	pub->ext_shrank_bytes = e->ext_shrank;
	pub->grew_bytes = e->mm_grew;
	pub->shrank_bytes = e->mm_shrank;
	p->sum.grew = e->mm_grew;
	p->sum.shrank = e->mm_shrank;
	if (e->limit < pub->limit) {
		pub->limit = e->limit;
		pub->limit_level = e->limit_level;
	}
	if (e->lost) {
		pub->lost += e->lost;
		pub->exact = false;
	}
}

static void set_identity(struct process *pub, const struct ev_edge *e)
{
	pub->parent_mm_id = e->parent_mm_id;
	pub->ns_pid = e->ns_pid;
	pub->ppid = e->ppid;
	pub->cgroup_id = e->cgroup_id;
	pub->proc_start_boot_ns = e->start_boot_ns;
	pub->reason = e->reason;
	memcpy(pub->comm, e->comm, sizeof(pub->comm));
	pub->comm[sizeof(pub->comm) - 1] = '\0';
	pub->args_len = e->args_len < PP_ARGS_MAX ? e->args_len : PP_ARGS_MAX;
	memcpy(pub->args, e->args, pub->args_len);
}

static void begin(struct model *m, struct mm *p, const struct event *ev, uint64_t start_ns)
{
	p->begun = true;
	p->last_ns = start_ns;
	p->pub.pid = ev->pid;
	p->pub.start_ns = start_ns;
	p->live_threads = p->max_threads = ev->edge.threads ? ev->edge.threads : 1;
	p->pub.error_bytes = m->opt.error_per_thread * p->max_threads;
	p->pub.exact = !p->pub.error_bytes;
}

static void announce(struct model *m, struct mm *p)
{
	if (m->sink.process_begun)
		m->sink.process_begun(m->sink.ctx, &p->pub);
}

/*
 * No phase covers the window that the base ends: what it saw counts as seen at the base, so it is
 * carried into window 1 with the baseline.
 */
int fold_base(struct model *m, struct mm *p, const struct event *ev, uint64_t win)
{
	const struct ev_edge *e = &ev->edge;

	begin(m, p, ev, ev->time_ns);
	set_identity(&p->pub, e);
	set_numbers(p, ev);
	set_carry(p, e);
	raise(&p->carry, p, ev, ev->time_ns);
	p->pub.baseline_bytes = p->now_bytes;
	p->pub.inherited_bytes = e->reason == PP_BY_FORK ? p->now_bytes : 0;
	p->pub.peak = (struct peak){p->carry.bytes, p->carry.at.at_ns, p->carry.at.members,
				    p->carry.at.exact, win + 1};
	p->pub.charge_peak = p->carry.charge;
	p->pub.headroom_min = p->carry.headroom;
	p->next = win + 1;
	p->start = point_now(m, p, &(struct tally){0});
	gap_begin(m, p);
	announce(m, p);
	return 0;
}

/*
 * The base was lost: the process begins with the window that this edge ends, whose maxima are
 * right, at the earliest instant that it tells of. The caller folds the edge itself after this.
 */
int fold_orphan(struct model *m, struct mm *p, const struct event *ev, uint64_t win)
{
	const struct ev_window *w = &ev->edge.win;
	uint64_t rss = ev_rss(&ev->edge.now);
	uint64_t start = w->max_at_ns && w->max_at_ns < ev->time_ns ? w->max_at_ns : ev->time_ns;

	begin(m, p, ev, start);
	m->counts.orphans++;
	p->pub.exact = false;
	p->now_bytes = w->min < rss ? w->min : rss;
	p->pub.baseline_bytes = p->now_bytes;
	p->carry.bytes = p->now_bytes;
	p->carry.at.at_ns = start;
	p->next = win;
	p->start = point_now(m, p, &(struct tally){0});
	p->start.doubts = EV_NONE; /* never equal: what begins here is inexact */
	gap_begin(m, p);
	p->gap.doubts = EV_NONE;
	announce(m, p);
	return 0;
}

/*
 * An edge that comes after later ones: its maxima go into the open window, which whatever is open
 * now has; all of that is inexact anyway. The rest of it is stale.
 */
static int fold_late(struct mm *p, const struct event *ev)
{
	raise(&p->carry, p, ev, p->last_ns);
	p->pub.windows++;
	p->pub.lost += ev->edge.lost;
	if (ev->kind != PP_EXIT && ev->kind != PP_EXEC && ev->kind != PP_DETACH)
		return 0;
	return push(p, p->next++, &p->carry);
}

int fold_window(struct model *m, struct mm *p, const struct event *ev, uint64_t win)
{
	const struct ev_edge *e = &ev->edge;
	struct carry c = p->carry;
	uint64_t from_ns = p->last_ns;
	int err;

	/* The base came after all: only its name is news. */
	if (ev->kind == PP_BASE && !p->pub.reason) {
		set_identity(&p->pub, e);
		announce(m, p);
	}
	if (win < p->next)
		return fold_late(p, ev);
	/* CPUs stamp their edges before they number them: keep time from running backwards. */
	if (ev->time_ns > p->last_ns)
		p->last_ns = ev->time_ns;
	raise(&c, p, ev, from_ns);
	err = push(p, win, &c);
	set_numbers(p, ev);
	set_carry(p, e);
	p->next = win + 1;
	return err;
}

static void rise(const struct mm *p, struct tail *t, const struct ev_sample *s)
{
	uint64_t was = t->time_ns ? t->now : p->now_bytes;
	uint64_t high = s->max > t->max && s->max > p->now_bytes ? s->max : ev_rss(&s->now);

	t->rose += minus(high, was);
}

void fold_sample(struct mm *p, const struct event *ev)
{
	const struct ev_sample *s = &ev->sample;
	uint64_t win = number_of_window(p, s->seq);
	struct tail *t = &p->tail;

	if (win < p->next)
		return; /* its edge knew better */
	if (t->win != win || !t->time_ns)
		*t = (struct tail){.win = win, .charge = EV_NONE};
	rise(p, t, s);
	if (s->max > t->max || !t->time_ns) {
		t->max = s->max;
		t->at = (struct stack_point){ev->time_ns, s->now, ev_rss(&s->now) == s->max};
	}
	t->charge = max_known(t->charge, s->charge);
	t->now = ev_rss(&s->now);
	verdict_note(p, ev->time_ns, t->now);
	if (ev->time_ns > t->time_ns)
		t->time_ns = ev->time_ns;
}

struct carry fold_open(const struct mm *p)
{
	struct carry c = p->carry;

	if (p->tail.win == p->next && p->tail.max > c.bytes) {
		c.bytes = p->tail.max;
		c.at = p->tail.at;
		c.at.at_ns = clamp(c.at.at_ns, p->last_ns, EV_NONE);
	}
	if (sampled(p)) {
		c.charge = max_known(c.charge, p->tail.charge);
		raise_members(&c, &p->tail.at.members);
	}
	return c;
}

uint64_t fold_rose(const struct mm *p, const struct thread *t)
{
	if (!sampled(p) || (t && (t->dead || p->live_threads > 1)))
		return 0;
	return p->tail.rose;
}

/* The tracing ended: the open window ends without an edge, by what the timeline saw of it. */
int fold_tail(struct mm *p)
{
	struct carry c = fold_open(p);
	int err = push(p, p->next, &c);

	p->now_threads = 0;
	p->unended = true;
	if (sampled(p)) {
		uint64_t rose = fold_rose(p, NULL);

		p->now_bytes = p->tail.now;
		p->pub.end_bytes = p->now_bytes;
		p->pub.grew_bytes += rose;
		p->sum.grew += rose;
		for (struct thread *t = p->threads; t; t = t->hh.next)
			t->last.grew += fold_rose(p, t);
	}
	p->next++;
	return err;
}

void fold_preview(const struct mm *p, struct process *out)
{
	struct carry c = fold_open(p);

	*out = p->pub;
	if (c.bytes > out->peak.bytes)
		out->peak = (struct peak){c.bytes, c.at.at_ns, c.at.members, c.at.exact, p->next};
	out->charge_peak = max_known(out->charge_peak, c.charge);
	if (sampled(p)) {
		out->end_bytes = p->tail.now;
		out->grew_bytes += fold_rose(p, NULL);
	}
}
