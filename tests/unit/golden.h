/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Text against a file in golden/ beside the test; GOLDEN_UPDATE=1 in the environment rewrites it.
 */
#ifndef PEAKPHASE_TESTS_GOLDEN_H
#define PEAKPHASE_TESTS_GOLDEN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GOLDEN_MAX (1 << 20)

static inline void golden_path(char *out, size_t cap, const char *test_file, const char *name)
{
	const char *slash = strrchr(test_file, '/');

	snprintf(out, cap, "%.*s/golden/%s", slash ? (int)(slash - test_file) : 1,
		 slash ? test_file : ".", name);
}

static inline void golden_check(const char *test_file, const char *name, const char *text,
				size_t len)
{
	char path[512], *expected = malloc(GOLDEN_MAX);
	FILE *f;
	size_t n;

	assert_non_null(expected);
	golden_path(path, sizeof(path), test_file, name);
	if (getenv("GOLDEN_UPDATE")) {
		f = fopen(path, "w");
		assert_non_null(f);
		assert_int_equal(fwrite(text, 1, len, f), len);
		assert_int_equal(fclose(f), 0);
	}
	f = fopen(path, "r");
	if (!f)
		fail_msg("no %s: run with GOLDEN_UPDATE=1, then read it", path);
	n = fread(expected, 1, GOLDEN_MAX - 1, f);
	fclose(f);
	expected[n] = '\0';
	if (n != len || memcmp(expected, text, len) != 0)
		fail_msg("differs from %s; this came out:\n%s", path, text);
	free(expected);
}

#endif
