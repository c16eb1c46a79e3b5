/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* peakphase attach: traces processes that run already, until they end. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/show.h"
#include "cmd/trace.h"
#include "lib/say.h"
#include "lib/text.h"
#include "resolve/proc.h"
#include "source/find.h"
#include "source/signals.h"

#define POLL_MS 25

static const char HELP[] =
    "usage: peakphase attach [options] -p PID[,PID...]\n"
    "\n"
    "Traces processes that run already, with all their threads and the processes that they start\n"
    "from now on. Ends with the last of them, after -d, or on Ctrl-C; the processes go on as they\n"
    "were.\n"
    "\n"
    "  -p, --pid PID          process to trace; several with commas or several -p\n"
    "  -o, --output FILE      write the recording to FILE (default: pid-PID-TIME.peak)\n"
    "      --no-record        make no recording\n"
    "  -q, --quiet            print no lines\n"
    "  -d, --duration TIME    stop after TIME (30, 1.5, 200ms, 2m)\n"
    "      --where[=N]        sample one page fault in N (256): which mappings a phase grew in\n"
    "      --no-follow        do not trace the processes that they start\n"
    "      --json             print the report as JSON to stdout at the end\n"
    "      --ring-edges SIZE  room for marks that wait to be read (32M)\n"
    "      --ring-samples SIZE  the same for the timeline (1M)\n"
    "      --processes N      processes that can be traced at once (4096)\n"
    "  -h, --help             this text\n"
    "\n"
    "  peakphase attach -p $(pgrep -n etl) -d 10m\n";

/* Can pid be traced? 0, or said and -errno. A thread's id stands for its process. */
static int check_target(pid_t *pid)
{
	struct proc_status st;
	pid_t tgid = *pid;

	switch (proc_kind("/proc", *pid, &tgid)) {
	case PROC_GONE:
		say_error("there is no process %d", *pid);
		say_remedy("`pgrep -a NAME` lists processes by name");
		return -ESRCH;
	case PROC_ZOMBIE:
		say_error("process %d has ended already: its parent has not collected it", *pid);
		say_remedy("trace the program from its start: peakphase run -- COMMAND");
		return -ESRCH;
	case PROC_KERNEL:
		say_error("%d is a kernel thread: it has no memory of its own", *pid);
		say_remedy("give the pid of a program");
		return -EINVAL;
	case PROC_THREAD:
	case PROC_USER:
		break;
	}
	if (tgid != *pid) {
		say_info("%d is a thread of process %d: tracing the process", *pid, tgid);
		*pid = tgid;
	}
	if (tgid == getpid()) {
		say_error("%d is this tracer itself", tgid);
		say_remedy("give the pid of another program");
		return -EINVAL;
	}
	if (!proc_status("/proc", tgid, &st) && st.tracer)
		say_info(
		    "process %d is also traced by process %u (a debugger?): while that one stops it, nothing happens in it",
		    tgid, st.tracer);
	return 0;
}

static int check_targets(struct trace_options *opt)
{
	for (unsigned int i = 0; i < opt->npids; i++) {
		int err = check_target(&opt->pid[i]);

		if (err)
			return err;
	}
	return 0;
}

static int probe(void *ctx, const char *path)
{
	session_probe(ctx, path);
	return 0;
}

/* Markers before the baseline: a mark that comes first would have nothing to begin from. */
static int adopt(struct trace *t, const struct trace_options *opt)
{
	struct session *s = trace_session(t);
	unsigned int attached = 0;
	int err = 0;

	for (unsigned int i = 0; i < opt->npids && !err; i++) {
		find_in_process("/proc", opt->pid[i], probe, s);
		err = session_watch(s, opt->pid[i]);
		if (err == -ESRCH)
			err = 0; /* gone since it was looked at: the others count */
	}
	err = err ? err : session_adopt(s);
	if (err) {
		say_error("cannot take in the processes: %s", strerror(-err));
		return err;
	}
	err = trace_poll(t, 0);
	if (err)
		return err;
	for (unsigned int i = 0; i < opt->npids; i++)
		if (session_follows(s, opt->pid[i]) == 1)
			attached++;
	if (attached) {
		trace_say_baseline(t, session_probes(s));
		return 0;
	}
	say_error("process %d ended before it could be traced", opt->pid[0]);
	say_remedy("trace the program from its start: peakphase run -- COMMAND");
	return -ESRCH;
}

static int follow(struct trace *t, struct signals *sig)
{
	struct pollfd fds[] = {
	    {.fd = sig->fd, .events = POLLIN},
	    {.fd = session_fd(trace_session(t)), .events = POLLIN},
	};
	int err = 0, signo;

	do {
		if (poll(fds, 2, POLL_MS) < 0 && errno != EINTR)
			return -errno;
		if (fds[0].revents && signals_stop(sig, &signo) == 1)
			break;
		err = trace_poll(t, 0);
	} while (!err && !trace_over(t) && (trace_live(t) || !trace_seen(t)));
	return err;
}

static int trace_targets(const struct trace_options *opt)
{
	struct signals sig;
	struct trace *t;
	char name[32], path[512];
	int err, end;

	snprintf(name, sizeof(name), "pid-%d", opt->pid[0]);
	err = signals_open(&sig);
	if (err)
		return STATUS_FAILED;
	err = trace_open(&t, opt, TRACE_ATTACH, name);
	if (err) {
		signals_close(&sig);
		return trace_status(err);
	}
	err = trace_begin(t);
	err = err ? err : adopt(t, opt);
	if (err) {
		trace_discard(&t);
		signals_close(&sig);
		return STATUS_FAILED;
	}
	err = follow(t, &sig);
	snprintf(path, sizeof(path), "%s", trace_path(t));
	end = trace_end(&t, -1);
	signals_close(&sig);
	err = err ? err : end;
	if (opt->json && !err)
		err = show_recording(path, &(struct show_options){.json = true}, stdout);
	return err ? STATUS_FAILED : 0;
}

int cmd_attach(int argc, char **argv)
{
	struct trace_options opt;

	if (trace_parse(&opt, TRACE_ATTACH, argc, argv))
		return STATUS_USAGE;
	if (opt.help) {
		fputs(HELP, stdout);
		return 0;
	}
	if (opt.first_arg < argc || !opt.npids) {
		say_error("attach: %s", opt.npids ? "takes no arguments" : "nothing to attach to");
		say_remedy("peakphase attach -p PID");
		return STATUS_USAGE;
	}
	if (check_targets(&opt))
		return STATUS_FAILED;
	return trace_targets(&opt);
}
