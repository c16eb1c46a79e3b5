/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Messages to people: stderr, one line each, "peakphase: …". An error is said once, where its
 * cause is known, with the remedy; callers above pass on 0/-errno and stay silent.
 * Strings from outside must have gone through escape.h. Thread-safe (one write per message).
 */
#ifndef PEAKPHASE_LIB_SAY_H
#define PEAKPHASE_LIB_SAY_H

#include <stddef.h>

/* "peakphase: error: …"; then say_remedy() for the line below it: "  → …". */
void say_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void say_remedy(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void say_warning(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* "peakphase: …": once-only facts, silenced by -q. */
void say_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void say_quiet(int quiet);

enum say_kind { SAY_INFO, SAY_REMEDY, SAY_WARNING, SAY_ERROR };
typedef void (*say_fn)(void *ctx, enum say_kind kind, const char *line, size_t len);
/* Whole lines go to fn instead of stderr, while somebody else has the terminal. NULL: to stderr. */
void say_to(say_fn fn, void *ctx);

#endif
