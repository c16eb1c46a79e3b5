/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "model/kept.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TOTALS_NS 100000000ull

/* One of the last pieces. */
struct last {
	uint64_t arrived; /* its place among those of both streams */
	uint64_t id;	  /* once it went out */
	uint32_t len;
	struct output_piece *waits; /* NULL: it went out */
};

struct stream {
	struct output_totals totals;
	uint64_t first; /* bytes that the first ones count */
	uint64_t last;	/* the same of the last ones */
	struct last *ring;
	size_t cap, begin, n, out;   /* out: of n, the oldest, that went out */
	uint64_t drop_from, drop_to; /* 0: nothing to be taken back */
	bool told;		     /* the totals, as they are */
};

struct kept {
	struct kept_sink sink;
	unsigned int streams;
	struct stream stream[KEPT_STDERR + 1];
	uint64_t next_id, arrived;
	uint64_t room;		     /* bytes that may go out now */
	uint64_t polled_ns, told_ns; /* 0: never */
};

struct kept *kept_new(unsigned int streams, uint64_t first, uint64_t last,
		      const struct kept_sink *sink)
{
	struct kept *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->sink = *sink;
	k->streams = streams;
	k->next_id = 1;
	k->room = KEPT_BURST;
	for (uint32_t i = KEPT_STDOUT; i <= KEPT_STDERR; i++)
		k->stream[i].totals =
		    (struct output_totals){.stream = i, .keep_first = first, .keep_last = last};
	return k;
}

static struct last *at(const struct stream *s, size_t i)
{
	return &s->ring[(s->begin + i) % s->cap];
}

void kept_free(struct kept **kp)
{
	struct kept *k = *kp;

	if (!k)
		return;
	for (int i = KEPT_STDOUT; i <= KEPT_STDERR; i++) {
		struct stream *s = &k->stream[i];

		for (size_t n = s->out; n < s->n; n++)
			free(at(s, n)->waits);
		free(s->ring);
	}
	free(k);
	*kp = NULL;
}

static uint32_t counts(uint32_t len)
{
	return len < KEPT_LEAST ? KEPT_LEAST : len;
}

static int grow(struct stream *s)
{
	size_t cap = s->cap ? 2 * s->cap : 256;
	struct last *more = calloc(cap, sizeof(*more));

	if (!more)
		return -ENOMEM;
	for (size_t i = 0; i < s->n; i++)
		more[i] = *at(s, i);
	free(s->ring);
	s->ring = more;
	s->cap = cap;
	s->begin = 0;
	return 0;
}

static void fill(struct output_piece *p, const struct ev_output *out)
{
	p->time_ns = out->time_ns;
	p->mm_id = out->mm_id;
	p->at = out->at;
	p->pid = out->pid;
	p->tid = out->tid;
	p->stream = out->stream;
	p->len = out->len;
	memcpy(p->bytes, out->bytes, out->len);
}

/* The oldest of the last ones. */
static void push_out(struct stream *s)
{
	struct last *old = at(s, 0);

	s->totals.dropped += old->len;
	s->last -= counts(old->len);
	if (s->out) {
		s->out--;
		s->drop_from = s->drop_from ? s->drop_from : old->id;
		s->drop_to = old->id;
	}
	free(old->waits);
	s->begin = (s->begin + 1) % s->cap;
	s->n--;
}

static int add_last(struct kept *k, struct stream *s, const struct ev_output *out)
{
	struct output_piece *p;

	if (s->n == s->cap && grow(s))
		return -ENOMEM;
	p = malloc(offsetof(struct output_piece, bytes) + out->len);
	if (!p)
		return -ENOMEM;
	fill(p, out);
	s->last += counts(p->len);
	*at(s, s->n++) = (struct last){.arrived = k->arrived++, .len = p->len, .waits = p};
	while (s->last > s->totals.keep_last && s->n)
		push_out(s);
	return 0;
}

/* One that reaches over the end of the first bytes is cut there. */
static uint32_t add_first(struct kept *k, struct stream *s, const struct ev_output *out)
{
	uint64_t room = s->totals.keep_first - s->first;
	struct ev_output part = *out;
	struct output_piece p;

	if (part.len > room)
		part.len = (uint32_t)room;
	if (!part.len)
		return 0;
	fill(&p, &part);
	p.id = k->next_id++;
	s->first += counts(part.len) < room ? counts(part.len) : room;
	k->sink.piece(k->sink.ctx, &p);
	return part.len;
}

int kept_add(struct kept *k, const struct ev_output *out)
{
	struct stream *s = &k->stream[out->stream];
	struct ev_output rest = *out;
	uint32_t n;

	if (!(k->streams >> out->stream & 1) || !out->len)
		return 0;
	s->totals.written += out->len;
	s->told = false;
	n = add_first(k, s, out);
	rest.bytes += n;
	rest.at += n;
	rest.len -= n;
	return rest.len ? add_last(k, s, &rest) : 0;
}

/* What waits, the oldest of both streams first, as far as there is room. */
static void send(struct kept *k)
{
	for (;;) {
		struct stream *from = NULL;
		struct last *l;

		for (int i = KEPT_STDOUT; i <= KEPT_STDERR; i++) {
			struct stream *s = &k->stream[i];

			if (s->out < s->n &&
			    (!from || at(s, s->out)->arrived < at(from, from->out)->arrived))
				from = s;
		}
		if (!from)
			return;
		l = at(from, from->out);
		if (counts(l->len) > k->room)
			return;
		k->room -= counts(l->len);
		l->id = l->waits->id = k->next_id++;
		k->sink.piece(k->sink.ctx, l->waits);
		free(l->waits);
		l->waits = NULL;
		from->out++;
	}
}

static void take_back(struct kept *k)
{
	for (int i = KEPT_STDOUT; i <= KEPT_STDERR; i++) {
		struct stream *s = &k->stream[i];

		if (s->drop_from)
			k->sink.drop(k->sink.ctx, s->totals.stream, s->drop_from, s->drop_to);
		s->drop_from = s->drop_to = 0;
	}
}

static void tell_totals(struct kept *k)
{
	for (int i = KEPT_STDOUT; i <= KEPT_STDERR; i++) {
		struct stream *s = &k->stream[i];

		if (!(k->streams >> i & 1) || s->told)
			continue;
		s->told = true;
		k->sink.totals(k->sink.ctx, &s->totals);
	}
}

void kept_poll(struct kept *k, uint64_t now_ns)
{
	uint64_t since = k->polled_ns && now_ns > k->polled_ns ? now_ns - k->polled_ns : 0;

	/* Bounded before it is multiplied: nobody may have looked for a while. */
	since = since < 1000000000ull ? since : 1000000000ull;
	k->polled_ns = now_ns;
	k->room += since * KEPT_RATE / 1000000000ull;
	k->room = k->room < KEPT_BURST ? k->room : KEPT_BURST;
	take_back(k);
	send(k);
	if (k->told_ns && now_ns - k->told_ns < TOTALS_NS)
		return;
	k->told_ns = now_ns;
	tell_totals(k);
}

void kept_finish(struct kept *k)
{
	k->room = UINT64_MAX;
	take_back(k);
	send(k);
	tell_totals(k);
}

const struct output_totals *kept_totals(const struct kept *k, uint32_t stream)
{
	return &k->stream[stream].totals;
}
