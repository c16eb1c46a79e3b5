/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A verdict of the model, on its way to people, --on-cross and the recording. */
#include "cmd/trace_output.h"
#include "cmd/trace_private.h"
#include "cmd/verdict_env.h"
#include "cmd/verdict_facts.h"
#include "source/oncross.h"
#include "view/line.h"
#include "view/verdict.h"

void trace_on_revised(void *ctx, const struct process *p)
{
	struct trace *t = ctx;

	if (board_of(t))
		board_process_revised(board_of(t), p);
	if (t->store)
		store_process(t->store, p);
}

static void run_on_cross(struct trace *t, const struct verdict *v)
{
	char facts[ONCROSS_FACTS_MAX];
	size_t len = verdict_env(facts, sizeof(facts), v, t->store ? t->path : NULL);

	if (!oncross_run(t->oncross, facts, len))
		t->not_run++;
}

void trace_on_verdict(void *ctx, const struct process *p, const struct verdict *said)
{
	struct trace *t = ctx;
	struct verdict v = *said;
	char line[VERDICT_LINE_MAX];

	(void)p;
	verdict_facts(&v);
	if (t->feed && verdict_is_news(&v)) {
		feed_line(t->feed, line, verdict_line(line, &v, t->line_flags & LINE_ASCII));
		if (v.traced && (v.kind == VD_OOM || v.kind == VD_SIGNAL))
			trace_output_last(t, v.mm_id);
	}
	if (board_of(t))
		board_verdict(board_of(t), &v);
	if (t->oncross && (v.kind == VD_CEILING || v.kind == VD_HEADROOM))
		run_on_cross(t, &v);
	if (t->store)
		store_verdict(t->store, &v);
}
