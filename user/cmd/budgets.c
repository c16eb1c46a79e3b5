/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/budgets.h"

#include <errno.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/show_source.h"
#include "lib/say.h"
#include "lib/text.h"
#include "store/store.h"

int budget_option(struct budgets **b, const char *value)
{
	char shown[256];
	int err = budgets_add(b, value);

	if (!err)
		return 0;
	text_escape(shown, sizeof(shown), value, strlen(value));
	if (err == -ENOMEM) {
		say_error("--budget '%s': no memory", shown);
		return err;
	}
	say_error("--budget: not a valid value: %s", shown);
	say_remedy("GLOB=SIZE, such as 'transform:*=500M'; of what they keep: 'load:*=kept:50M'");
	return -EINVAL;
}

int show_breaches(const struct budgets *b)
{
	char line[BREACH_TEXT_MAX], budget[BREACH_TEXT_MAX];
	size_t n = budgets_breaches(b);

	for (size_t i = 0; i < n && i < BREACHES_SAID; i++) {
		breach_format(line, b, i);
		say_error("%s", line);
	}
	if (n > BREACHES_SAID)
		say_error("over budget: %zu labels more", n - BREACHES_SAID);
	for (size_t i = 0; budget_unused(budget, b, i) >= 0; i++)
		if (budget[0])
			say_warning("--budget '%s': there is no such phase", budget);
	return n ? STATUS_OVER_BUDGET : STATUS_DONE;
}

int show_budgets(const char *path, struct budgets *b)
{
	struct report_source src;
	struct report_run run;
	struct recording *r;
	int err = recording_open(&r, path);

	if (err)
		return STATUS_FAILED;
	run = show_run(r);
	src = show_source(r, &run);
	err = budgets_check(b, &src);
	recording_close(&r);
	return err ? show_status(err, stderr) : show_breaches(b);
}
