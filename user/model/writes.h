/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes with an edge, until the edge has taken the marks that the write's lines are. Private to
 * lines.c but for struct out_mark.
 */
#ifndef PEAKPHASE_MODEL_WRITES_H
#define PEAKPHASE_MODEL_WRITES_H

#include "model/pattern.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* Bytes of the line that are kept, from the match's first on, and before it. */
#define MARK_BEFORE 256u
#define MARK_AFTER 1024u

struct out_mark {
	struct pattern_match match;
	char *text;	  /* not terminated; NULL: there was no room */
	uint32_t len, at; /* where the match begins in it */
};

struct out_write {
	uint64_t id, mm_id;
	uint32_t file, tid; /* whose line has its bytes */
	struct out_mark *marks;
	size_t n, cap;
	uint32_t refs; /* of open lines with bytes of it */
	bool seen;     /* all of it has come */
	bool taken;    /* its edge has gone by */
	UT_hash_handle hh;
};

/* All zero: none. */
struct writes {
	struct out_write *table;
	size_t marks; /* in all of them */
	size_t text;  /* bytes of their lines */
	struct out_mark *taken;
	uint64_t dropped; /* marks for which there was no room, or whose edge never came */
};

struct out_write *writes_find(const struct writes *ws, uint64_t id);
/* NULL: no memory. */
struct out_write *writes_get(struct writes *ws, uint64_t id, uint64_t mm_id);
/* A line lets go of it. */
void writes_put(struct writes *ws, struct out_write *w);
/* In line s of n bytes. w NULL: the mark has no edge. False: it was dropped, and counted. */
bool writes_mark(struct writes *ws, struct out_write *w, const struct pattern_match *m,
		 const char *s, size_t n);
/* Valid until the next call; the caller forgets the lines of each mark. */
struct out_mark *writes_take(struct writes *ws, uint64_t id, size_t *n);
void writes_forget(struct writes *ws, struct out_mark *m);
void writes_drop(struct writes *ws, uint64_t mm_id);
void writes_free(struct writes *ws);

#endif
