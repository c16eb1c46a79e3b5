/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/show.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmd/budgets.h"
#include "cmd/cmd.h"
#include "cmd/show_output.h"
#include "cmd/show_source.h"
#include "lib/say.h"
#include "lib/text.h"
#include "store/store.h"
#include "view/explain.h"
#include "view/report.h"

struct report_style show_style(bool no_color, FILE *f)
{
	const char *env = getenv("NO_COLOR"), *term = getenv("TERM");
	bool tty = isatty(fileno(f));
	struct winsize size;

	return (struct report_style){
	    .ascii = !text_utf8_locale(),
	    .color = tty && !no_color && !(env && *env) && term && strcmp(term, "dumb"),
	    .width = tty && !ioctl(fileno(f), TIOCGWINSZ, &size) ? size.ws_col : 0,
	};
}

/* What was asked for is found before anything is written. */
static int show(const struct report_source *src, const struct show_options *opt, FILE *f)
{
	struct report_style style = show_style(opt->no_color, f);
	struct report_asked asked = {.budgets = opt->budgets};
	struct explained why = {0};
	struct ranking *rank = NULL;
	int err = opt->budgets ? budgets_check(opt->budgets, src) : 0;

	style.members = opt->members;
	style.notes = opt->notes;
	if (!err && opt->why) {
		err = explain(&why, src, opt->why_phase);
		asked.why = &why;
	}
	if (!err && opt->rank) {
		err = rank_phases(&rank, src, opt->rank);
		asked.rank = rank;
	}
	if (err == -ENODATA) {
		asked.why = NULL; /* which the report says */
		err = 0;
	}
	if (!err)
		err = opt->json ? report_json(src, &asked, f) : report_text(src, &style, &asked, f);
	explain_free(&why);
	free(rank);
	return err;
}

static int any_stream(void *arg, const struct output_totals *t)
{
	(void)arg;
	return t->written > 0;
}

/* Rows without a word below them look as if the program had written none. */
static void say_no_output(struct recording *r, const char *path, const struct report_run *run)
{
	if (run->finished && recording_each_output_totals(r, any_stream, NULL) == 0)
		say_warning(
		    "%s: no output is kept in it: run --output stderr (stdout, both) keeps it",
		    path);
}

int show_recording(const char *path, const struct show_options *opt, FILE *f)
{
	struct report_source src;
	struct report_run run;
	struct recording *r;
	int err = recording_open(&r, path), status;

	if (err)
		return STATUS_FAILED;
	run = show_run(r);
	if (opt->output)
		say_no_output(r, path, &run);
	src = show_source(r, &run);
	show_output(&src, opt);
	err = show(&src, opt, f);
	recording_close(&r);
	if (err == -ENOENT && opt->why_phase) {
		char pattern[512];

		text_escape(pattern, sizeof(pattern), opt->why_phase, strlen(opt->why_phase));
		say_error("%s: no phase is called '%s'", path, pattern);
		say_remedy("labels as the report shows them, or a glob: --why='transform:*'");
		return STATUS_FAILED;
	}
	status = show_status(err, f);
	if (status == STATUS_DONE && opt->budgets)
		status = show_breaches(opt->budgets);
	return status;
}
