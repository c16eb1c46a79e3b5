/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is to be said of functions that cannot be spans, or not wholly. file: escaped, for people.
 */
#ifndef PEAKPHASE_SOURCE_SPAN_SAY_H
#define PEAKPHASE_SOURCE_SPAN_SAY_H

#include <stddef.h>

#include "resolve/functions.h"

/* Nothing has that name. */
void span_say_none(const char *file, const char *pattern, const struct functions *f);
/* count functions have it: more than can be. */
void span_say_many(const char *file, const char *pattern, const struct function **meant,
		   size_t count);
void span_say_go(const char *file, const struct function *fn);
/* err: of exits_find(). */
void span_say_exits(const char *file, const struct function *fn, int err);
/* count of them, one of which is fn, end where they cannot be followed. */
void span_say_unknown(const char *file, const struct function *fn, unsigned int count);

#endif
