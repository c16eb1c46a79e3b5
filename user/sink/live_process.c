/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The sink's side. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/say.h"
#include "sink/live_private.h"
#include "sink/pump.h"

/* Where it has its descriptors; it closes all above. */
enum { SOCKET = 3, TOKEN, ABOVE };

struct worker {
	struct outlet outlet;
	struct place place;
	struct pump pump;
	char path[PATH_MAX]; /* "": there is no recording yet */
	int signals;
	bool pumping, final, stopped;
};

static bool move(int *fd, int to)
{
	if (*fd == to)
		return true;
	if (dup2(*fd, to) < 0)
		return false;
	*fd = to;
	return true;
}

/* Nothing of the tracer's and the command's is held but stderr. */
static bool take_fds(int socket, int token)
{
	int null;

	/* Neither may be in the other's place. */
	socket = fcntl(socket, F_DUPFD, ABOVE);
	token = fcntl(token, F_DUPFD, ABOVE);
	if (socket < 0 || token < 0 || !move(&socket, SOCKET) || !move(&token, TOKEN))
		return false;
	close_range(ABOVE, ~0u, 0);
	null = open("/dev/null", O_RDWR);
	if (null < 0)
		return false;
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	if (null > STDERR_FILENO)
		close(null);
	return true;
}

/* They are looked at, and end nothing by themselves: Ctrl-C is for the command that is traced. */
static int take_signals(void)
{
	sigset_t set;

	sigfillset(&set);
	sigprocmask(SIG_SETMASK, &set, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

static bool was_signalled(const struct worker *p)
{
	struct signalfd_siginfo si;

	return read(p->signals, &si, sizeof(si)) > 0;
}

/* While a transfer or a wait lasts, in the end. */
static bool stop(void *ctx)
{
	struct worker *p = ctx;

	p->stopped |= p->final && was_signalled(p);
	return p->stopped;
}

static void begin(struct worker *p)
{
	if (!p->pumping && *p->path && !outlet_open(&p->outlet, &p->place, stop, p))
		p->pumping = !pump_begin(&p->pump, p->path, &p->place, &p->outlet);
}

/* Takes all messages there are. false: the tracer is gone. */
static bool take_messages(struct worker *p)
{
	char message[PATH_MAX + 1];
	ssize_t n;

	while ((n = recv(SOCKET, message, sizeof(message) - 1, MSG_DONTWAIT)) > 0) {
		message[n] = '\0';
		if (message[0] == LIVE_RECORDING) {
			memcpy(p->path, message + 1, (size_t)n);
			begin(p);
		} else if (message[0] == LIVE_FINAL) {
			while (was_signalled(p))
				;
			p->final = true;
		}
	}
	return n < 0 && (errno == EAGAIN || errno == EINTR);
}

static unsigned int round_trip(struct worker *p)
{
	eventfd_t one;

	/* Where the tracer has it, the recording is about to be closed. */
	if (!eventfd_read(TOKEN, &one)) {
		pump_read(&p->pump, false);
		eventfd_write(TOKEN, 1);
	}
	return pump_send(&p->pump, false);
}

void __attribute__((noreturn))
live_process(int socket, int token, const char *place, int (*become)(void))
{
	struct worker p = {0};
	unsigned int wait_ms = 0;
	bool there = true;

	if (!take_fds(socket, token))
		_exit(1);
	p.signals = take_signals();
	prctl(PR_SET_NAME, "peakphase-sink");
	if (become()) {
		say_error("the sink cannot give up its rights");
		_exit(1);
	}
	/* Nobody else's process shall look at what it knows. */
	prctl(PR_SET_DUMPABLE, 0);
	if (place_parse(&p.place, place))
		_exit(1);
	while (there && !p.final) {
		struct pollfd fd = {.fd = SOCKET, .events = POLLIN};

		poll(&fd, 1, p.pumping ? (int)wait_ms : -1);
		there = take_messages(&p);
		if (there && p.pumping && !p.final)
			wait_ms = round_trip(&p);
	}
	/* Of a tracer that died the rest is sent, too. */
	p.final = true;
	if (!p.pumping)
		_exit(*p.path != '\0');
	_exit(pump_finish(&p.pump, stop, &p) ? 1 : 0);
}
