/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "model/mms.h"

#include <stdlib.h>

#include "model/emit.h"
#include "model/pending.h"
#include "model/span.h"
#include "model/thread.h"
#include "model/where.h"

struct mm *mm_find(struct model *m, uint64_t id)
{
	struct mm *p = m->cached;

	if (p && p->id == id)
		return p;
	HASH_FIND(hh, m->mms, &id, sizeof(id), p);
	if (p)
		m->cached = p;
	return p;
}

struct mm *mm_new(struct model *m, uint64_t id)
{
	struct mm *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->id = p->pub.mm_id = id;
	p->pub.exit = PX_RUNNING;
	p->pub.charge_peak = p->pub.limit = p->pub.headroom_min = EV_NONE;
	p->carry.charge = p->carry.headroom = p->carry.limit = EV_NONE;
	stack_init(&p->rss, true);
	stack_init(&p->anon, false);
	stack_init(&p->file, false);
	stack_init(&p->charge, false);
	stack_init(&p->headroom, false);
	stack_init(&p->limit, false);
	HASH_ADD(hh, m->mms, id, sizeof(p->id), p);
	if (!p->hh.tbl) {
		free(p);
		return NULL;
	}
	return p;
}

void mm_free(struct model *m, struct mm **pp)
{
	struct mm *p = *pp;

	*pp = NULL;
	if (m->cached == p)
		m->cached = NULL;
	HASH_DEL(m->mms, p);
	pending_drop(m, p);
	span_free_all(m, p);
	thread_free_all(m, p);
	point_drop(m, &p->gap);
	point_drop(m, &p->start);
	where_free(p);
	stack_free(&p->rss);
	stack_free(&p->anon);
	stack_free(&p->file);
	stack_free(&p->charge);
	stack_free(&p->headroom);
	stack_free(&p->limit);
	free(p);
}
