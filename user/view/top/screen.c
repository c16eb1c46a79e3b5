/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "view/top/screen.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/say.h"
#include "lib/text.h"
#include "view/top/draw.h"
#include "view/top/layout.h"
#include "view/top/said.h"

#define LOCK_MS 50   /* a frame is left out rather than keys be kept waiting */
#define KEYS_MAX 256 /* handled before the next frame */
#define PATIENCE_S 1

struct screen {
	struct screen_options opt;
	struct draw *draw;
	struct top_state state;
	struct top_facts facts;
	struct top_list *list;
	struct cells cells;
	struct said *said;
	pthread_t thread;
	int stop, done, signals; /* eventfds and a signalfd; -1: none */
	sigset_t before;
	atomic_bool complete;
	uint64_t frames, drawn_ns;
};

static void tell(int fd)
{
	uint64_t one = 1;
	ssize_t n = write(fd, &one, sizeof(one));

	(void)n;
}

static bool told(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, 0) == 1;
}

/* False: the board was not to be had in time; the last frame stands. */
static bool lay_out(struct screen *s)
{
	uint64_t now = s->opt.recording ? 0 : clock_mono_ns();
	int rows = s->opt.rows, cols = s->opt.cols, err;

	if (s->draw)
		draw_size(s->draw, &rows, &cols);
	if (!board_lock_for(s->opt.board, LOCK_MS))
		return false;
	err = cells_reset(&s->cells, rows, cols, s->opt.ascii);
	s->facts.recording = s->opt.recording;
	if (!err)
		err = top_layout(s->opt.board, &s->state, &s->facts, s->list, &s->cells, now);
	board_unlock(s->opt.board);
	return !err;
}

/* "peakphase-top-20260131-120000.txt" in the current directory; never over a file that is there. */
static void write_snapshot(struct screen *s)
{
	char name[64], message[160];
	time_t now = time(NULL);
	struct tm tm;
	FILE *f = NULL;
	int fd;

	localtime_r(&now, &tm);
	strftime(name, sizeof(name), "peakphase-top-%Y%m%d-%H%M%S.txt", &tm);
	fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd >= 0)
		f = fdopen(fd, "w");
	errno = fd < 0 ? errno : 0;
	if (f)
		cells_print(&s->cells, f);
	if (!f || ferror(f) || fclose(f))
		snprintf(message, sizeof(message), "cannot write %s: %s", name,
			 strerror(errno ? errno : EIO));
	else
		snprintf(message, sizeof(message), "written to %s", name);
	top_state_say(&s->state, message);
}

static void frame(struct screen *s)
{
	uint64_t now = clock_mono_ns();
	char said[160];

	top_state_tick(&s->state, &s->facts, s->drawn_ns ? now - s->drawn_ns : 0);
	s->drawn_ns = now;
	if (said_last(s->said, said, sizeof(said)))
		top_state_say(&s->state, said);
	if (!lay_out(s))
		return;
	if (s->state.redraw)
		draw_redraw(s->draw);
	s->state.redraw = false;
	draw_cells(s->draw, &s->cells, s->state.color && !s->opt.mono);
}

/*
 * Any thread may be the one that takes the stop, and this one runs on until it is told: so the
 * terminal is left alone until somebody continues us. A stop takes back what SIGCONT was pending.
 */
static void wait_for_continue(const struct screen *s)
{
	struct pollfd fds[] = {{.fd = s->signals, .events = POLLIN},
			       {.fd = s->stop, .events = POLLIN}};
	struct signalfd_siginfo si;

	for (;;) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return;
		if (fds[1].revents)
			return;
		while (read(s->signals, &si, sizeof(si)) == (ssize_t)sizeof(si))
			if (si.ssi_signo == SIGCONT)
				return;
	}
}

/* Ctrl-Z: the terminal is given back first, and all of this process stops. */
static void stop_ourselves(struct screen *s)
{
	draw_suspend(s->draw);
	kill(getpid(), SIGSTOP);
	wait_for_continue(s);
	draw_resume(s->draw);
	s->drawn_ns = 0;
}

static void hear(struct screen *s)
{
	struct signalfd_siginfo si;

	while (read(s->signals, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
		if (si.ssi_signo == SIGTSTP)
			stop_ourselves(s);
		else if (si.ssi_signo == SIGCONT)
			draw_redraw(s->draw);
	}
}

/* False: the terminal has gone. */
static bool take_keys(struct screen *s)
{
	int64_t key = 0;

	for (int i = 0; i < KEYS_MAX && (key = draw_key(s->draw)) > 0; i++) {
		top_state_key(&s->state, &s->facts, (uint32_t)key);
		if (s->state.quit)
			return false;
		/* The next key means what it does on the page that this one has led to. */
		lay_out(s);
		if (s->state.snapshot)
			write_snapshot(s);
		s->state.snapshot = false;
	}
	return key >= 0;
}

static void *run_terminal(void *arg)
{
	struct screen *s = arg;
	struct pollfd fds[] = {
	    {.fd = s->stop, .events = POLLIN},
	    {.fd = STDIN_FILENO, .events = POLLIN},
	    {.fd = s->signals, .events = POLLIN},
	};
	int wait = (int)(s->opt.delay_ns / 1000000);
	bool going = true;

	while (going && !fds[0].revents) {
		frame(s);
		if (poll(fds, 3, wait > 0 ? wait : 1) < 0 && errno != EINTR)
			break;
		if (fds[2].revents)
			hear(s);
		if (fds[1].revents)
			going = !(fds[1].revents & (POLLERR | POLLHUP | POLLNVAL)) && take_keys(s);
	}
	tell(s->done);
	return NULL;
}

/* An empty line between frames, as top(1) has it. */
static bool print_frame(struct screen *s)
{
	if (!lay_out(s))
		return true;
	if (s->frames++)
		putchar('\n');
	cells_print(&s->cells, stdout);
	return !fflush(stdout) && (!s->opt.frames || s->frames < s->opt.frames);
}

static void *run_batch(void *arg)
{
	struct screen *s = arg;
	struct pollfd p = {.fd = s->stop, .events = POLLIN};
	uint64_t next = clock_mono_ns() + s->opt.delay_ns, now;
	bool going = true;

	while (going) {
		now = clock_mono_ns();
		if (poll(&p, 1, now < next ? (int)((next - now) / 1000000) + 1 : 0) == 1)
			break;
		if (clock_mono_ns() < next)
			continue;
		/* Of a recording there is nothing to be seen before all of it is read. */
		if (!s->opt.recording || atomic_load(&s->complete))
			going = print_frame(s);
		if (atomic_load(&s->complete))
			going = false;
		next += s->opt.delay_ns;
	}
	/* The last one shows how it ended. */
	if (going && (!s->opt.frames || s->frames < s->opt.frames))
		print_frame(s);
	tell(s->done);
	return NULL;
}

int screen_check(void)
{
	int err = draw_check();

	if (err == -ENOTTY) {
		say_error("top draws on a terminal, and this is none");
		say_remedy("peakphase top --batch prints plain frames");
	} else if (err == -ENOTSUP) {
		say_error("this terminal (TERM) cannot move its cursor, or is not known here");
		say_remedy("set TERM to what it is, or use peakphase top --batch");
	}
	return err;
}

static int open_terminal(struct screen *s)
{
	int err = draw_open(&s->draw);
	sigset_t heard;

	if (err) {
		say_error("cannot draw on this terminal: %s", strerror(-err));
		return err;
	}
	sigemptyset(&heard);
	sigaddset(&heard, SIGWINCH);
	sigaddset(&heard, SIGTSTP);
	sigaddset(&heard, SIGCONT);
	pthread_sigmask(SIG_BLOCK, &heard, &s->before);
	s->signals = signalfd(-1, &heard, SFD_CLOEXEC | SFD_NONBLOCK);
	return s->signals < 0 ? -errno : 0;
}

static int start(struct screen *s)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	/* Those that a crash raises go to the thread that crashed. */
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGILL);
	sigdelset(&all, SIGFPE);
	sigdelset(&all, SIGABRT);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&s->thread, NULL, s->opt.batch ? run_batch : run_terminal, s);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -err;
}

static void release(struct screen *s)
{
	if (s->draw)
		draw_close(&s->draw);
	if (s->signals >= 0) {
		close(s->signals);
		pthread_sigmask(SIG_SETMASK, &s->before, NULL);
	}
	if (s->stop >= 0)
		close(s->stop);
	if (s->done >= 0)
		close(s->done);
	said_close(&s->said);
	top_list_free(&s->list);
	cells_free(&s->cells);
	free(s);
}

int screen_open(struct screen **out, const struct screen_options *opt)
{
	struct screen *s = calloc(1, sizeof(*s));
	int err = 0;

	*out = NULL;
	if (!s)
		return -ENOMEM;
	s->opt = *opt;
	s->stop = s->done = s->signals = -1;
	top_state_init(&s->state);
	s->list = top_list_new();
	s->stop = eventfd(0, EFD_CLOEXEC);
	s->done = eventfd(0, EFD_CLOEXEC);
	if (!s->list || s->stop < 0 || s->done < 0)
		err = -ENOMEM;
	if (!err && !opt->batch)
		err = open_terminal(s);
	if (!err && !opt->batch)
		s->said = said_open();
	if (!err)
		err = start(s);
	if (err) {
		release(s);
		return err;
	}
	*out = s;
	return 0;
}

int screen_fd(const struct screen *s)
{
	return s->done;
}

bool screen_done(const struct screen *s)
{
	return told(s->done);
}

void screen_complete(struct screen *s)
{
	atomic_store(&s->complete, true);
	if (s->opt.batch)
		tell(s->stop);
}

/* 0, or ETIMEDOUT: it hangs. */
static int join(struct screen *s, int seconds)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += seconds;
	return pthread_timedjoin_np(s->thread, NULL, &until);
}

void screen_close(struct screen **sp)
{
	struct screen *s = *sp;

	if (!s)
		return;
	*sp = NULL;
	tell(s->stop);
	if (join(s, PATIENCE_S)) {
		/* The terminal was stopped by Ctrl-S: it goes on, so that it can be restored. */
		tcflow(STDOUT_FILENO, TCOOFF);
		tcflow(STDOUT_FILENO, TCOON);
		if (join(s, PATIENCE_S)) {
			/* Nobody reads at its other side. It goes with the process. */
			pthread_detach(s->thread);
			if (s->draw)
				draw_abandon(s->draw);
			return;
		}
	}
	release(s);
}
