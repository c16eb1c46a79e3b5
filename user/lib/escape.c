/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "lib/text.h"

#include <stdio.h>
#include <string.h>

int text_is_utf8(const char *bytes, size_t len)
{
	uint32_t cp;

	for (size_t i = 0, n; i < len; i += n) {
		n = text_utf8_next(bytes + i, len - i, &cp);
		if (!n)
			return 0;
	}
	return 1;
}

/* What was written so far; once something did not fit, nothing more is written. */
struct sink {
	char *out;
	size_t cap, len, need;
	bool full;
};

static void put(struct sink *s, const char *text, size_t n)
{
	s->need += n;
	if (s->full || s->len + n >= s->cap) {
		s->full = true;
		return;
	}
	memcpy(s->out + s->len, text, n);
	s->len += n;
}

static size_t done(struct sink *s)
{
	if (s->cap)
		s->out[s->len] = '\0';
	return s->need;
}

static void put_byte(struct sink *s, unsigned char b)
{
	static const char hex[] = "0123456789abcdef";
	char esc[4] = {'\\', 'x', hex[b >> 4], hex[b & 15]};

	if (b == '\n' || b == '\t' || b == '\r') {
		esc[1] = b == '\n' ? 'n' : b == '\t' ? 't' : 'r';
		put(s, esc, 2);
		return;
	}
	put(s, esc, sizeof(esc));
}

static void put_char(struct sink *s, uint32_t cp)
{
	char esc[16];

	put(s, esc, (size_t)snprintf(esc, sizeof(esc), "\\u{%04x}", cp));
}

/* Most labels are plain ASCII: their run is copied in one go. */
static size_t plain_run(const char *bytes, size_t len, const char *stop)
{
	size_t n = 0;

	while (n < len && bytes[n] >= 0x20 && bytes[n] < 0x7f && bytes[n] != stop[0] &&
	       bytes[n] != stop[1])
		n++;
	return n;
}

/* A long run that does not fit is written as far as it fits: every byte of it is whole. */
static void put_run(struct sink *s, const char *bytes, size_t n)
{
	size_t room = s->full || s->len >= s->cap ? 0 : s->cap - s->len - 1;

	if (n <= room) {
		put(s, bytes, n);
		return;
	}
	if (room)
		memcpy(s->out + s->len, bytes, room);
	s->len += room;
	s->need += n;
	s->full = true;
}

size_t text_escape_as(char *out, size_t cap, const char *bytes, size_t len, unsigned flags)
{
	const char *stop = flags & TEXT_KEEP_BACKSLASH ? "\x7f\x7f" : "\\\\";
	struct sink s = {.out = out, .cap = cap};
	uint32_t cp;

	for (size_t i = 0, n; i < len; i += n) {
		n = plain_run(bytes + i, len - i, stop);
		if (n) {
			put_run(&s, bytes + i, n);
			continue;
		}
		n = text_utf8_next(bytes + i, len - i, &cp);
		if (!n || (cp < 0x80 && cp != '\\')) {
			put_byte(&s, (unsigned char)bytes[i]);
			n = 1;
		} else if (cp == '\\') {
			put(&s, "\\\\", 2);
		} else if (flags & TEXT_ASCII || text_is_hidden(cp)) {
			put_char(&s, cp);
		} else {
			put(&s, bytes + i, n);
		}
	}
	return done(&s);
}

size_t text_escape(char *out, size_t cap, const char *bytes, size_t len)
{
	return text_escape_as(out, cap, bytes, len, 0);
}

static void put_json_char(struct sink *s, uint32_t cp)
{
	char esc[16];
	int n;

	if (cp < 0x10000)
		n = snprintf(esc, sizeof(esc), "\\u%04x", cp);
	else
		n = snprintf(esc, sizeof(esc), "\\u%04x\\u%04x", 0xd7c0 + (cp >> 10),
			     0xdc00 + (cp & 0x3ff));
	put(s, esc, (size_t)n);
}

/* What JSON has to escape, and what would reach a terminal that shows the JSON. */
size_t text_escape_json(char *out, size_t cap, const char *bytes, size_t len)
{
	struct sink s = {.out = out, .cap = cap};
	uint32_t cp;

	for (size_t i = 0, n; i < len; i += n) {
		n = plain_run(bytes + i, len - i, "\"\\");
		if (n) {
			put_run(&s, bytes + i, n);
			continue;
		}
		n = text_utf8_next(bytes + i, len - i, &cp);
		if (!n) {
			put(&s, "\xef\xbf\xbd", 3);
			n = 1;
		} else if (cp == '"' || cp == '\\') {
			put(&s, cp == '"' ? "\\\"" : "\\\\", 2);
		} else if (text_is_hidden(cp)) {
			put_json_char(&s, cp);
		} else {
			put(&s, bytes + i, n);
		}
	}
	return done(&s);
}
