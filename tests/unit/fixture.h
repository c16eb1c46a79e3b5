/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files of tests/unit/fixtures, found from the test's own source: tests run in the folder of
 * `make`. */
#ifndef PEAKPHASE_TESTS_FIXTURE_H
#define PEAKPHASE_TESTS_FIXTURE_H

#include <limits.h>
#include <stdio.h>
#include <string.h>

static inline const char *fixture_of(char out[static PATH_MAX], const char *source,
				     const char *name)
{
	const char *slash = strrchr(source, '/');

	snprintf(out, PATH_MAX, "%.*sfixtures/%s", slash ? (int)(slash - source + 1) : 0, source,
		 name);
	return out;
}

#define FIXTURE(out, name) fixture_of(out, __FILE__, name)

#endif
