/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* peakphase top: the live view, of what is traced now or of a recording. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/top.h"

static const char HELP[] =
    "Usage: peakphase top [options] -- COMMAND [ARG...]\n"
    "       peakphase top [options] -p PID[,PID...] | --container NAME | --cgroup PATH | --comm NAME\n"
    "       peakphase top [options] RECORDING\n"
    "       peakphase top [options]         choose from what runs\n"
    "\n"
    "Shows, as it happens, which phase each process is in, how high it went and how much room is\n"
    "left; of a recording any moment of it. Keys: ? in the view.\n"
    "\n"
    "  -p, --pid PID            process to trace; several with commas or several -p\n"
    "      --container NAME     container by name, id or the beginning of one\n"
    "      --cgroup PATH        cgroup by its folder, or by its path within the hierarchy\n"
    "      --comm NAME          all processes with that name\n"
    "      --wait               wait for it, and go on when it is started again\n"
    "  -d, --delay TIME         time between frames (250ms)\n"
    "      --batch              print plain frames to stdout, of COLUMNS by LINES (80 by 24)\n"
    "  -n, --frames N           end after N frames of --batch\n"
    "      --ascii              draw with ASCII alone\n"
    "  -o, --recording FILE     write a recording to FILE; without it none is made\n"
    "  -u, --user USER          run the command as USER, a name or a number\n"
    "      --where[=N]          sample one page fault in N (256)\n" TRACE_HELP_MARKS
    "      --ceiling SIZE       show when the RSS of a process first reaches SIZE (512M, 1.5G)\n"
    "      --headroom SIZE      show when a process first has less than SIZE left below its limit\n"
    "      --on-cross CMD       run CMD (sh -c) then, with the facts in PEAKPHASE_... variables\n"
    "      --follow             trace the processes that are started, too (the default)\n"
    "      --no-follow          do not trace them\n"
    "      --duration TIME      stop tracing after TIME (30, 1.5, 200ms, 2m)\n" TRACE_HELP_ROOM
    "  -h, --help               this text\n"
    "\n"
    "NO_COLOR in the environment: no colours.\n"
    "\n"
    "  peakphase top -- python3 pipeline.py\n"
    "  peakphase top etl.peak\n";

static int begin(void *ctx)
{
	struct top *top = ctx;

	return screen_open(&top->screen, &top->options);
}

static bool enough(void *ctx)
{
	struct top *top = ctx;

	return top->screen && screen_done(top->screen);
}

/* The screen stays, unless the user has left it: then what is said from now on is for the terminal.
 */
static void over(void *ctx, bool interrupted)
{
	struct top *top = ctx;

	if (!top->screen)
		return;
	screen_complete(top->screen);
	if (interrupted || (!top->options.batch && screen_done(top->screen)))
		screen_close(&top->screen);
}

static void join_words(char *out, size_t cap, int argc, char **argv)
{
	size_t n = 0;

	out[0] = '\0';
	for (int i = 0; i < argc && n < cap; i++)
		n += (size_t)snprintf(out + n, cap - n, "%s%s", i ? " " : "", argv[i]);
}

static void name_targets(char *out, size_t cap, const struct trace_options *opt)
{
	unsigned int n = opt->npids + opt->nnamed;

	if (opt->nnamed)
		snprintf(out, cap, "%s", opt->named[0].text);
	else
		snprintf(out, cap, "pid %d", opt->pid[0]);
	if (n > 1)
		snprintf(out + strlen(out), cap - strlen(out), " and %u more", n - 1);
}

static int top_live(struct trace_options *opt, int argc, char **argv,
		    const struct command_inherit *inherit)
{
	struct trace_watch watch;
	int status = STATUS_FAILED, stdio[3];
	struct top top;

	if (top_setup(&top, opt))
		return STATUS_FAILED;
	if (!gethostname(top.host, sizeof(top.host) - 1))
		top.board.run.host = top.host;
	watch = (struct trace_watch){&top, &top.board, begin, enough, over};
	opt->watch = &watch;
	opt->no_record = !opt->output;
	opt->inherit = inherit;
	/* What prints while the view has the terminal. */
	if (argc || opt->on_cross) {
		if (output_take(&top.output, opt->batch, stdio)) {
			top_cleanup(&top);
			return STATUS_FAILED;
		}
		opt->stdio = stdio;
	}
	if (!argc) {
		name_targets(top.command, sizeof(top.command), opt);
		top.board.run.command = top.command;
		status = trace_attach(opt);
	} else {
		join_words(top.command, sizeof(top.command), argc, argv);
		top.board.run.command = top.command;
		status = trace_run_command(opt, argv, inherit);
	}
	top_wait(&top);
	top_cleanup(&top);
	return status;
}

int cmd_top(int argc, char **argv)
{
	struct command_inherit inherit;
	struct trace_options opt;
	bool targets;
	int n;

	command_inherit_save(&inherit);
	if (trace_parse(&opt, TRACE_TOP, argc, argv))
		return STATUS_USAGE;
	if (opt.help) {
		fputs(HELP, stdout);
		return STATUS_DONE;
	}
	n = argc - opt.first_arg;
	targets = opt.npids || opt.nnamed;
	if (opt.list)
		return usage_error("top", "top has no such option: peakphase attach --list");
	if (targets && n)
		return usage_error("top", "either processes or a command, not both");
	if (!targets && !n && !opt.batch) {
		int err = top_choose(&opt);

		if (err)
			return err == -ECANCELED ? STATUS_DONE : STATUS_FAILED;
		targets = true;
	}
	if (!targets && !n)
		return usage_error("top", "nothing to show: give -p PID, a command or a recording");
	/* "--" before it makes it a command. */
	if (n == 1 && strcmp(argv[opt.first_arg - 1], "--") != 0)
		return top_recording(&opt, argv[opt.first_arg]);
	return top_live(&opt, n, argv + opt.first_arg, &inherit);
}
