/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From the rings to the caller. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "decode/decode.h"
#include "lib/clock.h"
#include "lib/say.h"
#include "source/args.h"
#include "source/session_iter.h"
#include "source/session_own.h"

static int hand_on(struct session *s, const struct event *ev)
{
	if (s->late && event_is_edge(ev->kind) && late_event(s->late, ev))
		return -ENOMEM;
	s->stop = s->opt.event(s->opt.ctx, ev);
	return s->stop ? -ECANCELED : 0;
}

static int hand_on_faults(struct session *s, uint64_t until_ns)
{
	while (s->next_waiting < s->n_waiting) {
		const struct event *ev = &s->waiting[s->next_waiting];

		if (ev->time_ns > until_ns)
			break;
		s->next_waiting++;
		if (hand_on(s, ev))
			return -ECANCELED;
	}
	if (s->next_waiting == s->n_waiting)
		s->next_waiting = s->n_waiting = 0;
	return 0;
}

/* For libbpf: the record has been taken, the rest is for later. */
static int past(const struct session *s, uint64_t time_ns)
{
	return time_ns > s->horizon ? -EAGAIN : 0;
}

/* What comes on another ring before an edge is handed on before it. */
static bool holds_edges(const struct session *s)
{
	return s->faults || s->output;
}

static int on_edge(void *ctx, void *data, size_t size)
{
	struct session *s = ctx;
	struct event ev;

	if (decode_record(data, size, s->facts.page_size, &ev)) {
		s->undecoded++;
		return 0;
	}
	args_of_attached("/proc", &ev);
	if (holds_edges(s)) {
		if (ev.time_ns > s->horizon) {
			s->held = ev;
			s->holding = true;
			return -EAGAIN;
		}
		if (hand_on_faults(s, ev.time_ns))
			return -ECANCELED;
	}
	return hand_on(s, &ev) ? -ECANCELED : past(s, ev.time_ns);
}

static int on_sample(void *ctx, void *data, size_t size)
{
	struct session *s = ctx;
	struct event ev;

	if (decode_record(data, size, s->facts.page_size, &ev)) {
		s->undecoded++;
		return 0;
	}
	return hand_on(s, &ev) ? -ECANCELED : past(s, ev.time_ns);
}

static int on_fault(void *ctx, void *data, size_t size)
{
	struct session *s = ctx;
	struct event *more;

	if (s->n_waiting == s->cap_waiting) {
		size_t cap = s->cap_waiting ? 2 * s->cap_waiting : 1024;

		more = realloc(s->waiting, cap * sizeof(*more));
		if (!more)
			return -ENOMEM;
		s->waiting = more;
		s->cap_waiting = cap;
	}
	if (decode_record(data, size, s->facts.page_size, &s->waiting[s->n_waiting])) {
		s->undecoded++;
		return 0;
	}
	return past(s, s->waiting[s->n_waiting++].time_ns);
}

static int on_output(void *ctx, void *data, size_t size)
{
	struct session *s = ctx;
	struct ev_output out;

	if (decode_output(data, size, &out)) {
		s->undecoded++;
		return 0;
	}
	s->stop = s->opt.output.piece(s->opt.ctx, &out);
	return s->stop ? -ECANCELED : past(s, out.time_ns);
}

/* 0 or what a callback returned but -EAGAIN. */
static int consume(struct session *s, struct ring_buffer *ring)
{
	int err = ring_buffer__consume(ring);

	if (err == -EAGAIN)
		s->behind = true;
	return err < 0 && err != -EAGAIN ? err : 0;
}

/*
 * Faults and output first, then the edges up to the moment at which that was begun: so every fault
 * meets the phases that were open when it happened, and what a program wrote is there at its end.
 */
static int drain_holding(struct session *s)
{
	int err = s->output ? consume(s, s->output) : 0;

	if (!err && s->faults)
		err = consume(s, s->faults);
	if (err)
		return err;
	if (s->holding) {
		struct event ev = s->held;

		s->holding = false;
		if (hand_on_faults(s, ev.time_ns) || hand_on(s, &ev))
			return -ECANCELED;
	}
	err = consume(s, s->edges);
	if (err)
		return err;
	return hand_on_faults(s, s->holding ? s->held.time_ns : s->horizon);
}

static int drain(struct session *s, bool last)
{
	int err;

	s->behind = false;
	s->horizon = clock_mono_ns();
	err = holds_edges(s) ? drain_holding(s) : consume(s, s->edges);
	if (!err)
		err = consume(s, s->samples);
	if (!err)
		err = consume(s, s->notes);
	if (err == -ECANCELED && s->stop)
		return s->stop;
	if (!err && s->late)
		late_resolve(s->late, s->horizon, last, s->opt.unheard, s->opt.ctx);
	return err;
}

int session_poll(struct session *s, int timeout_ms)
{
	struct epoll_event ev;
	int n = epoll_wait(s->epoll, &ev, 1, s->behind ? 0 : timeout_ms);

	if (n < 0 && errno != EINTR)
		return -errno;
	return drain(s, false);
}

int session_poll_last(struct session *s)
{
	if (s->late)
		late_finish(s->late);
	return drain(s, true);
}

bool session_behind(const struct session *s)
{
	return s->behind;
}

int session_stop(struct session *s)
{
	int err;

	s->skel->bss->stopped = 1;
	/* A full ring would have no room for the last edges. */
	err = drain(s, false);
	return err ? err : session_iter(s->skel->progs.detach_running, 0);
}

int session_fd(const struct session *s)
{
	return s->epoll;
}

static struct ring_buffer *new_ring(struct session *s, struct bpf_map *map,
				    ring_buffer_sample_fn fn)
{
	struct ring_buffer *rb = ring_buffer__new(bpf_map__fd(map), fn, s, NULL);

	if (!rb)
		say_error("cannot map the ring %s: %s", bpf_map__name(map), strerror(errno));
	return rb;
}

int session_open_rings(struct session *s)
{
	struct epoll_event ev = {.events = EPOLLIN};

	s->edges = new_ring(s, s->skel->maps.ring_edges, on_edge);
	s->samples = new_ring(s, s->skel->maps.ring_samples, on_sample);
	s->notes = new_ring(s, s->skel->maps.ring_notes, on_sample);
	if (!s->edges || !s->samples || !s->notes)
		return -ENOMEM;
	if (s->opt.where_every) {
		s->faults = new_ring(s, s->skel->maps.ring_faults, on_fault);
		if (!s->faults)
			return -ENOMEM;
	}
	if (s->opt.output.piece) {
		s->output = new_ring(s, s->skel->maps.ring_output, on_output);
		if (!s->output)
			return -ENOMEM;
	}
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll < 0)
		return -errno;
	if (epoll_ctl(s->epoll, EPOLL_CTL_ADD, ring_buffer__epoll_fd(s->edges), &ev) ||
	    epoll_ctl(s->epoll, EPOLL_CTL_ADD, ring_buffer__epoll_fd(s->notes), &ev))
		return -errno;
	if (s->output && epoll_ctl(s->epoll, EPOLL_CTL_ADD, ring_buffer__epoll_fd(s->output), &ev))
		return -errno;
	return 0;
}

uint64_t session_undecoded(const struct session *s)
{
	return s->undecoded;
}

uint64_t session_ring_bytes(const struct session *s)
{
	/* libbpf maps each ring's data twice in a row, so that no record wraps. */
	uint64_t n = 2ull * bpf_map__max_entries(s->skel->maps.ring_edges) +
		     2ull * bpf_map__max_entries(s->skel->maps.ring_samples) +
		     2ull * bpf_map__max_entries(s->skel->maps.ring_notes) +
		     2ull * bpf_map__max_entries(s->skel->maps.ring_code);

	if (s->faults)
		n += 2ull * bpf_map__max_entries(s->skel->maps.ring_faults);
	if (s->output)
		n += 2ull * bpf_map__max_entries(s->skel->maps.ring_output);
	return n;
}
