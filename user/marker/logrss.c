/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * liblogrss.so: the functions of log_rss.h for languages that cannot include it. Needs no
 * other library, so that one file serves every libc.
 */
#include "print.h"

#define PEAKPHASE_API __attribute__((visibility("default")))
#define PEAKPHASE_MARKED(label) print_mark(label)
#include <peakphase/log_rss.h>
