/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "lib/plain.h"

#include <string.h>

#define ESC '\033'
#define BEL '\a'

/* Bytes from s on that lie in a range. */
static size_t run(const char *s, size_t n, char first, char last)
{
	size_t len = 0;

	while (len < n && s[len] >= first && s[len] <= last)
		len++;
	return len;
}

/* Behind "ESC ]" and the like: up to BEL or "ESC \"; 0: it has no end. */
static size_t string_length(const char *s, size_t n)
{
	for (size_t i = 0; i < n && s[i] != '\n'; i++) {
		if (s[i] == BEL)
			return i + 1;
		if (s[i] == ESC)
			return i + 1 < n && s[i + 1] == '\\' ? i + 2 : 0;
	}
	return 0;
}

/* Of the sequence that begins at s; 0: none. */
static size_t sequence_length(const char *s, size_t n)
{
	size_t at = 2, string;

	if (n < 2 || s[0] != ESC)
		return 0;
	switch (s[1]) {
	case '[':
		at += run(s + at, n - at, 0x30, 0x3f);
		at += run(s + at, n - at, 0x20, 0x2f);
		return at < n && s[at] >= 0x40 && s[at] <= 0x7e ? at + 1 : 0;
	case ']':
	case 'P':
	case 'X':
	case '^':
	case '_':
		string = string_length(s + at, n - at);
		return string ? at + string : 0;
	default:
		at = 1 + run(s + 1, n - 1, 0x20, 0x2f);
		return at < n && s[at] >= 0x30 && s[at] <= 0x7e ? at + 1 : 0;
	}
}

size_t plain_copy(char *out, const char *text, size_t n)
{
	size_t len = 0;

	for (size_t at = 0; at < n;) {
		const char *esc = memchr(text + at, ESC, n - at);
		size_t plain = esc ? (size_t)(esc - text) - at : n - at, skip;

		memcpy(out + len, text + at, plain);
		len += plain;
		at += plain;
		if (!esc)
			break;
		skip = sequence_length(esc, n - at);
		if (!skip)
			out[len++] = text[at++];
		at += skip;
	}
	return len;
}

size_t plain_end(const char *text, size_t n, size_t end)
{
	size_t last = 0, at = 0;

	while (at < n && end) {
		size_t skip = sequence_length(text + at, n - at);

		if (skip) {
			at += skip;
			continue;
		}
		end--;
		last = ++at;
	}
	return last;
}
