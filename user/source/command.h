/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The command that `run` traces.
 *
 * It is forked early, waits at a gate, and becomes the command only when everything is attached.
 * Nothing of the tracer goes with it: descriptors are close-on-exec (every one that the tracer
 * opens must be), signal mask, dispositions and limits are those that the tracer was started
 * with, and it stays in the tracer's session and process group, so that the terminal's Ctrl-C
 * and Ctrl-Z reach it directly. If the tracer dies at the gate the child ends by itself; if it
 * dies later the command goes on.
 *
 * Order: command_inherit_save() first in main(); command_spawn() before any thread, dropped
 * capability or changed signal; command_signal_setup(); load, attach; command_start(); poll
 * command_pidfd() and command_signal_fd(); command_reap(). One thread.
 *
 * Errors are said here. 0 or -errno.
 */
#ifndef PEAKPHASE_SOURCE_COMMAND_H
#define PEAKPHASE_SOURCE_COMMAND_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

struct command;

/* What the tracer was started with and may change for itself. */
struct command_inherit {
	sigset_t mask;
	uint64_t ignored; /* bit N - 1: signal N is ignored */
	struct rlimit files, memlock;
};

struct command_options {
	char *const *argv;		       /* NULL-terminated; argv[0] is looked up in PATH */
	const char *user;		       /* name or number to run as; NULL: as we are */
	const struct command_inherit *inherit; /* NULL: as it is now */
	const int *stdio;		       /* three descriptors: its 0, 1 and 2; NULL: ours */
};

/* Exit statuses of the shell's convention. */
#define COMMAND_NOT_FOUND 127
#define COMMAND_NOT_RUNNABLE 126

void command_inherit_save(struct command_inherit *in);
/* In a forked child, before it executes what the user asked for. */
void command_inherit_restore(const struct command_inherit *in);

/* Forks. -EINVAL: no such user; -EPERM: not allowed to become it. */
int command_spawn(struct command **c, const struct command_options *opts);

/*
 * Opens the gate and waits until the command's program has been executed. A failure to execute
 * it is said and returned; *status (not NULL) is then the exit status that a shell would give:
 * 127 or 126. The child is then gone and reaped.
 */
int command_start(struct command *c, int *status);

pid_t command_pid(const struct command *c);
/* Readable once the command has ended. Owned by c. */
int command_pidfd(const struct command *c);

/* The command's status as wait(2) gives it; waits. -ECHILD: reaped already. */
int command_reap(struct command *c, int *status);
/* The same as an exit status: the code, or 128 + signal. */
int command_exit_status(int status);

/*
 * Signals to the tracer meant for the command: the terminal's Ctrl-C and Ctrl-\ reached it
 * already and are not sent again; those that somebody sent to the tracer (SIGINT, SIGQUIT,
 * SIGTERM, SIGHUP) are forwarded. A second SIGINT kills it.
 */
int command_signal_setup(struct command *c);
int command_signal_fd(const struct command *c);
/* Takes all that are pending. The number of signals seen, or -errno. */
int command_handle_signals(struct command *c);

/*
 * Ends what is left (a child at the gate ends by itself; a running command goes on) and frees.
 * Nulls *c; NULL is fine.
 */
void command_free(struct command **c);

/* What a name means by PATH (NULL: the environment's), as execvp(3) sees it. -ENOENT, -EACCES. */
int command_lookup(const char *name, const char *path, char out[static PATH_MAX]);

#endif
