/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A key and its value, for the objects that are not made of columns. */
#ifndef PEAKPHASE_VIEW_PUT_H
#define PEAKPHASE_VIEW_PUT_H

#include "decode/event.h"
#include "lib/json.h"

static inline void put_text(struct jw *j, const char *key, const char *s)
{
	jw_key(j, key);
	jw_text(j, s);
}

static inline void put_u64(struct jw *j, const char *key, uint64_t n)
{
	jw_key(j, key);
	jw_u64(j, n);
}

/* null for EV_NONE. */
static inline void put_known(struct jw *j, const char *key, uint64_t n)
{
	jw_key(j, key);
	if (n == EV_NONE)
		jw_null(j);
	else
		jw_u64(j, n);
}

static inline void put_bool(struct jw *j, const char *key, bool b)
{
	jw_key(j, key);
	jw_bool(j, b);
}

#endif
