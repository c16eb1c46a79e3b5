/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* "How it died" in the text report: OOM kills and crossed limits, with what led to them. */
#include <string.h>

#include "view/report_text.h"
#include "view/verdict_more.h"

#define VERDICTS_MAX 20 /* shown; the recording has them all */

struct verdicts {
	struct report *r;
	struct around around;
	uint64_t n;
};

static void put_line(void *arg, const char *text)
{
	struct report *r = arg;

	if (!*text)
		return;
	out_str(&r->out, "  ");
	out_str(&r->out, text);
	out_str(&r->out, "\n");
}

static int put_verdict(void *arg, const struct verdict *v)
{
	struct verdicts *vs = arg;
	struct report *r = vs->r;
	char text[VERDICT_TEXT_MAX];
	struct verdict_who who;
	int err;

	r->limit_met |= (v->kind == VD_OOM && v->limit != EV_NONE) || v->kind == VD_HEADROOM;
	/* How a signal ended it stands where each process's end does. */
	if (v->kind == VD_SIGNAL || vs->n++ >= VERDICTS_MAX)
		return 0;
	err = vs->around.src ? 0 : around_load(&vs->around, r->src);
	if (err)
		return err;
	who = around_who(&vs->around, v);
	report_bold(r, true);
	verdict_what(text, v, &who, r->flags);
	out_str(&r->out, text);
	report_bold(r, false);
	out_str(&r->out, " at ");
	report_since(r, v->at_ns);
	out_str(&r->out, "\n");
	verdict_why(text, v, &who, r->flags);
	put_line(r, text);
	verdict_memory(text, v);
	put_line(r, text);
	err = verdict_more(&vs->around, v, r->flags, put_line, r);
	return err || v->kind != VD_OOM || !v->traced ? err : report_stderr_tail(r, v->mm_id);
}

int report_verdicts(struct report *r)
{
	struct verdicts vs = {.r = r};
	int err = r->src->each_verdict(r->src->ctx, 0, put_verdict, &vs);

	around_free(&vs.around);
	if (vs.n > VERDICTS_MAX) {
		out_u64(&r->out, vs.n - VERDICTS_MAX);
		out_str(&r->out, " more OOM kills and crossed limits\n");
	}
	return err;
}

static int put_sender(void *arg, const struct verdict *v)
{
	struct report *r = arg;
	char text[VERDICT_TEXT_MAX];

	if (v->kind == VD_SIGNAL && verdict_sender(text, v, r->flags))
		out_str(&r->out, text);
	return 0;
}

int report_sender(struct report *r, const struct process *p)
{
	return r->src->each_verdict(r->src->ctx, p->mm_id, put_sender, r);
}
