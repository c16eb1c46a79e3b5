/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "source/late_wake.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "lib/clock.h"

/* What no word tells of (a library in the place of one of the same size) is found in this time. */
#define LOOK_MS 50
/*
 * A wake-up is an interrupt of the program that maps. So a storm of programs gets one in 2 ms,
 * after a burst that is enough for the start of any single one.
 */
#define PACE_MS 2
#define PACE_NS (PACE_MS * 1000000ull)
#define BURST 32

struct late_wake {
	struct ring_buffer *code; /* NULL: there is none */
	int end;		  /* eventfd */
	uint64_t paced_ns;
};

static int take_word(void *ctx, void *data, size_t size)
{
	(void)ctx;
	(void)data;
	(void)size;
	return 0;
}

int late_wake_open(struct late_wake **out, int code_ring)
{
	struct late_wake *w = calloc(1, sizeof(*w));
	int err = 0;

	if (!w)
		return -ENOMEM;
	w->end = eventfd(0, EFD_CLOEXEC);
	if (code_ring >= 0)
		w->code = ring_buffer__new(code_ring, take_word, NULL, NULL);
	if (w->end < 0 || (code_ring >= 0 && !w->code)) {
		err = -errno;
		late_wake_close(&w);
	}
	*out = w;
	return err;
}

void late_wake_close(struct late_wake **wp)
{
	struct late_wake *w = *wp;

	if (!w)
		return;
	ring_buffer__free(w->code);
	if (w->end >= 0)
		close(w->end);
	free(w);
	*wp = NULL;
}

/* As long as the word is not taken nobody sends another. */
static void pace(struct late_wake *w, struct pollfd *end)
{
	uint64_t now = clock_mono_ns();

	if (w->paced_ns + BURST * PACE_NS < now)
		w->paced_ns = now - BURST * PACE_NS;
	w->paced_ns += PACE_NS;
	if (w->paced_ns > now)
		poll(end, 1, PACE_MS);
}

bool late_wake_wait(struct late_wake *w, int fd, int wait_ms)
{
	struct pollfd fds[] = {
	    {.fd = w->end, .events = POLLIN},
	    {.fd = fd, .events = POLLIN},
	    {.fd = w->code ? ring_buffer__epoll_fd(w->code) : -1, .events = POLLIN},
	};

	if (w->code && wait_ms < 0)
		wait_ms = LOOK_MS;
	if (poll(fds, 3, wait_ms) < 0 && errno != EINTR)
		return false;
	if (fds[2].revents && !fds[0].revents)
		pace(w, &fds[0]);
	if (w->code)
		ring_buffer__consume(w->code);
	return !fds[0].revents;
}

void late_wake_end(struct late_wake *w)
{
	eventfd_write(w->end, 1);
}
