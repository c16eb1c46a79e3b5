/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "source/signals.h"

#include <errno.h>
#include <unistd.h>

int signals_open(struct signals *s)
{
	static const int signo[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
	sigset_t heard, blocked;
	int err;

	sigemptyset(&heard);
	for (size_t i = 0; i < sizeof(signo) / sizeof(signo[0]); i++) {
		struct sigaction sa;

		/* Blocked ones are queued even if they are ignored: nohup would be in vain. */
		if (sigaction(signo[i], NULL, &sa) || sa.sa_handler != SIG_IGN)
			sigaddset(&heard, signo[i]);
	}
	blocked = heard;
	sigaddset(&blocked, SIGPIPE);
	s->fd = -1;
	err = -pthread_sigmask(SIG_BLOCK, &blocked, &s->before);
	if (err)
		return err;
	s->fd = signalfd(-1, &heard, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->fd >= 0)
		return 0;
	err = -errno;
	pthread_sigmask(SIG_SETMASK, &s->before, NULL);
	return err;
}

int signals_next(struct signals *s, struct signalfd_siginfo *si)
{
	ssize_t n;

	do {
		n = read(s->fd, si, sizeof(*si));
	} while (n < 0 && errno == EINTR);
	if (n == (ssize_t)sizeof(*si))
		return 1;
	return n < 0 && errno != EAGAIN ? -errno : 0;
}

void signals_close(struct signals *s)
{
	const struct timespec now = {0};
	sigset_t pipe_only;

	if (s->fd < 0)
		return;
	close(s->fd);
	s->fd = -1;
	/* A pending SIGPIPE was answered by EPIPE already: it must not end us now. */
	sigemptyset(&pipe_only);
	sigaddset(&pipe_only, SIGPIPE);
	if (!sigismember(&s->before, SIGPIPE))
		sigtimedwait(&pipe_only, NULL, &now);
	pthread_sigmask(SIG_SETMASK, &s->before, NULL);
}

int signals_stop(struct signals *s, int *signo)
{
	struct signalfd_siginfo si;
	int n = signals_next(s, &si);

	if (n <= 0)
		return n;
	*signo = (int)si.ssi_signo;
	signals_close(s);
	return 1;
}
