/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * JSON written as it comes, in memory that does not depend on its size: a report has a row for
 * each of a million phases (jansson, which reads JSON here, builds the whole tree first).
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

struct json {
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
int json_open(struct json *j, FILE *f);
/* Writes what is buffered and a newline. 0, or the first error of all writes: -EPIPE, -ENOSPC, … */
int json_close(struct json *j);

void json_begin_object(struct json *j);
void json_end_object(struct json *j);
void json_begin_array(struct json *j);
void json_end_array(struct json *j);
/* The next container, and all within it, goes on one line. */
void json_inline(struct json *j);

/* Names are the program's own: printable ASCII without quotes and backslashes. */
void json_key(struct json *j, const char *name);

void json_string(struct json *j, const char *bytes, size_t len);
void json_text(struct json *j, const char *s); /* terminated; NULL: null */
void json_hex(struct json *j, const char *bytes, size_t len);
void json_u64(struct json *j, uint64_t n);
void json_i64(struct json *j, int64_t n);
void json_bool(struct json *j, bool b);
void json_null(struct json *j);
/* num / den to four decimals, rounded; null when den is 0. */
void json_ratio(struct json *j, uint64_t num, uint64_t den);

#endif
