/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/show_output.h"

#include <errno.h>
#include <string.h>

#include "store/store.h"

struct pieces {
	report_note_fn fn;
	void *arg;
	uint64_t end[KEPT_STDERR + 1]; /* up to where each stream is known */
};

static int take_piece(void *ctx, const struct output_piece *p)
{
	struct pieces *all = ctx;
	uint64_t *end = &all->end[p->stream];
	struct note n = {
	    .mm_id = p->mm_id,
	    .pid = p->pid,
	    .tid = p->tid,
	    .time_ns = p->time_ns,
	    .bytes = p->len,
	    .first_id = p->id,
	    .last_id = p->id,
	    .stream = p->stream,
	    .at = p->at,
	    .missing = p->at > *end ? p->at - *end : 0,
	};

	if (p->at + p->len > *end)
		*end = p->at + p->len;
	return all->fn(all->arg, &n);
}

static int each_output(void *ctx, uint64_t mm_id, report_note_fn fn, void *arg)
{
	struct pieces all = {.fn = fn, .arg = arg};

	return recording_each_output(ctx, mm_id, take_piece, &all);
}

static int output_text(void *ctx, const struct note *n, char *buf)
{
	struct output_piece p;
	int err = recording_output(ctx, n->first_id, &p);

	if (!err && p.len != n->bytes)
		err = -ENOENT;
	if (!err)
		memcpy(buf, p.bytes, p.len);
	return err;
}

static int each_output_totals(void *ctx, report_totals_fn fn, void *arg)
{
	return recording_each_output_totals(ctx, fn, arg);
}

struct ending {
	struct tail *tail;
	uint64_t from;
};

static int take_back(void *ctx, const struct output_piece *p)
{
	struct ending *e = ctx;

	if (e->tail->len && p->at + p->len < e->from) {
		e->tail->cut = true;
		return 1;
	}
	e->from = p->at;
	return !tail_prepend(e->tail, p->bytes, p->len);
}

static int stderr_tail(void *ctx, uint64_t mm_id, struct tail *out)
{
	struct ending e = {.tail = out};
	int err;

	out->len = 0;
	out->cut = false;
	err = recording_each_output_back(ctx, mm_id, KEPT_STDERR, take_back, &e);
	out->cut |= e.from > 0;
	return err < 0 ? err : 0;
}

void show_output(struct report_source *src, const struct show_options *opt)
{
	src->each_output = opt->output ? each_output : NULL;
	src->output_text = output_text;
	src->output_of = opt->output_of;
	src->noutput_of = opt->noutput_of;
	src->each_output_totals = each_output_totals;
	src->stderr_tail = stderr_tail;
}
