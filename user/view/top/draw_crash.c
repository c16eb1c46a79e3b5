/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a crash leaves: a terminal that shows what is typed. Only calls that a handler may make. */
#include "view/top/draw_crash.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_MAX 256
#define STACK_SIZE (64 * 1024)

static const int SIGNALS[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS};

/* A handler has no argument of ours: the only way to tell it what to restore. */
static struct {
	int fd;
	struct termios before;
	char text[TEXT_MAX];
	size_t len;
	void *stack;
	struct sigaction was[sizeof(SIGNALS) / sizeof(SIGNALS[0])];
	volatile sig_atomic_t armed;
} crash;

static void on_crash(int sig)
{
	ssize_t n;

	if (crash.armed) {
		crash.armed = 0;
		n = write(crash.fd, crash.text, crash.len);
		(void)n;
		tcsetattr(crash.fd, TCSANOW, &crash.before);
	}
	raise(sig); /* SA_RESETHAND: now as if there had been no handler */
}

void draw_crash_arm(int fd, const struct termios *before, const char *text)
{
	struct sigaction sa = {.sa_handler = on_crash,
			       .sa_flags = SA_RESETHAND | SA_ONSTACK | SA_NODEFER};
	stack_t stack = {.ss_size = STACK_SIZE};

	crash.fd = fd;
	crash.before = *before;
	crash.len = strnlen(text, TEXT_MAX);
	memcpy(crash.text, text, crash.len);
	/* A stack that ran over is a crash, too; of the thread that draws. */
	crash.stack = stack.ss_sp = malloc(STACK_SIZE);
	if (stack.ss_sp)
		sigaltstack(&stack, NULL);
	crash.armed = 1;
	for (size_t i = 0; i < sizeof(SIGNALS) / sizeof(SIGNALS[0]); i++)
		sigaction(SIGNALS[i], &sa, &crash.was[i]);
}

void draw_crash_disarm(void)
{
	stack_t none = {.ss_flags = SS_DISABLE};

	if (!crash.armed)
		return;
	for (size_t i = 0; i < sizeof(SIGNALS) / sizeof(SIGNALS[0]); i++)
		sigaction(SIGNALS[i], &crash.was[i], NULL);
	crash.armed = 0;
	sigaltstack(&none, NULL);
	free(crash.stack);
	crash.stack = NULL;
}
