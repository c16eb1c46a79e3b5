/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What phases may need, by their labels: 'transform:*=500M' of their peak, 'load:*=kept:50M' of
 * what they keep, 'load:*=grew:1G' of what they bring in. Not thread-safe.
 */
#ifndef PEAKPHASE_VIEW_BUDGET_H
#define PEAKPHASE_VIEW_BUDGET_H

#include "lib/json.h"
#include "view/source.h"

#define BREACH_TEXT_MAX 2048
#define BREACHES_SAID 100u
#define BREACHES_MAX 16384u /* labels; phases of others are counted */

struct budgets;

/* Makes *b with the first one. 0, -EINVAL: not GLOB=SIZE, -ERANGE: no such size, -ENOMEM. */
int budgets_add(struct budgets **b, const char *text);
void budgets_free(struct budgets **b);

/* Measures all phases of src; what was measured before is forgotten. 0 or -errno. */
int budgets_check(struct budgets *b, const struct report_source *src);

/*
 * One for each label that is over a budget, or not known to be within: what a phase that is open
 * grows by and keeps is known when it ends. In the order in which they were met.
 */
size_t budgets_breaches(const struct budgets *b);
/*
 * "over budget: [transform:users] peaked at 284.7 MiB, 84.7 MiB over transform:*=200M   pid 4242,
 * 12 times": the worst of that label. Returns out.
 */
char *breach_format(char out[static BREACH_TEXT_MAX], const struct budgets *b, size_t i);
/* Budget i as it was given, escaped, if no phase was measured by it, else "". -ENOENT: no such i.
 */
int budget_unused(char out[static BREACH_TEXT_MAX], const struct budgets *b, size_t i);

/* The value of "budgets" in JSON. */
void budgets_json(struct jw *j, const struct budgets *b);

#endif
