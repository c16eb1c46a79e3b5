/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/show_source.h"

#include <errno.h>
#include <string.h>

#include "cmd/cmd.h"
#include "lib/say.h"
#include "store/store.h"

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

static int rss_at(void *ctx, uint64_t mm_id, uint64_t from_ns, uint64_t to_ns, uint64_t *bytes)
{
	struct event ev;
	int told = recording_last_sample(ctx, mm_id, from_ns, to_ns, &ev);

	if (told > 0)
		*bytes = ev_rss(&ev.sample.now);
	return told;
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

static int implied_from(void *ctx, uint64_t mm_id, uint64_t win, struct phase *out)
{
	return recording_implied_from(ctx, mm_id, win, out);
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
	    .boot_ns = info->boot_ns,
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
	    .rss_at = rss_at,
	    .each_share = each_share,
	    .implied_from = implied_from,
	    .cgroup = cgroup_names,
	    .each_verdict = each_verdict,
	    .each_unheard = each_unheard,
	    .each_note = each_note,
	    .note_text = note_text,
	};
}
