/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which running processes have markers: looked for, not probed. One thread. */
#ifndef PEAKPHASE_SOURCE_MARKED_H
#define PEAKPHASE_SOURCE_MARKED_H

#include <sys/types.h>

/* What is known of files already: processes share most of them. */
struct marked;

struct marked *marked_new(void);
void marked_free(struct marked **m);

/* Marker sites in what pid has mapped to run: 0, or their number; -ESRCH, -EACCES, -ENOMEM. */
int marked_sites(struct marked *m, const char *proc, pid_t pid);

#endif
