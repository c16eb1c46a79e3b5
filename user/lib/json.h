/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * JSON written as it comes, in memory that does not depend on its size: a report has a row for
 * each of a million phases (jansson, which reads JSON here, builds the whole tree first).
 *
 * Names begin with jw_: jansson has taken json_.
 *
 * Nesting is checked by assert: what is written is JSON or the program stops. Strings are bytes
 * of any kind; those that are not UTF-8 become U+FFFD. Not thread-safe.
 */
#ifndef PEAKPHASE_LIB_JSON_H
#define PEAKPHASE_LIB_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_DEPTH_MAX 32

struct jw {
	FILE *f;
	char *buf;
	size_t len;
	int err;
	unsigned depth;	      /* containers open */
	unsigned inline_from; /* depth from which all is on one line; 0: none */
	bool have_key;	      /* a key waits for its value */
	bool done;	      /* the one top value is complete */
	struct {
		bool object, any;
	} level[JSON_DEPTH_MAX];
};

/* The text goes to f, which stays the caller's. 0 or -ENOMEM. */
int jw_open(struct jw *j, FILE *f);
/* Writes what is buffered and a newline. 0, or the first error of all writes: -EPIPE, -ENOSPC, … */
int jw_close(struct jw *j);

void jw_begin_object(struct jw *j);
void jw_end_object(struct jw *j);
void jw_begin_array(struct jw *j);
void jw_end_array(struct jw *j);
/* The next container, and all within it, goes on one line. */
void jw_inline(struct jw *j);

#define JSON_KEY_MAX 250 /* bytes */
/* Names are the program's own: printable ASCII without quotes and backslashes, not long. */
void jw_key(struct jw *j, const char *name);

void jw_string(struct jw *j, const char *bytes, size_t len);
void jw_text(struct jw *j, const char *s); /* terminated; NULL: null */
void jw_hex(struct jw *j, const char *bytes, size_t len);
void jw_u64(struct jw *j, uint64_t n);
void jw_i64(struct jw *j, int64_t n);
void jw_bool(struct jw *j, bool b);
void jw_null(struct jw *j);
/* num / den to four decimals, rounded; null when den is 0. */
void jw_ratio(struct jw *j, uint64_t num, uint64_t den);

#endif
