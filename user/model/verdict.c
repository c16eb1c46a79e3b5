/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Verdicts: what the OOM killer, a signal, or a limit of the user's met, at the moment it did.
 *
 * Exit by SIGKILL is no proof of an OOM kill, and the OOM killer's choice none of a kill: it also
 * picks processes that are dying already, without a signal of its own. Both together are proof,
 * unless the SIGKILL was somebody's.
 */
#include "model/verdict_private.h"

#include <string.h>

#include "model/checkpoint.h"
#include "model/mms.h"

#define KILL 9u
/* "The last seconds" before a verdict. */
#define GROWTH_NS 2000000000ull
/*
 * A cgroup that hit its limit has room for less than was asked for; what others gave back while the
 * killer looked for a victim comes to little. With more room than this (of 128 parts of the limit
 * one) the machine itself was out of memory.
 */
#define ROOM_PART 128u

void verdict_note(struct mm *p, uint64_t ns, uint64_t bytes)
{
	struct history *h = &p->history;
	uint64_t last = h->n ? h->ns[(h->n - 1) % HISTORY_MAX] : 0;

	/* The timeline comes by another ring: what edges told already is no news. */
	if (ns < last)
		return;
	/* The last of each slice of time; and the very first. */
	if (h->n < 2 || ns / HISTORY_NS != last / HISTORY_NS)
		h->n++;
	h->ns[(h->n - 1) % HISTORY_MAX] = ns;
	h->bytes[(h->n - 1) % HISTORY_MAX] = bytes;
}

/* The RSS moves no further than a sample's threshold between two notes: the last one before holds.
 */
static void set_growth(const struct mm *p, struct verdict *v)
{
	const struct history *h = &p->history;
	uint64_t since = minus(v->at_ns, GROWTH_NS), bytes = 0, start = 0;

	for (uint32_t back = 1; back <= h->n && back <= HISTORY_MAX; back++) {
		uint32_t i = (h->n - back) % HISTORY_MAX;

		bytes = h->bytes[i];
		start = h->ns[i];
		if (start <= since)
			break;
	}
	if (!h->n)
		return;
	v->grew_bytes = (int64_t)(ev_rss(&v->members) - bytes);
	v->grew_ns = minus(v->at_ns, start > since ? start : since);
}

static void set_phase(const struct mm *p, struct verdict *v)
{
	const struct span *s = p->spans ? p->spans->prev : NULL;

	v->open = p->open;
	if (s) {
		v->phase_kind = PH_SPAN;
		v->phase_label.len = s->label_len;
		v->phase_label.flags = s->label_flags;
		v->phase_label.hash = s->label_hash;
		memcpy(v->phase_label.bytes, s->label, s->label_len);
		return;
	}
	v->phase_kind = gap_kind(p, true);
	if (p->checkpoints)
		v->phase_label = p->last_mark;
}

static struct verdict begin(struct model *m, const struct mm *p, const struct event *ev,
			    enum verdict_kind kind)
{
	const struct ev_edge *e = &ev->edge;
	struct verdict v = {
	    .id = ++m->verdicts,
	    .kind = kind,
	    .at_ns = p->last_ns,
	    .mm_id = p->id,
	    .win = p->next - 1,
	    .pid = p->pub.pid,
	    .traced = true,
	    .members = e->now,
	    .charge = e->charge,
	    .limit = e->limit,
	    .limit_usage = e->limiter,
	    .limit_level = e->limit_level,
	};

	v.cgroup_id = p->pub.cgroup_id;
	memcpy(v.comm, p->pub.comm, sizeof(v.comm));
	set_growth(p, &v);
	set_phase(p, &v);
	return v;
}

static void hand_out(struct model *m, const struct mm *p, const struct verdict *v)
{
	if (m->sink.verdict)
		m->sink.verdict(m->sink.ctx, &p->pub, v);
}

static bool sent_by_somebody(const struct ev_sender *s)
{
	return s->time_ns && s->sig == KILL && s->code <= 0;
}

static void set_oom(struct verdict *v, const struct ev_oom *o)
{
	bool hit = o->hit_limit != EV_NONE &&
		   minus(o->hit_limit, o->hit_usage) <= o->hit_limit / ROOM_PART;

	v->kind = VD_OOM;
	v->signal = KILL;
	v->sender = o->sender;
	v->limit = hit ? o->hit_limit : EV_NONE;
	v->limit_usage = hit ? o->hit_usage : EV_NONE;
	v->limit_level = hit ? o->hit_level : 0;
	v->trigger_pid = o->trigger_pid;
	memcpy(v->trigger_comm, o->trigger_comm, sizeof(v->trigger_comm));
	v->cgroup_len = o->cgroup_len;
	memcpy(v->cgroup, o->cgroup, sizeof(v->cgroup));
}

/* The edge of the choice: the process goes on to its exit. */
void verdict_oom(struct model *m, struct mm *p, const struct event *ev)
{
	const struct ev_oom *o = &ev->edge.oom;
	struct verdict v;

	if (sent_by_somebody(&o->sender) || p->oom_verdict)
		return;
	p->chosen = true;
	/* Without a signal of the kernel's it was ending anyway: its exit will tell. */
	if (!o->sender.time_ns)
		return;
	v = begin(m, p, ev, VD_OOM);
	set_oom(&v, o);
	p->oom_verdict = v.id;
	hand_out(m, p, &v);
}

/* Nothing is known yet of who chose it and why: that it was killed, or by its exit that it was the
 * OOM killer. */
static bool is_unexplained(const struct verdict *v)
{
	return (v->kind == VD_SIGNAL || (v->kind == VD_OOM && !v->trigger_pid)) &&
	       !sent_by_somebody(&v->sender);
}

static struct killed *find_killed(struct model *m, const struct ev_oom *o)
{
	for (unsigned int i = 0; i < KILLED_MAX && i < m->nkilled; i++) {
		struct killed *k = &m->killed[i];

		if (k->pub.pid == o->pid && k->pub.proc_start_boot_ns == o->start_boot_ns &&
		    is_unexplained(&k->verdict))
			return k;
	}
	return NULL;
}

/* It has ended, and what was said of that is corrected, or completed. */
bool verdict_oom_late(struct model *m, const struct event *ev)
{
	const struct ev_oom *o = &ev->edge.oom;
	struct killed *k = find_killed(m, o);
	struct ev_sender sender;

	if (!k)
		return false;
	sender = k->verdict.sender;
	set_oom(&k->verdict, o);
	k->verdict.sender = sender;
	k->pub.exit = PX_OOM;
	if (m->sink.process_revised)
		m->sink.process_revised(m->sink.ctx, &k->pub);
	if (m->sink.verdict)
		m->sink.verdict(m->sink.ctx, &k->pub, &k->verdict);
	return true;
}

/* The victim is not traced, or not any more. */
void verdict_oom_other(struct model *m, const struct event *ev)
{
	const struct ev_oom *o = &ev->edge.oom;
	struct verdict v;
	struct mm *p;

	if (verdict_oom_late(m, ev))
		return;
	p = o->trigger_mm_id ? mm_find(m, o->trigger_mm_id) : NULL;
	if (!p || !p->begun)
		return;
	/* What is known of the trigger is as of its last edge; its RSS by the timeline. */
	v = begin(m, p, ev, VD_OOM);
	v.at_ns = ev->time_ns;
	v.win = p->next;
	v.traced = false;
	v.cgroup_id = 0;
	v.members = (struct ev_members){0};
	v.grew_bytes = 0;
	v.grew_ns = 0;
	v.charge = EV_NONE;
	v.pid = o->pid;
	memcpy(v.comm, o->comm, sizeof(v.comm));
	set_oom(&v, o);
	hand_out(m, p, &v);
}

/* How an exit came about; PX_EXIT: by itself. What has to be said of it is said. */
enum process_exit verdict_killed(struct model *m, struct mm *p, const struct event *ev)
{
	const struct ev_edge *e = &ev->edge;
	uint32_t sig = e->exit_code & 0x7f;
	bool oom = sig == KILL && (p->chosen || e->exit_flags & PP_EXIT_OOM) &&
		   !sent_by_somebody(&e->sender);
	struct verdict v;

	if (!sig)
		return PX_EXIT;
	if (oom && p->oom_verdict)
		return PX_OOM;
	v = begin(m, p, ev, oom ? VD_OOM : VD_SIGNAL);
	v.signal = sig;
	if (e->sender.sig == sig)
		v.sender = e->sender;
	hand_out(m, p, &v);
	m->killed[m->nkilled++ % KILLED_MAX] = (struct killed){.pub = p->pub, .verdict = v};
	return oom ? PX_OOM : PX_SIGNAL;
}

void verdict_ended(struct model *m, const struct mm *p)
{
	struct killed *k = &m->killed[(m->nkilled - 1) % KILLED_MAX];

	if (!m->nkilled || k->pub.mm_id != p->id)
		return;
	k->pub = p->pub;
	k->grown = p->grown;
}

static void crossed(struct model *m, struct mm *p, const struct event *ev, enum verdict_kind kind,
		    uint64_t threshold)
{
	struct verdict v = begin(m, p, ev, kind);
	const struct ev_window *w = &ev->edge.win;

	v.threshold = threshold;
	/* No edge of its own told of it in time: its window did. */
	if (kind == VD_CEILING && ev->kind != PP_CROSS && w->max > ev_rss(&v.members)) {
		v.members = w->max_members;
		v.at_ns = w->max_at_ns && w->max_at_ns < v.at_ns ? w->max_at_ns : v.at_ns;
	}
	hand_out(m, p, &v);
}

/* At each edge, before what ends at it has ended. */
void verdict_cross(struct model *m, struct mm *p, const struct event *ev)
{
	const struct ev_edge *e = &ev->edge;
	uint64_t rss = ev_rss(&e->now), usage = e->limiter;

	if (m->opt.ceiling && !p->ceiling_crossed &&
	    (rss >= m->opt.ceiling || e->win.max >= m->opt.ceiling)) {
		p->ceiling_crossed = true;
		crossed(m, p, ev, VD_CEILING, m->opt.ceiling);
	}
	if (!m->opt.headroom || p->headroom_crossed || e->limit == EV_NONE || usage == EV_NONE)
		return;
	if (e->win.limiter_max != EV_NONE && e->win.limiter_max > usage)
		usage = e->win.limiter_max;
	if (minus(e->limit, usage) > m->opt.headroom)
		return;
	p->headroom_crossed = true;
	crossed(m, p, ev, VD_HEADROOM, m->opt.headroom);
}
