/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The second translation unit, which may be a library: see main.c. */
#ifndef TESTS_MARKER_OTHER_H
#define TESTS_MARKER_OTHER_H

#include <stdint.h>

uint64_t other_begin(const char *label);
int other_enabled(void);

#endif
