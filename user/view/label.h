/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of phases and processes, escaped for terminals. Pure, thread-safe. */
#ifndef PEAKPHASE_VIEW_LABEL_H
#define PEAKPHASE_VIEW_LABEL_H

#include "lib/text.h"
#include "model/phase.h"

/* Room for any label, escaped, with its marks. */
#define VIEW_LABEL_MAX (PP_LABEL_MAX * TEXT_ESCAPED_MAX + 32)
#define VIEW_COMMAND_MAX (PP_ARGS_MAX * TEXT_ESCAPED_MAX + 32)

/*
 * Of phases that no mark named: "(startup)", "(between)", "(after)". A label that could not be
 * read:
 * "(null)", "(unreadable)", after what could. A cut one ends in "…#" and 8 digits of its hash. A
 * label that is empty or begins with "(" or a quote stands in quotes, so that no program can name a
 * phase
 * "(startup)". flags: TEXT_ASCII. Returns the bytes written, without the NUL.
 */
size_t view_label(char out[static VIEW_LABEL_MAX], const struct phase *ph, unsigned flags);

/* Name of an implied phase; NULL for checkpoints and spans. */
const char *view_implied_name(enum phase_kind kind);

/* len without a character that a cut at len has halved. */
size_t view_whole_chars(const char *bytes, size_t len);

/* Arguments with spaces between, or [comm] where there are none; "…" when cut. */
size_t view_command(char out[static VIEW_COMMAND_MAX], const struct process *p, unsigned flags);

/* "signal 9 (SIGKILL)". Returns out. */
char *view_signal(char out[static 40], uint32_t sig);

/* "exit status 3", "killed by signal 9 (SIGKILL)", "ended by exec", … Returns out. */
char *view_exit(char out[static 64], const struct process *p);

#endif
