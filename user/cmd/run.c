/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* peakphase run: traces a command from its first instruction; exits with its status. */
#include <errno.h>
#include <poll.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/trace.h"
#include "lib/say.h"
#include "source/command.h"
#include "source/find_apart.h"

/* How often the rings are looked at: what is urgent wakes us before. */
#define POLL_MS 25
/* For one word of the command line: a look takes microseconds, from a disk or a server that
 * answers milliseconds. */
#define PATIENCE_MS 1000

static const char HELP[] =
    "Usage: peakphase run [options] -- COMMAND [ARG...]\n"
    "\n"
    "Traces a command from its first instruction and prints a line for each phase as it ends.\n"
    "\n"
    "  -o, --recording FILE     write the recording to FILE (default: COMMAND-TIME.peak)\n"
    "      --no-record          make no recording\n"
    "  -q, --quiet              no line for each phase, no answer; what went wrong is said\n"
    "  -u, --user USER          run the command as USER, a name or a number\n"
    "      --where[=N]          sample one page fault in N (256): which mappings a phase grew in\n" TRACE_HELP_MARKS
    "      --follow             trace the processes that it starts, too (the default)\n"
    "      --no-follow          trace the command alone\n"
    "  -d, --duration TIME      stop tracing after TIME (30, 1.5, 200ms, 2m); the command goes on\n"
    "      --ceiling SIZE       say when the RSS of a process first reaches SIZE (512M, 1.5G)\n"
    "      --headroom SIZE      say when a process first has less than SIZE left below its limit\n"
    "      --on-cross CMD       run CMD (sh -c) then, with the facts in PEAKPHASE_... variables\n" TRACE_HELP_RESULTS
	TRACE_HELP_ROOM "  -h, --help               this text\n"
    "\n"
    "Exit status: the command's own, 128+N for signal N, 127 if it is not there, 126 if it cannot be\n"
    "executed; else 1 the recording or the sink is incomplete, 2 usage, 3 cannot trace here, 4 over\n"
    "a budget.\n"
    "\n"
    "  peakphase run -- python3 pipeline.py\n"
    "  peakphase run -q --json=report.json -- ./etl input.csv > output.csv\n";

/* What may hold the command's markers. Before there is a session, whose maps a process that waits
 * for a file system would keep. */
static int find(struct find_list *list, const struct trace_options *opt, char *const *argv)
{
	struct find_env env;
	struct passwd *pw;

	find_env_get(&env);
	/* `-u` sets the command's HOME: its Python looks for packages there. */
	pw = opt->user ? getpwnam(opt->user) : NULL;
	if (pw)
		env.home = pw->pw_dir;
	return find_apart(list, find_for_command, argv, &env, PATIENCE_MS);
}

static int follow(struct trace *t, struct command *c)
{
	const struct session *s = trace_session(t);
	struct pollfd fds[] = {
	    {.fd = command_pidfd(c), .events = POLLIN},
	    {.fd = command_signal_fd(c), .events = POLLIN},
	    {.fd = session_fd(s), .events = POLLIN},
	};
	int err = 0;

	while (!err && !trace_over(t)) {
		if (poll(fds, 3, session_behind(s) ? 0 : POLL_MS) < 0 && errno != EINTR)
			return -errno;
		if (fds[1].revents && command_handle_signals(c) > 0)
			trace_interrupt(t);
		err = trace_poll(t, 0);
		if (fds[0].revents)
			break;
	}
	return err;
}

/* The tracing is over; the command is not. */
static void wait_for(struct command *c)
{
	struct pollfd fds[] = {
	    {.fd = command_pidfd(c), .events = POLLIN},
	    {.fd = command_signal_fd(c), .events = POLLIN},
	};

	while (!fds[0].revents) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return;
		if (fds[1].revents)
			command_handle_signals(c);
	}
}

/* Command and arguments as one line, for people. */
static char *command_text(char *const *argv)
{
	size_t len = 1;
	char *s, *end;

	for (int i = 0; argv[i]; i++)
		len += strlen(argv[i]) + 1;
	s = end = malloc(len);
	for (int i = 0; s && argv[i]; i++) {
		if (i)
			*end++ = ' ';
		end = stpcpy(end, argv[i]);
	}
	return s;
}

static int trace_command(const struct trace_options *opt, struct command *c, char *const *argv,
			 const char *text)
{
	struct find_list found;
	struct trace *t;
	int err, end, dropped, status = -1, code;

	err = find(&found, opt, argv);
	if (err)
		return STATUS_FAILED;
	err = trace_open(&t, opt, TRACE_RUN, argv[0], text);
	if (err) {
		find_list_free(&found);
		return trace_status(err);
	}
	for (size_t i = 0; i < found.n; i++)
		session_probe(trace_session(t), found.path[i]);
	find_list_free(&found);
	err = session_probe_spans(trace_session(t));
	err = err ? err : session_watch(trace_session(t), command_pid(c));
	if (!err)
		err = trace_begin(t);
	if (err) {
		trace_drop(&t);
		return STATUS_FAILED;
	}
	err = command_start(c, &code);
	if (err) {
		trace_discard(&t);
		return code;
	}
	err = trace_watch(t);
	err = err ? err : follow(t, c);
	if (trace_over(t)) {
		end = trace_end(t, -1);
		dropped = trace_drop(&t);
		wait_for(c);
		command_reap(c, &status);
	} else {
		command_reap(c, &status);
		end = trace_end(t, status);
		dropped = trace_drop(&t);
	}
	err = err ? err : end;
	err = dropped && err >= 0 ? dropped : err; /* before a budget */
	code = command_exit_status(status);
	return code ? code : trace_ended(err);
}

int trace_run_command(const struct trace_options *opt, char *const *argv,
		      const struct command_inherit *inherit)
{
	struct command_options co = {
	    .argv = argv, .user = opt->user, .inherit = inherit, .stdio = opt->stdio};
	struct command *c;
	char *text;
	int ret = command_spawn(&c, &co);

	if (ret)
		return ret == -EINVAL ? STATUS_USAGE : STATUS_FAILED;
	text = command_text(argv);
	if (!text || command_signal_setup(c))
		ret = STATUS_FAILED;
	else
		ret = trace_command(opt, c, argv, text);
	free(text);
	command_free(&c);
	return ret;
}

int cmd_run(int argc, char **argv)
{
	struct command_inherit inherit;
	struct trace_options opt;

	command_inherit_save(&inherit);
	if (trace_parse(&opt, TRACE_RUN, argc, argv))
		return STATUS_USAGE;
	if (opt.help) {
		fputs(HELP, stdout);
		return 0;
	}
	if (opt.first_arg >= argc) {
		say_error("run: no command given");
		say_remedy("peakphase run -- COMMAND [ARG...]");
		return STATUS_USAGE;
	}
	opt.inherit = &inherit;
	return trace_run_command(&opt, argv + opt.first_arg, &inherit);
}
