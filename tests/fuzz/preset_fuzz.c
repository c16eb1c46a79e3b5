/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Any file as a preset: patterns, or an error with its line. */
#include <stdlib.h>
#include <string.h>

#include "model/preset.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char error[PRESET_ERROR_MAX], *text = strndup((const char *)data, size);
	struct patterns *ps = patterns_new();

	if (!text || !ps)
		abort();
	if (preset_add(ps, text, error) && !memchr(error, '\0', sizeof(error)))
		abort();
	patterns_free(&ps);
	free(text);
	return 0;
}
