/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Eight bytes an event: any order, any numbers, any lies. Whatever comes, every process ends once,
 * every phase lies within its process, and the largest peak of the phases is the process's.
 */
#include <stdlib.h>
#include <string.h>

#include "model/model.h"

#define MUST(c)                                                                                    \
	do {                                                                                       \
		if (!(c))                                                                          \
			abort();                                                                   \
	} while (0)
#define MMS 4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
	bool live[MMS];
	uint64_t most[MMS], phases[MMS], last_id;
};

static void begun(void *ctx, const struct process *p)
{
	struct seen *s = ctx;

	/* Told twice when its name came late. */
	if (s->live[p->mm_id])
		return;
	s->live[p->mm_id] = true;
	s->most[p->mm_id] = s->phases[p->mm_id] = 0;
}

static void phase(void *ctx, const struct process *p, const struct phase *ph)
{
	struct seen *s = ctx;

	MUST(s->live[p->mm_id] && ph->mm_id == p->mm_id);
	MUST(ph->id == ++s->last_id);
	MUST(ph->start_ns <= ph->end_ns && ph->start_win <= ph->end_win);
	MUST(ph->start_ns >= p->start_ns);
	MUST(ph->peak.bytes >= ph->start_bytes && ph->peak.bytes >= ph->end_bytes);
	MUST(ph->start_ns <= ph->peak.at_ns && ph->peak.at_ns <= ph->end_ns);
	MUST(!ph->peak.members_exact || ev_rss(&ph->peak.members) == ph->peak.bytes);
	MUST(!ph->nwhere == !ph->where);
	MUST(ph->label.len <= PP_LABEL_MAX);
	s->phases[p->mm_id]++;
	if (ph->peak.bytes > s->most[p->mm_id])
		s->most[p->mm_id] = ph->peak.bytes;
}

static void ended(void *ctx, const struct process *p)
{
	struct seen *s = ctx;

	MUST(s->live[p->mm_id]);
	s->live[p->mm_id] = false;
	MUST(s->phases[p->mm_id] == p->phases && p->phases > 0);
	MUST(s->most[p->mm_id] == p->peak.bytes);
}

/* kind, mm and thread, number, token, RSS, maximum, time, odds */
static void make(struct event *ev, const uint8_t b[8], uint64_t *ns)
{
	uint64_t rss = (uint64_t)b[4] << 12;

	memset(ev, 0, sizeof(*ev));
	ev->kind = (enum pp_kind)(1 + b[0] % (PP_KIND_MAX - 1));
	if (ev->kind == PP_OUTPUT || ev->kind == PP_NOTE)
		ev->kind = PP_MARK;
	ev->mm_id = b[1] % MMS;
	ev->tid = ev->pid = 1 + b[1] / MMS % 8;
	*ns += (uint64_t)b[6] << (b[6] & 0x80 ? 24 : 0);
	ev->time_ns = *ns - (b[7] & 3);
	ev->flags = b[3] & 32 ? PP_F_OUTPUT | (b[3] & 64 ? PP_F_SAME : 0) : 0;
	if (ev->kind == PP_SAMPLE) {
		ev->sample.seq = b[2];
		ev->sample.now.m[PP_ANON] = rss;
		ev->sample.max = rss + ((uint64_t)b[5] << 12);
		return;
	}
	if (ev->kind == PP_FAULT) {
		ev->fault.seq = b[2];
		ev->fault.mapping = b[3] % PP_MAPPING_MAX;
		ev->fault.name[0] = (char)b[5];
		return;
	}
	ev->edge.now.m[PP_ANON] = rss;
	ev->edge.win.seq = b[2] == 255 ? 0xffffff : b[2];
	ev->edge.win.max = rss + ((uint64_t)b[5] << 12);
	ev->edge.win.max_at_ns = *ns - b[5];
	ev->edge.win.max_members.m[PP_ANON] = ev->edge.win.max;
	ev->edge.win.charge_max = b[7] & 4 ? EV_NONE : rss;
	ev->edge.limit = b[7] & 8 ? EV_NONE : (uint64_t)b[5] << 20;
	ev->edge.charge = ev->edge.limiter = ev->edge.win.limiter_max = ev->edge.win.charge_max;
	ev->edge.peak = b[7] & 16 ? (uint64_t)b[5] << 14 : 0;
	ev->edge.lost = b[7] >> 7;
	ev->edge.minflt = b[3];
	ev->edge.reason = PP_BY_EXEC;
	ev->edge.token = b[3] % 16;
	ev->edge.label.len = b[3];
	ev->edge.exit_code = b[3];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct seen s = {0};
	struct model_options opt = {0};
	struct model_sink sink = {
	    .ctx = &s, .process_begun = begun, .phase_ended = phase, .process_ended = ended};
	struct model *m = model_new(&opt, &sink);
	struct event ev;
	uint64_t ns = 1000;

	MUST(m);
	for (; size >= 8; data += 8, size -= 8) {
		make(&ev, data, &ns);
		MUST(!model_feed(m, &ev));
	}
	MUST(!model_finish(m, ns));
	for (int i = 0; i < MMS; i++)
		MUST(!s.live[i]);
	model_free(&m);
	return 0;
}
