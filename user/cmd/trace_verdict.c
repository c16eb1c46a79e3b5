/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A verdict of the model, on its way to people, --on-cross and the recording. */
#include "cmd/trace_around.h"
#include "cmd/trace_output.h"
#include "cmd/trace_private.h"
#include "cmd/verdict_env.h"
#include "cmd/verdict_facts.h"
#include "source/oncross.h"
#include "view/line.h"
#include "view/verdict_more.h"

void trace_on_revised(void *ctx, const struct process *p)
{
	struct trace *t = ctx;

	if (board_of(t))
		board_process_revised(board_of(t), p);
	if (t->store)
		store_process(t->store, p);
}

static void run_on_cross(struct trace *t, const struct verdict *v, const struct verdict_who *who)
{
	char facts[ONCROSS_FACTS_MAX];
	size_t len = verdict_env(facts, sizeof(facts), v, who, t->store ? t->path : NULL);

	if (!oncross_run(t->oncross, facts, len))
		t->not_run++;
}

static void say_more(void *ctx, const char *text)
{
	char line[VERDICT_MORE_MAX + 4];
	struct trace *t = ctx;

	feed_line(t->feed, line, (size_t)snprintf(line, sizeof(line), "  %s\n", text));
}

static void say(struct trace *t, const struct verdict *v, const struct around *a)
{
	unsigned flags = t->line_flags & LINE_ASCII ? TEXT_ASCII : 0;
	const struct verdict_who who = around_who(a, v);
	char line[VERDICT_LINE_MAX];

	feed_line(t->feed, line, verdict_line(line, v, &who, flags));
	verdict_more(a, v, flags, say_more, t);
	if (v->traced && (v->kind == VD_OOM || v->kind == VD_SIGNAL))
		trace_output_last(t, v->mm_id);
}

void trace_on_verdict(void *ctx, const struct process *p, const struct verdict *said)
{
	bool shared = said->kind == VD_OOM || said->kind == VD_HEADROOM;
	struct trace *t = ctx;
	struct verdict v = *said;
	struct trace_around ta;
	struct around a;

	verdict_facts(&v);
	trace_around_init(&ta, t->model, t->cgroups, &v);
	/* No memory: it is said without what is around it. */
	around_load_of(&a, &ta.src, p, shared && t->feed);
	if (t->feed && verdict_is_news(&v))
		say(t, &v, &a);
	if (board_of(t))
		board_verdict(board_of(t), &v);
	if (t->oncross && (v.kind == VD_CEILING || v.kind == VD_HEADROOM)) {
		const struct verdict_who who = around_who(&a, &v);

		run_on_cross(t, &v, &who);
	}
	if (t->store)
		store_verdict(t->store, &v);
	around_free(&a);
}
