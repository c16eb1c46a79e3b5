/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The longest literal that every match of a regular expression must hold: a line without it need
 * not be looked at. Of a PCRE2 pattern without options; where the pattern is too clever to tell,
 * there is none. Pure, thread-safe.
 */
#ifndef PEAKPHASE_MODEL_LITERAL_H
#define PEAKPHASE_MODEL_LITERAL_H

#include <stddef.h>

#define LITERAL_MAX 64u /* bytes kept of one: its end */
#define LITERALS_MAX 16

struct literal {
	size_t len;
	char bytes[LITERAL_MAX];
};

/*
 * One for each alternative of the pattern. Returns how many; 0: some match may hold none of any
 * length.
 */
int literal_find(struct literal out[LITERALS_MAX], const char *pattern, size_t len);

#endif
