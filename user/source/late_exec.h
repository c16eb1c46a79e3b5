/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The latest exec of each process, and what can be ruled out by it: no code of a dynamic
 * program runs before its loader has mapped the C library, so what was probed by then was probed in
 * time. Pure: no I/O, no clock. One thread. Private to late.
 */
#ifndef PEAKPHASE_SOURCE_LATE_EXEC_H
#define PEAKPHASE_SOURCE_LATE_EXEC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "source/mappings.h"
#include "source/unheard.h"

struct late_execs;

struct late_execs *late_execs_new(void);
void late_execs_free(struct late_execs **x);

void late_execs_begin(struct late_execs *x, pid_t pid, uint64_t time_ns);
/* Every file that is mapped, of any process. */
void late_execs_mapped(struct late_execs *x, const struct mapped_record *r);

typedef void (*late_file_fn)(void *ctx, const struct unheard_file *f);

/* Something was probed late: sets exec_ns, and hands f on, now or by a release. */
void late_execs_file(struct late_execs *x, struct unheard_file *f, late_file_fn fn, void *ctx);
/* Hands on what cannot be ruled out any more at now_ns; all: or can, but not yet. */
void late_execs_release(struct late_execs *x, uint64_t now_ns, bool all, late_file_fn fn,
			void *ctx);
/* Nothing is held. */
bool late_execs_idle(const struct late_execs *x);

#endif
