/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef PEAKPHASE_LIB_INVOKER_H
#define PEAKPHASE_LIB_INVOKER_H

#include <stdbool.h>
#include <sys/types.h>

/* Who called sudo, when root runs us through it. False: nobody but ourselves. */
bool invoker_ids(uid_t *uid, gid_t *gid);

/*
 * Becomes that user for good, with the groups and the environment's HOME, USER and LOGNAME of it.
 * True also where there is nobody to become. All or nothing: false, who it is now is not known.
 */
bool invoker_become(void);

#endif
