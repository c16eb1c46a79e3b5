/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* peakphase diff: recordings against the first, label by label. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/budgets.h"
#include "cmd/cmd.h"
#include "cmd/show.h"
#include "cmd/show_source.h"
#include "lib/say.h"
#include "store/store.h"
#include "view/diff.h"

static const char usage[] =
    "Usage: peakphase diff [options] A B [C...]\n\n"
    "What changed from recording A to the others: the verdict, then label by label.\n\n"
    "      --json                for programs: docs/json.md\n"
    "      --budget GLOB=SIZE    exit with 4 if a phase of the last recording needs more than SIZE\n"
    "      --no-color            no bold text (also: NO_COLOR in the environment)\n"
    "  -q, --quiet               errors only on stderr\n"
    "  -h, --help                this text\n\n"
    "Exit status: 0 done, 1 a recording cannot be read, 2 usage, 4 over a budget.\n\n"
    "  peakphase diff before.peak after.peak\n"
    "  peakphase diff --budget 'transform:*=500M' base.peak new.peak\n";

struct comparison {
	struct compare *compare;
	struct budgets *budgets;
	const char *files[COMPARE_MAX];
	char *commands[COMPARE_MAX];
	size_t n;
};

static int read_one(struct comparison *job, size_t i)
{
	struct report_source src;
	struct report_run run;
	struct recording *r;
	int err = recording_open(&r, job->files[i]);

	if (err)
		return err;
	run = show_run(r);
	src = show_source(r, &run);
	err = compare_read(job->compare, i, &src);
	if (!err && job->budgets && i == job->n - 1)
		err = budgets_check(job->budgets, &src);
	if (run.command)
		job->commands[i] = strdup(run.command);
	recording_close(&r);
	if (err)
		show_status(err, stderr);
	return err;
}

static int print(const struct comparison *job, bool json, bool no_color)
{
	struct report_style style = show_style(no_color, stdout);
	struct diff d = {
	    .c = job->compare,
	    .files = job->files,
	    .commands = (const char *const *)job->commands,
	    .version = PEAKPHASE_VERSION,
	    .budgets = job->budgets,
	};
	int err = compare_end(job->compare, &d.rows, &d.n), status;

	if (!err)
		err =
		    json ? diff_json(&d, stdout) : diff_text(&d, style.ascii, style.color, stdout);
	status = show_status(err, stdout);
	return status == STATUS_DONE && job->budgets ? show_breaches(job->budgets) : status;
}

static int diff(struct comparison *job, bool json, bool no_color)
{
	int status = STATUS_FAILED;
	int err = compare_new(&job->compare, job->n);

	for (size_t i = 0; i < job->n && !err; i++)
		err = read_one(job, i);
	if (!err)
		status = print(job, json, no_color);
	for (size_t i = 0; i < job->n; i++)
		free(job->commands[i]);
	compare_free(&job->compare);
	return status;
}

int cmd_diff(int argc, char **argv)
{
	enum { JSON = 256, BUDGET, NO_COLOR };
	static const struct option options[] = {
	    {"json", no_argument, NULL, JSON},	       {"budget", required_argument, NULL, BUDGET},
	    {"no-color", no_argument, NULL, NO_COLOR}, {"quiet", no_argument, NULL, 'q'},
	    {"help", no_argument, NULL, 'h'},	       {0},
	};
	bool json = false, no_color = false;
	struct comparison job = {0};
	int c, status;

	while ((c = getopt_long(argc, argv, "hq", options, NULL)) != -1) {
		switch (c) {
		case JSON:
			json = true;
			break;
		case BUDGET:
			if (budget_option(&job.budgets, optarg))
				return STATUS_USAGE;
			break;
		case NO_COLOR:
			no_color = true;
			break;
		case 'q':
			say_quiet(1);
			break;
		case 'h':
			fputs(usage, stdout);
			return STATUS_DONE;
		default:
			return usage_error("diff", NULL);
		}
	}
	if (argc - optind < 2)
		return usage_error("diff", "two recordings, or more, are to be compared");
	if (argc - optind > COMPARE_MAX)
		return usage_error("diff", "too many recordings: 26 at most");
	for (; optind < argc; optind++)
		job.files[job.n++] = argv[optind];
	status = diff(&job, json, no_color);
	budgets_free(&job.budgets);
	return status;
}
