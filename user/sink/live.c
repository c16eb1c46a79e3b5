/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The tracer's side. */
#include "sink/live.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/say.h"
#include "sink/live_private.h"

/* A round of reading is a matter of milliseconds. */
#define RELEASE_MS 2000

struct live {
	pid_t pid;
	int pidfd, socket, token;
	bool final;
};

int live_start(struct live **out, const char *place, bool quiet, int (*become)(void))
{
	struct live *l = calloc(1, sizeof(*l));
	int ends[2] = {-1, -1}, err;

	*out = NULL;
	if (!l)
		return -ENOMEM;
	l->token = eventfd(1, EFD_SEMAPHORE | EFD_NONBLOCK | EFD_CLOEXEC);
	if (l->token < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) {
		err = -errno;
		goto err;
	}
	l->pid = fork();
	if (!l->pid) {
		say_quiet(quiet);
		live_process(ends[1], l->token, place, become);
	}
	err = l->pid < 0 ? -errno : 0;
	close(ends[1]);
	l->socket = ends[0];
	if (!err) {
		l->pidfd = (int)syscall(SYS_pidfd_open, l->pid, 0);
		*out = l;
		return 0;
	}
	close(l->socket);
err:
	say_error("cannot start a process for --sink: %s", strerror(-err));
	if (l->token >= 0)
		close(l->token);
	free(l);
	return err;
}

void live_recording(struct live *l, const char *path)
{
	char message[PATH_MAX + 1];
	size_t len = strlen(path);

	if (len >= PATH_MAX)
		return;
	message[0] = LIVE_RECORDING;
	memcpy(message + 1, path, len);
	send(l->socket, message, len + 1, MSG_NOSIGNAL);
}

void live_release(struct live *l)
{
	struct pollfd fds[] = {
	    {.fd = l->token, .events = POLLIN},
	    {.fd = l->pidfd, .events = POLLIN},
	};
	eventfd_t one;

	poll(fds, 2, RELEASE_MS);
	eventfd_read(l->token, &one); /* never given back */
}

/* Those that ask us to end, from now on; what came before was meant for the tracing. */
static int end_signals(void)
{
	struct signalfd_siginfo si;
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	while (fd >= 0 && read(fd, &si, sizeof(si)) > 0)
		;
	return fd;
}

void live_final(struct live *l)
{
	const char final = LIVE_FINAL;

	send(l->socket, &final, 1, MSG_NOSIGNAL);
	l->final = true;
}

int live_wait(struct live *l)
{
	struct signalfd_siginfo si;
	sigset_t before;
	int status = -1;

	if (!l->final)
		return 0;
	sigprocmask(SIG_SETMASK, NULL, &before);
	struct pollfd fds[] = {
	    {.fd = l->pidfd, .events = POLLIN},
	    {.fd = end_signals(), .events = POLLIN},
	};
	while (l->pidfd >= 0 && !fds[0].revents) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			break;
		if (fds[1].revents && read(fds[1].fd, &si, sizeof(si)) > 0)
			kill(l->pid, SIGTERM);
	}
	if (waitpid(l->pid, &status, 0) != l->pid)
		status = -1;
	l->pid = 0;
	if (fds[1].fd >= 0)
		close(fds[1].fd);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (!WIFEXITED(status))
		say_error("the sink's process died: not all was sent");
	return status ? -EIO : 0;
}

void live_drop(struct live **lp)
{
	struct live *l = *lp;

	if (!l)
		return;
	if (l->pid > 0) {
		kill(l->pid, SIGKILL);
		waitpid(l->pid, NULL, 0);
	}
	close(l->socket);
	close(l->token);
	if (l->pidfd >= 0)
		close(l->pidfd);
	free(l);
	*lp = NULL;
}
