/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Private to target.c: containers. As target_find(). */
#ifndef PEAKPHASE_SOURCE_TARGET_CONTAINER_H
#define PEAKPHASE_SOURCE_TARGET_CONTAINER_H

#include "source/target.h"

int target_find_container(struct target *t, bool wait);

#endif
