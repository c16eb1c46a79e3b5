/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "source/oncross.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/invoker.h"
#include "lib/say.h"

#define PATIENCE_MS 500
/* Where the helper has its end of the socket; it closes all above. */
#define SOCKET 3

struct oncross {
	pid_t pid;
	int fd;
};

static void __attribute__((noreturn))
run_command(const char *command, char *facts, size_t len, const struct command_inherit *inherit)
{
	int null = open("/dev/null", O_RDWR);

	for (size_t at = 0; at < len; at += strlen(facts + at) + 1)
		putenv(facts + at);
	/* Standard output is the traced command's, or the report's. */
	if (null >= 0)
		dup2(null, STDIN_FILENO);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	close_range(SOCKET, ~0u, 0);
	command_inherit_restore(inherit);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

static unsigned int reap(int signals, unsigned int running)
{
	struct signalfd_siginfo si;

	while (read(signals, &si, sizeof(si)) > 0)
		;
	while (running && waitpid(-1, NULL, WNOHANG) > 0)
		running--;
	return running;
}

static void __attribute__((noreturn))
helper(int fd, int out, const char *command, const struct command_inherit *inherit)
{
	char facts[ONCROSS_FACTS_MAX + 1];
	unsigned int running = 0;
	sigset_t child;
	int signals;
	ssize_t n;

	/* First out: its number may be the socket's new one. */
	if ((out != STDERR_FILENO && dup2(out, STDERR_FILENO) < 0) ||
	    (fd != SOCKET && dup2(fd, SOCKET) < 0))
		_exit(1);
	close_range(SOCKET + 1, ~0u, 0);
	/* Not the terminal's: its Ctrl-C is for the traced command. */
	setsid();
	sigfillset(&child);
	sigprocmask(SIG_SETMASK, &child, NULL);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	signal(SIGCHLD, SIG_DFL);
	signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	/* Root's command with a file of the user's name would be a way to root. */
	if (signals < 0 || !invoker_become())
		_exit(1);
	for (;;) {
		struct pollfd fds[] = {
		    {.fd = signals, .events = POLLIN},
		    {.fd = running < ONCROSS_RUNNING_MAX ? SOCKET : -1, .events = POLLIN},
		};

		poll(fds, 2, -1);
		running = reap(signals, running);
		if (!fds[1].revents)
			continue;
		n = recv(SOCKET, facts, ONCROSS_FACTS_MAX, 0);
		if (n <= 0)
			_exit(0); /* the tracer has ended */
		facts[n] = '\0';
		switch (fork()) {
		case 0:
			run_command(command, facts, (size_t)n, inherit);
		case -1:
			break;
		default:
			running++;
		}
	}
}

int oncross_start(struct oncross **op, const char *command, const struct command_inherit *inherit,
		  int out)
{
	struct oncross *o = calloc(1, sizeof(*o));
	int ends[2], err;

	*op = NULL;
	if (!o)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) {
		err = -errno;
		goto err;
	}
	o->fd = ends[0];
	o->pid = fork();
	if (!o->pid)
		helper(ends[1], out, command, inherit);
	err = o->pid < 0 ? -errno : 0;
	close(ends[1]);
	if (!err) {
		*op = o;
		return 0;
	}
	close(ends[0]);
err:
	say_error("cannot start a process for --on-cross: %s", strerror(-err));
	free(o);
	return err;
}

bool oncross_run(struct oncross *o, const char *facts, size_t len)
{
	if (len > ONCROSS_FACTS_MAX)
		return false;
	return send(o->fd, facts, len, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)len;
}

/* It ends at once, unless as many commands run as may: then it goes on by itself, and ends with us.
 */
void oncross_stop(struct oncross **op)
{
	struct oncross *o = *op;

	if (!o)
		return;
	close(o->fd);
	for (int ms = 0; ms < PATIENCE_MS && !waitpid(o->pid, NULL, WNOHANG); ms += 5)
		nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
	free(o);
	*op = NULL;
}
