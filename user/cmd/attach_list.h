/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef PEAKPHASE_CMD_ATTACH_LIST_H
#define PEAKPHASE_CMD_ATTACH_LIST_H

#include <stdbool.h>
#include <stdio.h>

/* Containers, and processes that have markers, for people or as JSON. Returns an exit status. */
int attach_list(bool json, FILE *f);

#endif
