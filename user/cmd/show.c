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
#include "lib/say.h"
#include "lib/text.h"
#include "store/store.h"
#include "view/explain.h"
#include "view/report.h"

/* Both sides promise the same rows in the same order: view/source.h, store/store.h. */
static int each_process(void *ctx, report_process_fn fn, void *arg)
{
	return recording_each_process(ctx, fn, arg);
}

static int each_phase(void *ctx, uint64_t mm_id, report_phase_fn fn, void *arg)
{
	return recording_each_phase(ctx, mm_id, fn, arg);
}

static int phases_at(void *ctx, uint64_t mm_id, uint64_t win, report_phase_fn fn, void *arg)
{
	return recording_phases_at(ctx, mm_id, win, fn, arg);
}

static int phases_at_time(void *ctx, uint64_t mm_id, uint64_t ns, report_phase_fn fn, void *arg)
{
	return recording_phases_at_time(ctx, mm_id, ns, fn, arg);
}

static int each_share(void *ctx, report_share_fn fn, void *arg)
{
	return recording_each_share(ctx, fn, arg);
}

static int each_verdict(void *ctx, uint64_t mm_id, report_verdict_fn fn, void *arg)
{
	return recording_each_verdict(ctx, mm_id, fn, arg);
}

static int phases_of_headroom(void *ctx, uint64_t mm_id, uint64_t headroom_min, report_phase_fn fn,
			      void *arg)
{
	return recording_phases_of_headroom(ctx, mm_id, headroom_min, fn, arg);
}

static int each_note(void *ctx, uint64_t mm_id, report_note_fn fn, void *arg)
{
	return recording_each_note(ctx, mm_id, fn, arg);
}

static int note_text(void *ctx, const struct note *n, char *buf)
{
	return recording_note_text(ctx, n, buf);
}

static int cgroup_names(void *ctx, uint64_t id, struct cgroup *out)
{
	return recording_cgroup(ctx, id, out);
}

struct report_run show_run(const struct recording *r)
{
	const struct run_info *info = recording_info(r);
	const struct run_end *end = recording_end(r);
	struct report_run run = {
	    .version = info->version,
	    .kernel = info->kernel,
	    .machine = info->machine,
	    .mode = info->mode,
	    .command = info->command,
	    .counters = info->counters,
	    .probe = info->probe,
	    .wall_ns = info->wall_ns,
	    .mono_ns = info->mono_ns,
	    .end_ns = end->end_ns,
	    .error_per_thread = info->error_per_thread,
	    .where_every = info->where_every,
	    .exact = info->exact,
	    .finished = end->finished,
	    .running = end->running,
	    .error = end->error,
	    .dropped = end->dropped,
	    .missed = end->missed,
	    .counts = end->counts,
	    .job = end->job,
	};

	memcpy(run.losses, end->losses, sizeof(run.losses));
	return run;
}

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

static int each_unheard(void *ctx, report_unheard_fn fn, void *arg)
{
	return recording_each_unheard(ctx, fn, arg);
}

/* The store says its own errors; what is left is the output. */
int show_status(int err, FILE *f)
{
	bool output = ferror(f);

	clearerr(f); /* it has been dealt with: main() looks at stdout too */
	if (!err || err == -EPIPE || err == -ENODATA)
		return STATUS_DONE;
	if (output) {
		say_error("cannot write the report: %s", strerror(-err));
	} else {
		say_error("cannot read the recording to its end: %s", strerror(-err));
	}
	return STATUS_FAILED;
}

struct report_source show_source(struct recording *r, const struct report_run *run)
{
	return (struct report_source){
	    .ctx = r,
	    .run = run,
	    .each_process = each_process,
	    .each_phase = each_phase,
	    .phases_at = phases_at,
	    .phases_of_headroom = phases_of_headroom,
	    .phases_at_time = phases_at_time,
	    .each_share = each_share,
	    .cgroup = cgroup_names,
	    .each_verdict = each_verdict,
	    .each_unheard = each_unheard,
	    .each_note = each_note,
	    .note_text = note_text,
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

int show_recording(const char *path, const struct show_options *opt, FILE *f)
{
	struct report_source src;
	struct report_run run;
	struct recording *r;
	int err = recording_open(&r, path), status;

	if (err)
		return STATUS_FAILED;
	run = show_run(r);
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
