/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* peakphase: which phase of the program set the memory peak? */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "lib/say.h"
#include "lib/text.h"

static int flush_stdout(void)
{
	errno = EIO;
	if (!fflush(stdout) && !ferror(stdout))
		return STATUS_DONE;
	if (errno != EPIPE)
		say_error("cannot write to stdout: %s", strerror(errno));
	return errno == EPIPE ? STATUS_DONE : STATUS_FAILED;
}

static int help(void)
{
	printf(
	    "peakphase: which phase of the program set the memory peak?\n\nUsage: peakphase COMMAND [options]\n\n");
	for (size_t i = 0; i < nsubcommands; i++)
		printf("  %-8s  %s\n", subcommands[i].name, subcommands[i].summary);
	printf(
	    "\n  peakphase COMMAND --help   options of a command\n  peakphase --version\n\nExit status: 0 done, 1 failed, 2 usage, 3 cannot trace here, 4 over a budget.\n");
	return flush_stdout();
}

static int unknown(const char *name)
{
	const struct subcommand *close = subcommand_closest(name);
	char escaped[256];

	text_escape(escaped, sizeof(escaped), name, strlen(name));
	say_error("no command \"%s\"", escaped);
	if (close)
		say_remedy("did you mean \"peakphase %s\"?", close->name);
	else
		say_remedy("peakphase --help lists the commands");
	return STATUS_USAGE;
}

static int run_command(const char *name, int argc, char **argv)
{
	const struct subcommand *c = subcommand_find(name);
	char program[64];
	int status;

	if (!c)
		return unknown(name);
	/* getopt_long() begins its messages with it. */
	snprintf(program, sizeof(program), "peakphase %s", c->name);
	argv[0] = program;
	status = c->run(argc, argv);
	return status ? status : flush_stdout();
}

static int help_of(char *name)
{
	char option[] = "--help";
	char *argv[] = {name, option, NULL};

	return run_command(name, 2, argv);
}

int main(int argc, char **argv)
{
	/* Characters only: numbers stay as they are in every language. */
	setlocale(LC_CTYPE, "");
	if (argc < 2) {
		say_error("no command");
		say_remedy("peakphase --help lists the commands");
		return STATUS_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return help();
	if (!strcmp(argv[1], "help"))
		return argc > 2 ? help_of(argv[2]) : help();
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("peakphase %s\n", PEAKPHASE_VERSION);
		return flush_stdout();
	}
	return run_command(argv[1], argc - 1, argv + 1);
}
