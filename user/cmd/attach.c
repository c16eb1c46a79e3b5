/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* peakphase attach: traces processes that run already, until they end. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/attach_list.h"
#include "cmd/cmd.h"
#include "cmd/targets.h"
#include "cmd/trace.h"
#include "lib/say.h"
#include "source/args.h"
#include "source/signals.h"

#define POLL_MS 25
#define NAMED_MAX 8 /* processes whose command lines are in the head of a recording */

static const char HELP[] =
    "Usage: peakphase attach [options] -p PID[,PID...] | --container NAME | --cgroup PATH | --comm NAME\n"
    "       peakphase attach --list\n"
    "\n"
    "Traces processes that run already, with all their threads and the processes that they start\n"
    "from now on; of a container or cgroup also those that come into it. Ends with the last of\n"
    "them, after -d, or on Ctrl-C; the processes go on as they were.\n"
    "\n"
    "  -p, --pid PID            process to trace; several with commas or several -p\n"
    "      --container NAME     container by name, id or the beginning of one: Docker, Podman,\n"
    "                           containerd, CRI-O; of Kubernetes NAMESPACE/POD/NAME or a part of it\n"
    "      --cgroup PATH        cgroup by its folder, or by its path within the hierarchy\n"
    "      --comm NAME          all processes with that name\n"
    "      --wait               wait for it, and go on when it is started again\n"
    "      --list               show what can be attached to, and trace nothing\n"
    "  -o, --recording FILE     write the recording to FILE (default: pid-PID-TIME.peak, NAME-TIME.peak)\n"
    "      --no-record          make no recording\n"
    "  -q, --quiet              no line for each phase, no answer; what went wrong is said\n"
    "  -d, --duration TIME      stop after TIME (30, 1.5, 200ms, 2m)\n"
    "      --where[=N]          sample one page fault in N (256): which mappings a phase grew in\n" TRACE_HELP_MARKS
    "      --follow             trace the processes that they start, too (the default)\n"
    "      --no-follow          trace these alone\n"
    "      --ceiling SIZE       say when the RSS of a process first reaches SIZE (512M, 1.5G)\n"
    "      --headroom SIZE      say when a process first has less than SIZE left below its limit\n"
    "      --on-cross CMD       run CMD (sh -c) then, with the facts in PEAKPHASE_... variables\n" TRACE_HELP_RESULTS
	TRACE_HELP_ROOM "  -h, --help               this text\n"
    "\n"
    "Exit status: 0 done, 1 failed, 2 usage, 3 cannot trace here, 4 over a budget.\n"
    "\n"
    "  peakphase attach -p $(pgrep -n etl) -d 10m\n";

/* Markers before the baseline: a mark that comes first would have nothing to begin from. */
static int adopt(struct trace *t, struct targets *targets, bool wait)
{
	struct session *s = trace_session(t);
	int err = targets_take_in(targets, s);

	err = err ? err : session_spans_failed(s) ? -EINVAL : trace_poll(t, 0);
	if (err)
		return err;
	if (trace_live(t))
		trace_say_baseline(t, session_probes(s));
	else if (wait)
		say_info("waiting for %s", targets_name(targets));
	else
		err = targets_say_none(targets);
	return err;
}

static int follow(struct trace *t, struct targets *targets, struct signals *sig, bool wait)
{
	const struct session *s = trace_session(t);
	struct pollfd fds[] = {
	    {.fd = sig->fd, .events = POLLIN},
	    {.fd = session_fd(s), .events = POLLIN},
	};
	int err = 0, signo;

	do {
		if (poll(fds, 2, session_behind(s) ? 0 : POLL_MS) < 0 && errno != EINTR)
			return -errno;
		if (fds[0].revents && signals_stop(sig, &signo) == 1) {
			trace_interrupt(t);
			break;
		}
		err = targets_poll(targets, trace_session(t));
		err = err ? err : trace_poll(t, 0);
	} while (!err && !trace_over(t) && (wait || trace_live(t) || !trace_seen(t)));
	return err;
}

/* The command lines of what is attached to by pid, one behind the other; to be freed. */
static char *pids_text(const struct trace_options *opt)
{
	char *all = NULL, *one, *both;

	for (unsigned int i = 0; i < opt->npids && i < NAMED_MAX; i++) {
		one = args_text("/proc", opt->pid[i]);
		if (!one)
			continue;
		if (!all) {
			all = one;
			continue;
		}
		if (asprintf(&both, "%s, %s", all, one) >= 0) {
			free(all);
			all = both;
		}
		free(one);
	}
	return all;
}

static int trace_targets(const struct trace_options *opt, struct targets *targets)
{
	const char *name = targets_name(targets);
	struct signals sig;
	struct trace *t;
	char *text;
	int err, end, dropped;

	err = signals_open(&sig);
	if (err)
		return STATUS_FAILED;
	text = opt->nnamed ? NULL : pids_text(opt);
	err = trace_open(&t, opt, TRACE_ATTACH, name, text ? text : name);
	free(text);
	if (err) {
		signals_close(&sig);
		return trace_status(err);
	}
	err = trace_begin(t);
	err = err ? err : adopt(t, targets, opt->wait);
	if (err) {
		trace_discard(&t);
		signals_close(&sig);
		return STATUS_FAILED;
	}
	err = trace_watch(t);
	err = err ? err : follow(t, targets, &sig, opt->wait);
	end = trace_end(t, -1);
	dropped = trace_drop(&t);
	signals_close(&sig);
	err = err ? err : end;
	err = dropped && err >= 0 ? dropped : err;
	return trace_ended(err);
}

/* Options that do not go together, of `top` too. */
static int check_together(const struct trace_options *opt)
{
	if (opt->no_follow && targets_in_cgroups(opt)) {
		say_error("--no-follow does not go with a container or a cgroup");
		say_remedy("every process of it is traced; for one process alone use -p");
		return -EINVAL;
	}
	if (opt->wait && !opt->nnamed) {
		say_error("--wait does not go with -p alone: a pid does not come back");
		say_remedy(
		    "wait for a container, a cgroup or a name: --container, --cgroup, --comm");
		return -EINVAL;
	}
	return 0;
}

int trace_attach(const struct trace_options *opt)
{
	struct targets *targets;
	int status;

	if (check_together(opt))
		return STATUS_USAGE;
	if (targets_open(&targets, opt))
		return STATUS_FAILED;
	status = trace_targets(opt, targets);
	targets_close(&targets);
	return status;
}

static int check_usage(const struct trace_options *opt, int argc, char **argv)
{
	bool none = !opt->npids && !opt->nnamed;

	if (opt->list && none && opt->first_arg == argc && !opt->json_file)
		return 0;
	if (opt->list) {
		say_error("--list traces nothing: it goes alone, or with --json, to stdout");
		return -EINVAL;
	}

	if (opt->first_arg < argc || none) {
		if (opt->first_arg < argc)
			say_error("attach: %s belongs to no option", argv[opt->first_arg]);
		else
			say_error("attach: nothing to attach to");
		say_remedy(
		    "peakphase attach -p PID, or --container, --cgroup, --comm NAME; --list shows what there is");
		return -EINVAL;
	}
	return 0;
}

int cmd_attach(int argc, char **argv)
{
	struct command_inherit inherit;
	struct trace_options opt;

	command_inherit_save(&inherit);
	if (trace_parse(&opt, TRACE_ATTACH, argc, argv))
		return STATUS_USAGE;
	if (opt.help) {
		fputs(HELP, stdout);
		return 0;
	}
	opt.inherit = &inherit;
	if (check_usage(&opt, argc, argv))
		return STATUS_USAGE;
	return opt.list ? attach_list(opt.json, stdout) : trace_attach(&opt);
}
