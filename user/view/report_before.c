/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where the phase of the peak did little for it: who had brought in what was there before. */
#include <errno.h>
#include <stdlib.h>

#include "view/explain.h"
#include "view/report_text.h"

static void put_most(struct report *r, const struct why_row *row)
{
	struct phase ph;

	if (row->part == WHY_START) {
		out_str(&r->out, ", most of them since it began to be traced");
		return;
	}
	if (!row->name)
		return;
	out_str(&r->out, ", ");
	out_str(&r->out, row->exact ? "" : "~");
	out_mib(&r->out, (uint64_t)row->bytes);
	out_str(&r->out, " of them by ");
	name_phase(&ph, row->name);
	report_label(r, &ph);
}

int report_before(struct report *r)
{
	const struct phase *owner = &r->answer.owner;
	struct explained *x;
	int err;

	if (!r->answer.has_owner || !phase_began_full(owner) || r->asked->why)
		return 0;
	x = calloc(1, sizeof(*x));
	if (!x)
		return -ENOMEM;
	err = explain(x, r->src, NULL);
	if (!err) {
		out_str(&r->out, "  ");
		out_str(&r->out, owner->exact ? "" : "~");
		out_mib(&r->out, owner->start_bytes);
		out_str(&r->out, " MiB were there when that phase began");
		if (x->n && x->rows[0].bytes > 0)
			put_most(r, &x->rows[0]);
		out_str(&r->out, ": see --why\n");
		explain_free(x);
	}
	free(x);
	return err == -ENODATA || err == -ENOENT ? 0 : err;
}
