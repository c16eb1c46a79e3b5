/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What /proc and the cgroups still tell of a verdict's moment. */
#ifndef PEAKPHASE_CMD_VERDICT_FACTS_H
#define PEAKPHASE_CMD_VERDICT_FACTS_H

#include "model/verdict.h"

/*
 * Names the limit's owner where the record did not, and reads what its charge holds besides. Reads
 * three or four small files: for OOM kills and crossings; nothing is changed of other kinds.
 */
void verdict_facts(struct verdict *v);

#endif
