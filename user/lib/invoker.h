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

/*
 * Under sudo, and if that user may make path in its folder: makes, writes and removes files as that
 * user from now on, of the calling thread and those that it will begin (setfsuid(2)): they are the
 * user's, and nothing is written that the user could not write. Takes the capabilities about files
 * out of effect; the supplementary groups become that user's for good. False: files stay our own.
 */
bool invoker_files(const char *path);
/* They are our own again: needs no privilege. */
void invoker_files_end(void);

#endif
