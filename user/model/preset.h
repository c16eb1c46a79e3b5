/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Presets: patterns of a known program, under a name. docs/output.md has the format:
 *
 *   # comment
 *   about TEXT       one line for `peakphase presets`
 *   label TEMPLATE   of the next pattern
 *   mark | begin | end | step | join REGEX
 *
 * Pure.
 */
#ifndef PEAKPHASE_MODEL_PRESET_H
#define PEAKPHASE_MODEL_PRESET_H

#include "model/pattern.h"

#define PRESET_BYTES_MAX 65536u
#define PRESET_ERROR_MAX (PATTERN_ERROR_MAX + 32)

/* Those that come with peakphase; text in the format of files. The last has no name. */
struct preset {
	const char *name, *text;
};
extern const struct preset presets_own[];

struct preset_line {
	enum pattern_kind kind;
	const char *regex, *label; /* label NULL: none */
};

/*
 * Each pattern of a preset to fn, which returns 0 to go on; about, if not NULL, gets its line. text
 * is changed: lines get their ends, and what is handed out points into it. -EINVAL: error says in
 * which line what is wrong, or that there is no pattern; else what fn returned.
 */
int preset_read(char *text, const char **about, int (*fn)(void *ctx, const struct preset_line *),
		void *ctx, char error[static PRESET_ERROR_MAX]);
/* Adds all of it to patterns. -EINVAL and the like: error says why. */
int preset_add(struct patterns *ps, char *text, char error[static PRESET_ERROR_MAX]);

/* "mark", … */
const char *preset_kind_name(enum pattern_kind kind);

#endif
