/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of functions: which a pattern means, and which come near it. */
#ifndef PEAKPHASE_SOURCE_SPAN_NAMES_H
#define PEAKPHASE_SOURCE_SPAN_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "resolve/demangle.h"
#include "resolve/functions.h"

/* Does the pattern mean the function of this symbol? */
bool span_name_matches(const char *pattern, const char *symbol);
/* What people call it: demangled, without parameters. Its length. */
size_t span_name(const char *symbol, char out[static DEMANGLED_MAX]);

#define SPAN_NEAREST 5
/* Symbols of the file that are most like the pattern, the best first; how many. */
size_t span_names_near(const struct functions *f, const char *pattern,
		       const char *near[static SPAN_NEAREST]);

#endif
