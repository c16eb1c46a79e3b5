/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/trace.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/look.h"
#include "cmd/note_cgroup.h"
#include "cmd/targets.h"
#include "lib/clock.h"
#include "lib/say.h"
#include "lib/text.h"
#include "model/model.h"
#include "source/privilege.h"
#include "store/store.h"
#include "view/best.h"
#include "view/feed.h"
#include "view/line.h"
#include "view/top/board.h"

#define SECOND 1000000000ull
#define UNHEARD_SAID 8 /* of what may be missing; the recording has it all */

struct trace {
	struct trace_options opt;
	enum trace_mode mode;
	char *command;
	char path[512];
	struct session *session;
	struct model *model;
	struct store *store;
	struct feed *feed;
	struct cgroup_names *cgroups; /* NULL: they go unnamed */
	unsigned int line_flags;
	unsigned int live, seen;
	uint64_t began_ns, losses_ns;
	struct best best;
	struct looks looks;
	uint64_t unheard;
	bool threads_wait; /* a process came in with threads that are not followed yet */
	bool interrupted;
};

static struct board *board_of(const struct trace *t)
{
	return t->opt.watch ? t->opt.watch->board : NULL;
}

static void on_process_begun(void *ctx, const struct process *p)
{
	struct trace *t = ctx;

	if (board_of(t))
		board_process_begun(board_of(t), p);
	t->live++;
	t->seen++;
	if (t->seen > 1)
		t->line_flags |= LINE_PID;
	if (t->store && t->cgroups)
		note_cgroup(t->store, t->cgroups, p);
	if (t->store)
		store_process(t->store, p);
}

static void on_process_ended(void *ctx, const struct process *p)
{
	struct trace *t = ctx;

	t->live--;
	if (board_of(t))
		board_process_ended(board_of(t), p);
	if (t->store)
		store_process(t->store, p);
}

static void on_phase(void *ctx, const struct process *p, const struct phase *ph)
{
	struct trace *t = ctx;
	char line[LINE_TEXT_MAX];

	best_phase(&t->best, p, ph);
	if (board_of(t))
		board_phase_ended(board_of(t), ph);
	if (t->feed)
		feed_line(t->feed, line, line_format(line, p, ph, t->line_flags));
	if (t->store)
		store_phase(t->store, ph);
}

static void on_covered(void *ctx, uint64_t mm_id, uint64_t from_win, uint64_t to_win)
{
	struct trace *t = ctx;

	if (board_of(t))
		board_covered(board_of(t), mm_id, from_win, to_win);
	if (t->store)
		store_covered(t->store, mm_id, from_win, to_win);
}

static void on_job(void *ctx, const struct job *j)
{
	struct trace *t = ctx;

	if (t->store)
		store_job(t->store, j);
}

static int feed_model(struct trace *t, const struct event *ev)
{
	struct board *b = board_of(t);
	int err;

	if (!b)
		return model_feed(t->model, ev);
	board_lock(b);
	err = model_feed(t->model, ev);
	if (!err)
		board_event(b, ev);
	board_unlock(b);
	return err;
}

static int on_event(void *ctx, const struct event *ev)
{
	struct trace *t = ctx;

	if (t->store)
		store_event(t->store, ev);
	looks_event(&t->looks, t->session, ev);
	t->threads_wait |=
	    ev->kind == PP_BASE && ev->edge.reason == PP_BY_JOIN && ev->edge.threads > 1;
	return feed_model(t, ev);
}

/* Marks may be missing: said when it is known, as far as somebody may want to read it. */
static void on_unheard(void *ctx, const struct unheard *h)
{
	char file[sizeof(h->file) * TEXT_ESCAPED_MAX];
	struct trace *t = ctx;

	if (t->unheard++ >= UNHEARD_SAID)
		return;
	text_escape(file, sizeof(file), h->file, strlen(h->file));
	say_warning(
	    "pid %u: marks of %s may be missing for %llu us: it was mapped before it was probed",
	    h->pid, file, (unsigned long long)(h->to_ns - h->from_ns) / 1000);
}

int trace_open(struct trace **out, const struct trace_options *opt, enum trace_mode mode,
	       const char *command)
{
	struct trace *t = calloc(1, sizeof(*t));
	struct session_options so = {
	    .ring_edges = opt->ring_edges,
	    .ring_samples = opt->ring_samples,
	    .mms = opt->mms,
	    .where_every = opt->where_every,
	    .no_follow = opt->no_follow,
	    .cgroups = targets_in_cgroups(opt),
	    .event = on_event,
	    .unheard = on_unheard,
	    .ctx = t,
	};
	char missing[256];
	int err;

	if (!t)
		return -ENOMEM;
	t->opt = *opt;
	t->mode = mode;
	t->command = strdup(command);
	if (!t->command) {
		free(t);
		return -ENOMEM;
	}
	if (privilege_missing(PRIVILEGE_TRACE, missing, sizeof(missing)) > 0) {
		struct privilege p;

		say_error("not allowed to trace: missing %s", missing);
		if (!privilege_get(&p))
			say_remedy("%s", privilege_remedy(&p));
		err = -EPERM;
	} else {
		err = session_open(&t->session, &so);
	}
	if (err)
		trace_drop(&t);
	else
		*out = t;
	return err;
}

struct session *trace_session(struct trace *t)
{
	return t->session;
}

/* COMMAND-YYYYMMDD-HHMMSS.peak, of what is a plain character in any shell. */
static void name_recording(struct trace *t)
{
	const char *base = strrchr(t->command, '/');
	char name[40], stamp[32];
	time_t now = time(NULL);
	size_t n = 0;
	struct tm tm;

	base = base ? base + 1 : t->command;
	for (; *base && *base != ' ' && n + 1 < sizeof(name); base++)
		name[n++] = (*base >= 'a' && *base <= 'z') || (*base >= 'A' && *base <= 'Z') ||
				    (*base >= '0' && *base <= '9') || *base == '.' || *base == '_'
				? *base
				: '-';
	name[n] = '\0';
	localtime_r(&now, &tm);
	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &tm);
	snprintf(t->path, sizeof(t->path), "%s%s-%s.peak", *name == '-' ? "run" : "", name, stamp);
}

static uint64_t boot_id_hash(void)
{
	char id[64] = "";
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
	uint64_t h = 0xcbf29ce484222325ull; /* FNV-1a */

	if (f) {
		if (!fgets(id, sizeof(id), f))
			id[0] = '\0';
		fclose(f);
	}
	for (const char *s = id; *s && *s != '\n'; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3ull;
	return h;
}

static int open_recording(struct trace *t)
{
	const struct session_facts *f = session_facts(t->session);
	struct timespec wall, mono;
	char options[160];
	struct utsname u;
	struct run_info info = {
	    .version = PEAKPHASE_VERSION,
	    .command = t->command,
	    .mode = t->mode == TRACE_RUN ? "run" : "attach",
	    .options = options,
	    .counters = f->counters == SESSION_COUNTERS_PERCPU ? "percpu" : "atomic",
	    .probe = f->site,
	    .boot_id_hash = boot_id_hash(),
	    .page_size = f->page_size,
	    .cpus = f->cpus,
	    .where_every = t->opt.where_every,
	    .exact = f->error_per_thread == 0,
	    .error_per_thread = f->error_per_thread,
	};

	snprintf(options, sizeof(options),
		 "{\"where_every\":%u,\"follow\":%s,\"duration_ns\":%llu}", t->opt.where_every,
		 t->opt.no_follow ? "false" : "true", (unsigned long long)t->opt.duration_ns);
	uname(&u);
	info.kernel = u.release;
	info.machine = u.machine;
	clock_gettime(CLOCK_REALTIME, &wall);
	clock_gettime(CLOCK_MONOTONIC, &mono);
	info.wall_ns = (uint64_t)wall.tv_sec * SECOND + (uint64_t)wall.tv_nsec;
	info.mono_ns = (uint64_t)mono.tv_sec * SECOND + (uint64_t)mono.tv_nsec;
	return store_create(&t->store, t->path, &info);
}

int trace_begin(struct trace *t)
{
	struct model_sink sink = {
	    .ctx = t,
	    .process_begun = on_process_begun,
	    .phase_ended = on_phase,
	    .implied_covered = on_covered,
	    .process_ended = on_process_ended,
	    .job = on_job,
	};
	struct model_options mo = {
	    .error_per_thread = session_facts(t->session)->error_per_thread,
	};
	char shown[600];
	int err;

	if (t->opt.output)
		snprintf(t->path, sizeof(t->path), "%s", t->opt.output);
	else
		name_recording(t);
	err =
	    privilege_drop(PRIVILEGE_TRACE | PRIVILEGE_LOOK |
			   (session_facts(t->session)->late_needs_admin ? PRIVILEGE_UPROBE : 0) |
			   PRIVILEGE_SIGNAL | (t->opt.no_record ? 0 : privilege_for_file(t->path)));
	if (err)
		say_warning("could not give up privileges: %s", strerror(-err));
	session_listen(t->session);
	t->model = model_new(&mo, &sink);
	if (!t->model)
		return -ENOMEM;
	err = t->opt.no_record ? 0 : open_recording(t);
	if (err)
		return err;
	if (t->store)
		t->cgroups = cgroup_names_new("");
	if (!t->opt.quiet && !t->opt.watch)
		t->feed = feed_open(STDERR_FILENO);
	if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
		t->line_flags |= LINE_ASCII;
	t->began_ns = clock_mono_ns();
	if (t->store && !t->opt.output) {
		text_escape(shown, sizeof(shown), t->path, strlen(t->path));
		say_info("recording to %s", shown);
	}
	return 0;
}

static void board_losses(struct board *b, const uint64_t lost[PP_LOSS_MAX], uint64_t missed)
{
	board_lock(b);
	memcpy(b->run.losses, lost, sizeof(b->run.losses));
	b->run.missed = missed;
	board_unlock(b);
}

static void record_losses(struct trace *t)
{
	uint64_t now = clock_mono_ns(), lost[PP_LOSS_MAX], missed;

	if ((!t->store && !board_of(t)) || now - t->losses_ns < SECOND)
		return;
	t->losses_ns = now;
	session_losses(t->session, lost, &missed);
	if (t->store)
		store_losses(t->store, lost, missed);
	if (board_of(t))
		board_losses(board_of(t), lost, missed);
}

int trace_watch(struct trace *t)
{
	struct board *b = board_of(t);

	if (!b)
		return 0;
	board_lock(b);
	b->model = t->model;
	board_unlock(b);
	return t->opt.watch->begin(t->opt.watch->ctx);
}

int trace_poll(struct trace *t, int timeout_ms)
{
	int err = session_poll(t->session, timeout_ms);

	if (err)
		return err;
	if (t->threads_wait) {
		t->threads_wait = false;
		err = session_adopt(t->session);
		if (err)
			return err;
	}
	looks_poll(&t->looks, t->session, t->model);
	record_losses(t);
	return 0;
}

static void add_baseline(void *ctx, const struct process *p)
{
	*(uint64_t *)ctx += p->baseline_bytes;
}

void trace_say_baseline(const struct trace *t, unsigned int markers)
{
	uint64_t bytes = 0;
	char mib[24];

	if (t->opt.watch)
		return; /* the view shows it */
	model_each_process(t->model, add_baseline, &bytes);
	say_info("attached to %u process%s, RSS %s MiB; %u marker%s", t->live,
		 t->live == 1 ? "" : "es", text_mib(mib, (int64_t)bytes), markers,
		 markers == 1 ? "" : "s");
}

unsigned int trace_live(const struct trace *t)
{
	return t->live;
}

unsigned int trace_seen(const struct trace *t)
{
	return t->seen;
}

void trace_interrupt(struct trace *t)
{
	t->interrupted = true;
}

bool trace_over(const struct trace *t)
{
	if (t->opt.watch && t->opt.watch->enough(t->opt.watch->ctx))
		return true;
	return t->opt.duration_ns && clock_mono_ns() - t->began_ns >= t->opt.duration_ns;
}

static int close_recording(struct trace *t, const struct run_end *end)
{
	char shown[600];
	uint64_t dropped = store_dropped(t->store);
	int err = store_close(&t->store, end);

	text_escape(shown, sizeof(shown), t->path, strlen(t->path));
	/* Why was said when it happened. */
	if (err)
		say_error("the recording %s is incomplete: %llu rows are missing", shown,
			  (unsigned long long)dropped);
	return err;
}

static void say_answer(const struct trace *t)
{
	char text[BEST_TEXT_MAX];

	if (!t->best.any || t->opt.quiet)
		return;
	best_format(&t->best, text, t->line_flags);
	say_info("%s", text);
}

static void say_losses(const struct run_end *end)
{
	static const char *const what[PP_LOSS_MAX] = {
	    [PP_LOSS_EDGES] =
		"marks or ends were lost on a full ring; peaks hold over the gap (--ring-edges)",
	    [PP_LOSS_SAMPLES] =
		"points of the timeline were lost; peaks are not touched (--ring-samples)",
	    [PP_LOSS_FAULTS] = "fault samples were lost; the shares of --where rest on the others",
	    [PP_LOSS_MMS] = "processes were not traced: too many at once (--processes)",
	    [PP_LOSS_GROWTH] = "pages of growth could not be booked on their thread",
	    [PP_LOSS_MARKS] = "marks could not be read",
	};

	for (int i = 0; i < PP_LOSS_MAX; i++)
		if (end->losses[i])
			say_warning("%llu %s", (unsigned long long)end->losses[i], what[i]);
	if (end->missed)
		say_warning(
		    "%llu events were passed over by the kernel while it handled another one",
		    (unsigned long long)end->missed);
}

static int finish_model(struct trace *t, const struct run_end *end)
{
	struct board *b = board_of(t);
	int err;

	if (!b)
		return model_finish(t->model, end->end_ns);
	board_losses(b, end->losses, end->missed);
	board_lock(b);
	err = model_finish(t->model, end->end_ns);
	board_over(b, end->end_ns, end->status);
	board_unlock(b);
	t->opt.watch->over(t->opt.watch->ctx, t->interrupted);
	return err;
}

int trace_end(struct trace **tp, int status)
{
	struct trace *t = *tp;
	struct run_end end = {.finished = true, .status = status};
	uint64_t dropped;
	int err;

	err = session_poll(t->session, 0);
	if (t->live && session_detach(t->session))
		say_warning(
		    "no last reading of the processes that go on: their last windows are missing");
	err = err ? err : session_poll_last(t->session);
	end.end_ns = clock_mono_ns();
	session_losses(t->session, end.losses, &end.missed);
	if (!err)
		err = finish_model(t, &end);
	end.counts = *model_counts(t->model);
	dropped = feed_close(&t->feed, 2000);
	if (dropped)
		say_warning("%llu lines were not shown: nobody read them in time",
			    (unsigned long long)dropped);
	say_answer(t);
	say_losses(&end);
	if (session_unseen(t->session))
		say_warning(
		    "%llu mappings of code were told too fast: marks of some may be missing",
		    (unsigned long long)session_unseen(t->session));
	if (!t->seen)
		say_warning("no process was traced");
	if (t->store) {
		int store_err = close_recording(t, &end);

		err = err ? err : store_err;
	}
	trace_drop(&t);
	*tp = NULL;
	return err;
}

void trace_drop(struct trace **tp)
{
	struct trace *t = *tp;

	if (!t)
		return;
	feed_close(&t->feed, 0);
	if (t->store)
		store_close(&t->store, &(struct run_end){.finished = false, .status = -1});
	cgroup_names_free(&t->cgroups);
	session_close(&t->session);
	model_free(&t->model);
	free(t->command);
	free(t);
	*tp = NULL;
}

void trace_discard(struct trace **tp)
{
	struct trace *t = *tp;
	char path[sizeof(t->path)] = "";

	if (t && t->store)
		memcpy(path, t->path, sizeof(path));
	trace_drop(tp);
	if (path[0])
		unlink(path);
}

const char *trace_path(const struct trace *t)
{
	return t->path;
}

int trace_status(int err)
{
	return err == -ENOMEM ? STATUS_FAILED : STATUS_CANNOT_TRACE;
}
