/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Why a command could not be executed, in words. Only command.c uses it. */
#ifndef PEAKPHASE_SOURCE_COMMAND_FAIL_H
#define PEAKPHASE_SOURCE_COMMAND_FAIL_H

enum command_step {
	COMMAND_STEP_EXEC = 1,
	COMMAND_STEP_GROUPS,
	COMMAND_STEP_USER,
};

void command_say_user(const char *user, const char *what);
/* error: the errno of the step. user may be NULL. Returns the exit status that it stands for. */
int command_say_failure(const char *name, const char *user, int step, int error);

#endif
