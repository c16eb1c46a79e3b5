/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Text for terminals: escaping of hostile bytes, sizes, times. Thread-safe; pure but for
 * text_columns() and text_utf8_locale(), which ask the locale (LC_CTYPE).
 */
#ifndef PEAKPHASE_LIB_TEXT_H
#define PEAKPHASE_LIB_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Bytes → printable UTF-8 on one line. Control characters (C0, DEL, C1), line and paragraph
 * separators, bidirectional controls, characters that show nothing (zero width, fillers, tags) and
 * bytes that are not UTF-8 become \n, \t, \r, \\, \xHH (bytes) or
 * \u{HHHH} (characters), so that the bytes can be told back from the text; all else stays.
 * Writes at most cap - 1 bytes and a NUL, never half an escape or half a character.
 * Returns the bytes that all of it needs, without the NUL (as snprintf does): at most
 * TEXT_ESCAPED_MAX a byte.
 */
size_t text_escape(char *out, size_t cap, const char *bytes, size_t len);

#define TEXT_ESCAPED_MAX 4 /* bytes that one byte becomes at most */

enum text_flags {
	TEXT_ASCII = 1,		 /* every character that is not ASCII becomes \u{HHHH} */
	TEXT_KEEP_BACKSLASH = 2, /* for text that has been escaped already: once is enough */
};
size_t text_escape_as(char *out, size_t cap, const char *bytes, size_t len, unsigned flags);

/* The same for JSON strings, without the quotes: bytes that are not UTF-8 become U+FFFD. */
size_t text_escape_json(char *out, size_t cap, const char *bytes, size_t len);

#define TEXT_JSON_MAX 6 /* bytes that one byte becomes at most */

/* Is it UTF-8 (no surrogates, no overlong forms)? */
int text_is_utf8(const char *bytes, size_t len);

/*
 * Length of the character at bytes (1 to 4) and its number in *cp; 0 if what is there is not
 * UTF-8. len is at least 1.
 */
size_t text_utf8_next(const char *bytes, size_t len, uint32_t *cp);

/* Is it one of the characters that text_escape() turns into \u{HHHH}, or a control? */
bool text_is_hidden(uint32_t cp);

/*
 * Columns on a terminal of printable UTF-8 (wide characters are 2, combining ones 0), by the
 * locale; characters that it does not know are 1.
 */
size_t text_columns(const char *utf8);

/* Does the locale that the program has set (setlocale) write UTF-8? */
bool text_utf8_locale(void);

/* "284.7" in units of 2^20 bytes. Signed: "-4.0". Returns out. */
char *text_mib(char out[static 24], int64_t bytes);
/* The same with its unit, which is KiB where "0.3 MiB" would say little: "284.7 MiB", "16 KiB". */
char *text_size(char out[static 24], uint64_t bytes);
/* "0.31 s", "12 ms", "3 us"; "3 min 05 s" past a minute; "2 h 05 min" past an hour. */
char *text_duration(char out[static 24], uint64_t ns);
/* "12.3k", "752.1k", "4.1M"; plain below 10000. */
char *text_count(char out[static 24], uint64_t n);
/* Decimal digits and a NUL; returns their number. Where printf would be the bottleneck. */
size_t text_u64(char out[static 24], uint64_t n);

/* FNV-1a over all bytes, as the kernel side hashes labels. */
uint64_t text_hash(const void *bytes, size_t len);

/* "512M", "1.5GiB", "4096" (bytes), suffix K M G T, optional iB or B: 0 or -EINVAL, -ERANGE. */
int text_parse_size(const char *s, uint64_t *bytes);
/* "1.5", "10s", "200ms", "2m", "1h": 0 or -EINVAL, -ERANGE. */
int text_parse_duration(const char *s, uint64_t *ns);

#endif
