/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/outlet.h"

int outlet_open(struct outlet *o, const struct place *p, bool (*stop)(void *ctx), void *stop_ctx)
{
	*o = (struct outlet){0};
	return p->kind == PLACE_DIR ? outlet_open_folder(o, p)
				    : outlet_open_s3(o, p, stop, stop_ctx);
}

void outlet_close(struct outlet *o)
{
	if (o->close)
		o->close(o->ctx);
	*o = (struct outlet){0};
}
