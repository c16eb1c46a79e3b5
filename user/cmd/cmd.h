/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The subcommands. Each has a file of its own, takes argv as main() does (argv[0] is its name, its
 * options by getopt_long, --help among them), says its errors and returns the exit status. A new
 * one adds its declaration here and its line in commands.c.
 */
#ifndef PEAKPHASE_CMD_CMD_H
#define PEAKPHASE_CMD_CMD_H

#include <stddef.h>

enum status {
	STATUS_DONE = 0,
	STATUS_FAILED = 1,
	STATUS_USAGE = 2,
	STATUS_CANNOT_TRACE = 3, /* here: this kernel, or this user */
	STATUS_OVER_BUDGET = 4,
	/* `run` passes its command's own status on, 128 + N for signal N */
};

struct subcommand {
	const char *name;
	const char *summary; /* one line, lower case, no full stop */
	int (*run)(int argc, char **argv);
};

extern const struct subcommand subcommands[];
extern const size_t nsubcommands;

int cmd_run(int argc, char **argv);
int cmd_attach(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_push(int argc, char **argv);
int cmd_presets(int argc, char **argv);
int cmd_doctor(int argc, char **argv);

/*
 * After getopt_long() has said what is wrong: how to get help. Returns STATUS_USAGE. reason NULL:
 * getopt said it.
 */
int usage_error(const char *command, const char *reason);

/* Command with that name; NULL: none. The closest name for a mistyped one; NULL: none is close. */
const struct subcommand *subcommand_find(const char *name);
const struct subcommand *subcommand_closest(const char *name);

#endif
