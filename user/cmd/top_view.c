/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/top.h"
#include "lib/say.h"
#include "lib/text.h"

#define DELAY_NS 250000000u

static int number_of(const char *name, int otherwise)
{
	const char *s = getenv(name);
	long n = s ? strtol(s, NULL, 10) : 0;

	return n > 0 && n <= 1000 ? (int)n : otherwise;
}

int top_setup(struct top *top, const struct trace_options *opt)
{
	const char *no_color = getenv("NO_COLOR");
	int err;

	memset(top, 0, sizeof(*top));
	output_init(&top->output);
	top->options = (struct screen_options){
	    .board = &top->board,
	    .batch = opt->batch,
	    .ascii = opt->ascii || !text_utf8_locale(),
	    .mono = no_color && *no_color,
	    .delay_ns = opt->delay_ns ? opt->delay_ns : DELAY_NS,
	    .frames = opt->frames,
	    .rows = number_of("LINES", 24),
	    .cols = number_of("COLUMNS", 80),
	};
	/* Before anything is begun. */
	err = opt->batch ? 0 : screen_check();
	if (err)
		return err;
	err = signals_open(&top->signals);
	if (!err)
		err = board_init(&top->board);
	if (err)
		say_error("cannot set up the view: %s", strerror(-err));
	return err;
}

void top_wait(struct top *top)
{
	struct pollfd fds[] = {
	    {.fd = top->signals.fd, .events = POLLIN},
	    {.fd = top->screen ? screen_fd(top->screen) : -1, .events = POLLIN},
	};

	while (top->screen && !fds[0].revents && !fds[1].revents)
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			break;
}

void top_cleanup(struct top *top)
{
	struct signalfd_siginfo si;

	screen_close(&top->screen);
	/* They have ended us: that is all that they were to do. */
	while (signals_next(&top->signals, &si) == 1)
		;
	signals_close(&top->signals);
	output_print(&top->output);
	board_free(&top->board);
}
