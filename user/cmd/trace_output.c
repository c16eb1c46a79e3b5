/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/trace_output.h"

#include <errno.h>
#include <stdio.h>

#include "cmd/trace_private.h"
#include "lib/say.h"
#include "lib/text.h"
#include "view/line.h"
#include "view/tail_text.h"

static void on_piece(void *ctx, const struct output_piece *p)
{
	store_output(((struct trace *)ctx)->store, p);
}

static void on_drop(void *ctx, uint32_t stream, uint64_t from, uint64_t to)
{
	store_output_drop(((struct trace *)ctx)->store, stream, from, to);
}

static void on_totals(void *ctx, const struct output_totals *totals)
{
	store_output_totals(((struct trace *)ctx)->store, totals);
}

int trace_output_begin(struct trace *t)
{
	const struct kept_sink sink = {t, on_piece, on_drop, on_totals};
	const struct trace_options *o = &t->opt;

	if (!o->keep)
		return 0;
	t->last_lines = last_lines_new();
	if (t->last_lines && t->store)
		t->kept = kept_new(o->keep, o->keep_first, o->keep_last, &sink);
	return t->last_lines && (t->kept || !t->store) ? 0 : -ENOMEM;
}

int trace_output_piece(struct trace *t, const struct ev_output *out)
{
	int err = 0;

	if (t->kept)
		err = kept_add(t->kept, out);
	if (!err && t->last_lines && out->stream == KEPT_STDERR && out->len &&
	    t->opt.keep >> KEPT_STDERR & 1)
		err = last_lines_add(t->last_lines, out);
	return err;
}

void trace_output_poll(struct trace *t)
{
	if (t->kept)
		kept_poll(t->kept, clock_mono_ns());
}

void trace_output_finish(struct trace *t)
{
	if (!t->kept)
		return;
	kept_finish(t->kept);
	for (uint32_t i = KEPT_STDOUT; i <= KEPT_STDERR; i++) {
		const struct output_totals *s = kept_totals(t->kept, i);
		char dropped[24], written[24];

		if (s->dropped)
			say_info("%s of the %s that went to %s are not kept (--output-keep)",
				 text_size(dropped, s->dropped), text_size(written, s->written),
				 i == KEPT_STDOUT ? "stdout" : "stderr");
	}
}

void trace_output_close(struct trace *t)
{
	kept_free(&t->kept);
	last_lines_free(&t->last_lines);
}

void trace_output_last(struct trace *t, uint64_t mm_id)
{
	const struct tail *tail = t->last_lines ? last_lines_of(t->last_lines, mm_id) : NULL;
	unsigned flags = t->line_flags & LINE_ASCII ? TEXT_ASCII : 0;
	struct tail_line lines[TAIL_LINES];
	char text[TAIL_TEXT_MAX];
	size_t n;

	if (!tail || !t->feed)
		return;
	n = tail_lines(tail, lines);
	for (size_t i = 0; i < n; i++)
		feed_line(t->feed, text, tail_text(text, &lines[i], flags));
}
