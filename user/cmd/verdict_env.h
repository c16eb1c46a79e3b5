/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A crossing as environment variables of --on-cross: docs/oom.md. */
#ifndef PEAKPHASE_CMD_VERDICT_ENV_H
#define PEAKPHASE_CMD_VERDICT_ENV_H

#include "view/verdict.h"

/*
 * "NAME=value" with a NUL behind each, for oncross_run(); "NAME" of what is not known. recording
 * NULL: there is none. Returns the bytes, at most cap; what does not fit is left out whole.
 */
size_t verdict_env(char *out, size_t cap, const struct verdict *v, const struct verdict_who *who,
		   const char *recording);

#endif
