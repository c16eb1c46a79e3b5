/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The lines that are open, by file and thread: between lines.c and lines_store.c. */
#ifndef PEAKPHASE_MODEL_LINES_PRIVATE_H
#define PEAKPHASE_MODEL_LINES_PRIVATE_H

#include "model/lines.h"
#include "model/relay.h"

#define MATCHES 16 /* marks in one line */

/* From this byte of a line on it is of this write. */
struct ref {
	struct out_write *write;
	size_t at;
};

struct line_key {
	uint32_t file, tid;
};

struct line {
	struct line_key key;
	uint64_t mm_id;
	char *buf;
	size_t len, cap;
	size_t joint; /* where it went on after other threads had written; 0: nowhere */
	uint64_t turn;
	struct ref *refs;
	size_t nrefs, caprefs;
	uint64_t writing; /* write with an edge whose end has not come */
	bool matched;	  /* as it stood, before its end */
	bool cut;
	unsigned int wraps; /* lines in it that have their end, as a pattern goes on behind them */
	struct line *prev, *next; /* of the file */
	UT_hash_handle hh;
};

struct out_file {
	uint32_t number;
	uint64_t mm_id;
	uint32_t last_tid;
	uint64_t turn; /* changes of thread */
	struct line *lines;
	UT_hash_handle hh;
};

struct lines {
	struct patterns *patterns;
	struct lines_counts counts;
	struct out_file *files;
	struct line *lines;
	struct writes writes;
	size_t bytes;
	struct relays relays;
	struct pattern_match found[MATCHES];
	char joined[2 * LINE_MAX_BYTES];
	char plain[2 * LINE_MAX_BYTES + 1];
};

struct out_file *lines_file(const struct lines *l, uint32_t number);
/* That file, and the line of the thread that wrote; NULL: no memory. */
struct out_file *lines_get_file(struct lines *l, const struct ev_output *out);
struct line *lines_get(struct lines *l, struct out_file *f, const struct ev_output *out);
/* Bytes of write w (NULL: one without an edge), as far as a line goes. 0, -ENOMEM. */
int lines_append(struct lines *l, struct line *ln, const char *bytes, size_t n,
		 struct out_write *w);
/* It has been used: the thread's next line begins. */
void lines_clear(struct lines *l, struct line *ln);
void lines_remove(struct lines *l, struct line *ln);
/* The oldest go when there are too many, or too long ones; not the one in hand. */
void lines_make_room(struct lines *l, const struct line *keep);

#endif
