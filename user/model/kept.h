/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What of a program's output is kept in the recording: of each stream the first bytes, and of what
 * came after them the last. Pieces go out as they come; what is pushed out of the last ones is
 * taken back. Pure but for the clock that callers pass; one thread.
 *
 * A flood is not written down only to be taken back: what is beyond KEPT_RATE waits here, and what
 * is pushed out while it waits never goes out.
 */
#ifndef PEAKPHASE_MODEL_KEPT_H
#define PEAKPHASE_MODEL_KEPT_H

#include "decode/event.h"

#define KEPT_FIRST (1u << 20)
#define KEPT_LAST (8u << 20)
#define KEPT_MOST (1u << 30)  /* of each of them */
#define KEPT_LEAST 64u	      /* a shorter piece counts as so many bytes: its row has a size too */
#define KEPT_RATE (8u << 20)  /* bytes a second of the last ones that go out at once */
#define KEPT_BURST (2u << 20) /* and before that */

enum { KEPT_STDOUT = 1, KEPT_STDERR = 2 }; /* pp_output.stream */

struct output_piece {
	uint64_t id; /* in the order in which they go out, of both streams, from 1 */
	uint64_t time_ns, mm_id;
	uint64_t at; /* bytes that the process had written to this stream before */
	uint32_t pid, tid;
	uint32_t stream, len;
	char bytes[PP_OUT_LARGE]; /* len of them */
};

struct output_totals {
	uint32_t stream;
	uint64_t keep_first, keep_last; /* the bounds */
	uint64_t written;		/* bytes that came */
	uint64_t dropped;		/* of them: pushed out */
};

struct kept_sink {
	void *ctx;
	void (*piece)(void *ctx, const struct output_piece *p);
	/* Pieces that went out: those of the stream with numbers from up to and with to. */
	void (*drop)(void *ctx, uint32_t stream, uint64_t from, uint64_t to);
	void (*totals)(void *ctx, const struct output_totals *t);
};

struct kept;

/* streams: bits 1 << KEPT_STDOUT, 1 << KEPT_STDERR; the others' pieces are passed over. NULL: no
 * memory. */
struct kept *kept_new(unsigned int streams, uint64_t first, uint64_t last,
		      const struct kept_sink *sink);
void kept_free(struct kept **k);

/* 0, -ENOMEM. */
int kept_add(struct kept *k, const struct ev_output *out);
/* All that was there has been given. */
void kept_poll(struct kept *k, uint64_t now_ns);
/* Nothing waits any longer. */
void kept_finish(struct kept *k);
/* Of a stream so far. */
const struct output_totals *kept_totals(const struct kept *k, uint32_t stream);

#endif
