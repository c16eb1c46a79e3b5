/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whose rights the sink of a tracing has. */
#include <errno.h>

#include "cmd/trace_private.h"
#include "lib/invoker.h"
#include "source/privilege.h"

/*
 * Who called sudo: credentials, the recording and a folder are that user's. Else ours, less what is
 * not about files.
 */
int trace_sink_become(void)
{
	if (!invoker_become())
		return -EPERM;
	return privilege_drop(PRIVILEGE_BIT(PRIVILEGE_DAC_OVERRIDE) |
			      PRIVILEGE_BIT(PRIVILEGE_DAC_READ_SEARCH));
}
