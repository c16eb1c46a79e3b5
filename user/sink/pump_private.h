/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Private to pump*.c. */
#ifndef PEAKPHASE_SINK_PUMP_PRIVATE_H
#define PEAKPHASE_SINK_PUMP_PRIVATE_H

#include "sink/pump.h"

/* Is it there? What else is to be done about it has been done. */
bool pump_put(struct pump *p, const char *key, const void *data, size_t len, const char *type);
const char *pump_type(const char *key);

#endif
