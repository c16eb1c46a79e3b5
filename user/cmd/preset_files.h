/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Presets by name: the user's own, those of the machine, those that come with peakphase. */
#ifndef PEAKPHASE_CMD_PRESET_FILES_H
#define PEAKPHASE_CMD_PRESET_FILES_H

#include "model/preset.h"

/* Adds the preset to patterns. 0, or said and -errno; -ENOENT: there is none of that name. */
int preset_files_add(struct patterns *ps, const char *name);
/*
 * Each preset that there is, once, by name, or that of one name; from: where it comes from. text is
 * the callee's to change. Files that cannot be read are said and passed over.
 */
int preset_files_each(const char *only,
		      int (*fn)(void *ctx, const char *name, const char *from, char *text),
		      void *ctx);

#endif
