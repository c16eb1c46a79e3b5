/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions of native programs as spans: --span BINARY:FUNCTION.
 *
 * BINARY is a path, or the name of a file without its folders (an executable's, a library's, with
 * or without what comes behind ".so", or its soname). FUNCTION is a pattern of fnmatch(3) for names
 * as they stand in the symbol table, or in the source, with or without parameters.
 */
#ifndef PEAKPHASE_SOURCE_SPANS_H
#define PEAKPHASE_SOURCE_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPANS_RULES_MAX 32
#define SPANS_ERROR_MAX 256

struct spans;

struct spans *spans_new(void);
void spans_free(struct spans **s);
/* 0; -EINVAL: error says why; -ENOMEM. */
int spans_add(struct spans *s, const char *rule, char error[static SPANS_ERROR_MAX]);

/* Where one function is to be probed: offsets in the file. */
struct span_sites {
	uint64_t *entry, *cookie; /* of the entries */
	unsigned int entries;
	uint64_t *exit; /* `ret`, and jumps that cannot be followed */
	unsigned int exits;
	uint64_t *library; /* jumps to what returns by itself: for a return probe */
	unsigned int libraries;
};

/* A label is given to a function: number is what the cookie says. 0 or -errno. */
struct span_label;
typedef int (*spans_label_fn)(void *ctx, unsigned int number, const struct span_label *label);

/* Has a rule named this file? path: as the program, or the tracer, knows it. */
bool spans_want(struct spans *s, int fd);
/*
 * All functions of the file that are asked for. 0: also if there is none; what is wrong is said,
 * and spans_failed() tells. -ENOMEM, or what fn returned. To be freed by span_sites_free().
 */
int spans_find(struct spans *s, int fd, spans_label_fn fn, void *ctx, struct span_sites *out);
void span_sites_free(struct span_sites *sites);

/* Something was wrong with a rule: said. */
bool spans_failed(const struct spans *s);
/* Paths that rules name, one after the other; NULL: no more. Names without a "/" are none. */
const char *spans_path(const struct spans *s, unsigned int i);
/* Says which rules have met no file so far. */
void spans_say_unmet(const struct spans *s);

#endif
