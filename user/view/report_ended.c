/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How a process ended, and what was open then. */
#include "view/report_text.h"

struct named {
	struct report *r;
	uint64_t n;
};

static int name_open(void *arg, const struct phase *ph)
{
	struct named *o = arg;

	if (o->n++ < REPORT_NAMES_MAX) {
		out_str(&o->r->out, o->n == 1 ? " in " : ", ");
		report_label(o->r, ph);
	}
	return 0;
}

int report_ended(struct report *r, const struct process *p)
{
	struct named o = {.r = r};
	char how[64];
	int err = 0;

	if (p->exit == PX_RUNNING && !r->src->run->running) {
		out_str(&r->out, "still running when the tracing ended, not recorded from then on");
		return 0;
	}
	out_str(&r->out, view_exit(how, p));
	if (p->exit == PX_SIGNAL)
		err = report_sender(r, p);
	if (err)
		return err;
	if (p->end_ns) {
		out_str(&r->out, " at ");
		report_since(r, p->end_ns);
	}
	if (p->exit == PX_SIGNAL || p->exit == PX_OOM)
		err = answer_each_open_at_death(r->src, p, name_open, &o);
	report_unnamed(r, o.n);
	return err;
}
