/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Signals between terminal, tracer and command. This program is its own command, too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <poll.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "source/command.h"
#include "source/signals.h"

static char self[PATH_MAX];

static struct command *spawn(char *const *argv)
{
	struct command_options o = {.argv = argv};
	struct command *c = NULL;

	assert_int_equal(command_spawn(&c, &o), 0);
	return c;
}

/* --wait FD or --deaf FD: says that it is ready to be signalled, and waits. */
static int wait_signals(const char *how, int fd)
{
	if (!strcmp(how, "--deaf")) {
		signal(SIGINT, SIG_IGN);
		signal(SIGQUIT, SIG_IGN);
	}
	if (write(fd, "r", 1) != 1)
		return 1;
	sleep(5);
	return 9;
}

static struct command *start_ready(char *how)
{
	int fds[2], status;
	struct command *c;
	char byte, number[16];

	assert_int_equal(pipe(fds), 0);
	snprintf(number, sizeof(number), "%d", fds[1]);
	c = spawn((char *[]){self, how, number, NULL});
	assert_int_equal(command_signal_setup(c), 0);
	assert_int_equal(command_start(c, &status), 0);
	close(fds[1]);
	assert_int_equal(read(fds[0], &byte, 1), 1);
	close(fds[0]);
	return c;
}

static void send_and_handle(struct command *c, int signo)
{
	struct pollfd p = {.fd = command_signal_fd(c), .events = POLLIN};

	kill(getpid(), signo);
	assert_int_equal(poll(&p, 1, 1000), 1);
	assert_int_equal(command_handle_signals(c), 1);
	assert_int_equal(command_handle_signals(c), 0);
}

static int end_of(struct command *c)
{
	int status;

	assert_int_equal(command_reap(c, &status), 0);
	command_free(&c);
	return command_exit_status(status);
}

static void forwards_signals(void **state)
{
	static const int signo[] = {SIGTERM, SIGHUP, SIGQUIT, SIGINT};

	(void)state;
	for (size_t i = 0; i < sizeof(signo) / sizeof(signo[0]); i++) {
		struct command *c = start_ready("--wait");

		send_and_handle(c, signo[i]);
		assert_int_equal(end_of(c), 128 + signo[i]);
	}
}

static void second_interrupt_kills(void **state)
{
	struct command *c = start_ready("--deaf");

	(void)state;
	send_and_handle(c, SIGQUIT);
	send_and_handle(c, SIGINT);
	assert_int_equal(waitpid(command_pid(c), NULL, WNOHANG), 0); /* it lives on */
	send_and_handle(c, SIGINT);
	assert_int_equal(end_of(c), 128 + SIGKILL);
}

static void mask_comes_back(void **state)
{
	struct command *c = spawn((char *[]){"true", NULL});
	sigset_t before, during, after;

	(void)state;
	sigprocmask(SIG_SETMASK, NULL, &before);
	assert_int_equal(command_signal_setup(c), 0);
	sigprocmask(SIG_SETMASK, NULL, &during);
	assert_true(sigismember(&during, SIGINT) && sigismember(&during, SIGPIPE));
	/* A write to nobody is an error, not an end, and leaves nothing behind. */
	raise(SIGPIPE);
	command_free(&c);
	sigprocmask(SIG_SETMASK, NULL, &after);
	assert_int_equal(sigismember(&after, SIGINT), sigismember(&before, SIGINT));
	assert_int_equal(sigismember(&after, SIGPIPE), sigismember(&before, SIGPIPE));
}

static volatile sig_atomic_t from_kernel, from_user;

static void on_int(int signo, siginfo_t *si, void *ctx)
{
	(void)signo;
	(void)ctx;
	if (si->si_code == SI_KERNEL)
		from_kernel++;
	else
		from_user++;
}

/* --count-int: the interrupts that arrive until a quarter of a second after the first. */
static int count_int(void)
{
	struct sigaction sa = {.sa_sigaction = on_int, .sa_flags = SA_SIGINFO};

	sigaction(SIGINT, &sa, NULL);
	if (write(STDOUT_FILENO, "ready\n", 6) != 6)
		return 1;
	for (int i = 0; i < 500 && !from_kernel && !from_user; i++)
		usleep(10000);
	for (int i = 0; i < 25; i++)
		usleep(10000);
	printf("terminal %d sent %d\n", (int)from_kernel, (int)from_user);
	return 0;
}

/* The tracer's side of a terminal session. */
static int terminal_session(void)
{
	struct command_options o = {.argv = (char *[]){self, "--count-int", NULL}};
	struct command *c;
	int status;

	if (command_spawn(&c, &o) || command_signal_setup(c) || command_start(c, &status))
		return 1;
	for (;;) {
		struct pollfd p[] = {{.fd = command_pidfd(c), .events = POLLIN},
				     {.fd = command_signal_fd(c), .events = POLLIN}};

		if (poll(p, 2, 8000) <= 0)
			return 2;
		if (p[1].revents)
			command_handle_signals(c);
		if (p[0].revents)
			break;
	}
	return command_reap(c, &status) ? 3 : command_exit_status(status);
}

static void terminal_interrupt_arrives_once(void **state)
{
	char text[1024] = "";
	size_t used = 0;
	bool pressed = false;
	int master, status;
	pid_t pid = forkpty(&master, NULL, NULL, NULL);

	(void)state;
	if (!pid)
		_exit(terminal_session());
	assert_true(pid > 0);
	for (;;) {
		struct pollfd p = {.fd = master, .events = POLLIN};
		ssize_t n;

		if (poll(&p, 1, 8000) <= 0)
			break;
		n = read(master, text + used, sizeof(text) - 1 - used);
		if (n <= 0) /* EIO: the last one on the other side is gone */
			break;
		used += (size_t)n;
		text[used] = '\0';
		if (!pressed && strstr(text, "ready")) {
			pressed = true;
			assert_int_equal(write(master, "\003", 1), 1);
		}
	}
	close(master);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	if (!strstr(text, "terminal 1 sent 0"))
		fail_msg("%s", text);
}

/* What attach does: the first request is heard, the second acts by itself. */
static int ask_to_stop_twice(int signo)
{
	struct signals s;
	int got = 0;

	if (signals_open(&s) || signals_stop(&s, &got))
		return 1;
	kill(getpid(), signo);
	if (signals_stop(&s, &got) != 1 || got != signo || s.fd != -1)
		return 2;
	kill(getpid(), signo);
	return 3;
}

static void second_request_ends_at_once(void **state)
{
	static const int signo[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

	(void)state;
	for (size_t i = 0; i < sizeof(signo) / sizeof(signo[0]); i++) {
		pid_t pid = fork();
		int status;

		if (!pid)
			_exit(ask_to_stop_twice(signo[i]));
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(command_exit_status(status), 128 + signo[i]);
	}
}

/* nohup, background jobs of a script: what is ignored is not heard either. */
static int ignored_at_the_start(void)
{
	struct signals s;
	int got = 0;

	signal(SIGHUP, SIG_IGN);
	if (signals_open(&s))
		return 1;
	kill(getpid(), SIGHUP);
	return signals_stop(&s, &got) ? 2 : 0;
}

static void ignored_stays_ignored(void **state)
{
	pid_t pid = fork();
	int status;

	(void)state;
	if (!pid)
		_exit(ignored_at_the_start());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(forwards_signals),
	    cmocka_unit_test(second_interrupt_kills),
	    cmocka_unit_test(mask_comes_back),
	    cmocka_unit_test(terminal_interrupt_arrives_once),
	    cmocka_unit_test(second_request_ends_at_once),
	    cmocka_unit_test(ignored_stays_ignored),
	};
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n < 0)
		return 1;
	self[n] = '\0';
	if (argc > 2)
		return wait_signals(argv[1], atoi(argv[2]));
	if (argc > 1)
		return count_int();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
