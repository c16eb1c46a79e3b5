/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The search for a command's markers, in a process of its own: a name among its arguments may lie
 * on a file system that does not answer (FUSE, NFS). Who asks it for something waits, cannot be
 * ended by any signal, and neither can a process one of whose threads does.
 */
#ifndef PEAKPHASE_SOURCE_FIND_APART_H
#define PEAKPHASE_SOURCE_FIND_APART_H

#include <stddef.h>

#include "source/find.h"

struct find_list {
	char **path; /* as find_for_command() offers them; find_list_free() */
	size_t n;
};

/* find_for_command(), or what a test has in its place. */
typedef int (*find_command_fn)(char *const *argv, const struct find_env *env,
			       const struct find_steps *steps, find_fn fn, void *ctx);

/*
 * Calls search in another process, and takes what it finds. A word for which nothing happens for
 * patience_ms is left, with a warning, and the search goes on with the next one; after the second
 * such word with what is no word. So it takes three times patience_ms longer at worst, on an idle
 * machine. The process that waits holds no descriptor, and ends when it is answered. To be called
 * by one thread alone.
 * 0 or -ENOMEM.
 */
int find_apart(struct find_list *list, find_command_fn search, char *const *argv,
	       const struct find_env *env, int patience_ms);
void find_list_free(struct find_list *list);

#endif
