/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of cgroups, innermost first, as one path. Total, thread-safe. */
#ifndef PEAKPHASE_DECODE_PATH_H
#define PEAKPHASE_DECODE_PATH_H

#include <stddef.h>
#include <stdint.h>

#include "peakphase/wire.h"

/*
 * The path of names[level] below the root, whose name is "": "/a/b", "/" of the root itself. What
 * does not fit, or was not told up to the root, loses its beginning: "…/b". Any bytes but NUL.
 * Returns its length; no NUL is written.
 */
size_t path_join(char *out, size_t cap, const char (*names)[PP_CGROUP_NAME], uint32_t levels,
		 uint32_t level);

#endif
