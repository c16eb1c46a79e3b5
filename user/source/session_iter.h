/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Runs a program for tasks, once. Private to session. */
#ifndef PEAKPHASE_SOURCE_SESSION_ITER_H
#define PEAKPHASE_SOURCE_SESSION_ITER_H

#include <sys/types.h>

struct bpf_program;

/* For every task of our pid namespace, or only for the one with this id (0: all). */
int session_iter(struct bpf_program *prog, pid_t tid);

#endif
