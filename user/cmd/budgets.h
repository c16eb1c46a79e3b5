/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* --budget GLOB=SIZE, of whichever command has it. */
#ifndef PEAKPHASE_CMD_BUDGETS_H
#define PEAKPHASE_CMD_BUDGETS_H

#include "view/budget.h"

/* One more. 0; -EINVAL, -ENOMEM: said. */
int budget_option(struct budgets **b, const char *value);

/* A line for each breach and each budget that measured nothing. STATUS_DONE or STATUS_OVER_BUDGET.
 */
int show_breaches(const struct budgets *b);
/* Measures a recording by them, and says that. The same, or STATUS_FAILED. */
int show_budgets(const char *path, struct budgets *b);

#endif
