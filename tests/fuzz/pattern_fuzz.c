/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A pattern, and a line: what matches holds one of the pattern's literals, for BPF looks for those
 * alone. Nothing else may come of any pattern, template and line but an answer.
 */
#include <stdlib.h>
#include <string.h>

#include "model/pattern.h"

#define MUST(c)                                                                                    \
	do {                                                                                       \
		if (!(c))                                                                          \
			abort();                                                                   \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The next string up to a NUL; what is left in *data. */
static char *cut(const uint8_t **data, size_t *size)
{
	size_t n = strnlen((const char *)*data, *size);
	char *s = strndup((const char *)*data, n);

	MUST(s);
	n += n < *size;
	*data += n;
	*size -= n;
	return s;
}

static bool holds_one(const struct literal *l, int n, const char *line, size_t len)
{
	for (int i = 0; i < n; i++)
		if (memmem(line, len, l[i].bytes, l[i].len))
			return true;
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char error[PATTERN_ERROR_MAX], *regex, *label;
	struct literal literal[LITERALS_MAX];
	struct patterns *ps = patterns_new();
	struct pattern_match m[4];
	uint64_t gave_up = 0;
	int n, found;

	MUST(ps);
	regex = cut(&data, &size);
	label = cut(&data, &size);
	if (!patterns_add(ps, PATTERN_MARK, regex, *label ? label : NULL, error)) {
		n = patterns_literals(ps, literal, LITERALS_MAX);
		found = patterns_match(ps, (const char *)data, size, m, 4, &gave_up);
		MUST(found >= 0 && found <= 4);
		patterns_go_on(ps, (const char *)data, size);
		if (found) {
			MUST(m[0].start <= m[0].end && m[0].end <= size);
			MUST(m[0].label.len <= PP_LABEL_MAX);
			MUST(!n || holds_one(literal, n, (const char *)data, size));
		}
	}
	free(regex);
	free(label);
	patterns_free(&ps);
	return 0;
}
