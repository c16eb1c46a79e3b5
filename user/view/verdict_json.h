/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef PEAKPHASE_VIEW_VERDICT_JSON_H
#define PEAKPHASE_VIEW_VERDICT_JSON_H

#include "lib/json.h"
#include "view/around.h"

/* One verdict as docs/json.md describes it. 0 or -errno of the source. */
int verdict_json(struct jw *j, const struct around *a, const struct verdict *v);

#endif
