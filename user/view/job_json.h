/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The part of a report's `job` that is about moments: docs/json.md. */
#ifndef PEAKPHASE_VIEW_JOB_JSON_H
#define PEAKPHASE_VIEW_JOB_JSON_H

#include "lib/json.h"
#include "view/source.h"

/*
 * Keys and values, into an object that is open. charge_peak: largest of any process, where the
 * moment is not known (yet). 0 or -errno; what was begun is closed either way.
 */
int job_json(struct jw *j, const struct report_source *src, uint64_t charge_peak);

#endif
