/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The report's last lines: times in which marks may be missing. */
#include <string.h>

#include "lib/text.h"
#include "view/report_text.h"

#define LINES_MAX 5 /* the JSON has them all */

struct unheards {
	struct report *r;
	uint64_t n;
};

static void put_time(struct report *r, const struct unheard *u)
{
	char span[24];

	report_since(r, u->from_ns);
	out_str(&r->out, ", for ");
	out_str(&r->out, text_duration(span, u->to_ns - u->from_ns));
}

static int put_unheard(void *arg, const struct unheard *u)
{
	struct unheards *k = arg;
	struct report *r = k->r;
	char file[sizeof(u->file) * TEXT_ESCAPED_MAX];

	if (k->n++ >= LINES_MAX)
		return 0;
	text_escape_as(file, sizeof(file), u->file, strlen(u->file), r->flags);
	out_str(&r->out, k->n == 1 ? "\nmarks may be missing of " : "marks may be missing of ");
	out_str(&r->out, file);
	out_str(&r->out, " in pid ");
	out_u64(&r->out, u->pid);
	out_str(&r->out, " at ");
	put_time(r, u);
	out_str(&r->out, u->looked ? ": it was mapped before it was probed\n"
				   : ": the process had ended before it could be looked into\n");
	return 0;
}

int report_unheard(struct report *r)
{
	struct unheards k = {.r = r};
	int err = r->src->each_unheard(r->src->ctx, put_unheard, &k);

	if (k.n > LINES_MAX) {
		out_str(&r->out, "marks may be missing of ");
		out_u64(&r->out, k.n - LINES_MAX);
		out_str(&r->out, " more\n");
	}
	return err;
}
