/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Escaping (cases D1, D2), numbers as text, sizes and durations as people type them. */
#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "lib/text.h"

static size_t put_utf8(char *out, uint32_t cp)
{
	if (cp < 0x80) {
		out[0] = (char)cp;
		return 1;
	}
	if (cp < 0x800) {
		out[0] = (char)(0xc0 | cp >> 6);
		out[1] = (char)(0x80 | (cp & 0x3f));
		return 2;
	}
	if (cp < 0x10000) {
		out[0] = (char)(0xe0 | cp >> 12);
		out[1] = (char)(0x80 | (cp >> 6 & 0x3f));
		out[2] = (char)(0x80 | (cp & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | cp >> 18);
	out[1] = (char)(0x80 | (cp >> 12 & 0x3f));
	out[2] = (char)(0x80 | (cp >> 6 & 0x3f));
	out[3] = (char)(0x80 | (cp & 0x3f));
	return 4;
}

/* What a reader of the text does to have the bytes back. */
static size_t unescape(char *out, const char *s)
{
	size_t n = 0;
	char *end;

	while (*s) {
		if (*s != '\\') {
			out[n++] = *s++;
			continue;
		}
		switch (s[1]) {
		case 'x':
			out[n++] = (char)strtoul((char[]){s[2], s[3], 0}, NULL, 16);
			s += 4;
			break;
		case 'u':
			assert_int_equal(s[2], '{');
			n += put_utf8(out + n, (uint32_t)strtoul(s + 3, &end, 16));
			assert_int_equal(*end, '}');
			s = end + 1;
			break;
		default:
			out[n++] = s[1] == 'n'	 ? '\n'
				   : s[1] == 't' ? '\t'
				   : s[1] == 'r' ? '\r'
						 : '\\';
			s += 2;
		}
	}
	return n;
}

/* Nothing in it may reach a terminal as more than a visible character. */
static void assert_harmless(const char *s, size_t len)
{
	uint32_t cp;

	for (size_t i = 0, n; i < len; i += n) {
		n = text_utf8_next(s + i, len - i, &cp);
		assert_true(n > 0);
		assert_false(text_is_hidden(cp));
		assert_false(cp < 0x20 || (cp >= 0x7f && cp < 0xa0));
		assert_false(cp == 0x2028 || cp == 0x2029 || (cp >= 0x202a && cp <= 0x202e));
		assert_false((cp >= 0x2066 && cp <= 0x2069) || cp == 0x200e || cp == 0x200f);
	}
}

static void check_round_trip(const char *bytes, size_t len)
{
	char text[256], back[256];

	for (unsigned flags = 0; flags <= TEXT_ASCII; flags++) {
		size_t need = text_escape_as(text, sizeof(text), bytes, len, flags);

		assert_true(need <= len * TEXT_ESCAPED_MAX);
		assert_int_equal(need, strlen(text));
		assert_harmless(text, need);
		for (size_t i = 0; flags && i < need; i++)
			assert_true((unsigned char)text[i] < 0x80);
		assert_int_equal(unescape(back, text), len);
		assert_memory_equal(back, bytes, len);
	}
}

static void every_pair_of_bytes_comes_back(void **state)
{
	(void)state;
	for (int a = 0; a < 256; a++)
		for (int b = 0; b < 256; b++)
			check_round_trip((char[]){(char)a, (char)b}, 2);
}

/* Three and four bytes: every first byte with the edges of what may follow. */
static void long_sequences_come_back(void **state)
{
	static const unsigned char edges[] = {0x00, 0x1b, 0x5c, 0x7f, 0x80, 0x8f, 0x90,
					      0x9b, 0x9f, 0xa0, 0xa8, 0xaa, 0xbf, 0xc0,
					      0xc2, 0xe2, 0xed, 0xef, 0xf0, 0xf4, 0xff};
	size_t n = sizeof(edges);

	(void)state;
	for (int a = 0; a < 256; a++)
		for (size_t i = 0; i < n * n * n; i++)
			check_round_trip((char[]){(char)a, (char)edges[i % n],
						  (char)edges[i / n % n], (char)edges[i / n / n]},
					 4);
}

static void every_character_comes_back(void **state)
{
	char s[4];

	(void)state;
	for (uint32_t cp = 0; cp <= 0x10ffff; cp++) {
		if (cp == 0xd800)
			cp = 0xe000;
		check_round_trip(s, put_utf8(s, cp));
	}
}

static void assert_escaped(const char *bytes, const char *text)
{
	char out[128];

	text_escape(out, sizeof(out), bytes, strlen(bytes));
	assert_string_equal(out, text);
}

static void known_texts(void **state)
{
	(void)state;
	assert_escaped("transform:users", "transform:users");
	assert_escaped("a]b [c] \"q\" \\ %s", "a]b [c] \"q\" \\\\ %s");
	assert_escaped("Zeilen\n\tzwei\r", "Zeilen\\n\\tzwei\\r");
	assert_escaped("über 日本 🙂", "über 日本 🙂");
	assert_escaped("\033]0;title\007\033[2J", "\\x1b]0;title\\x07\\x1b[2J");
	assert_escaped("\xc2\x9b"
		       "2J\x7f",
		       "\\u{009b}2J\\x7f");
	assert_escaped("\x9b"
		       "31m",
		       "\\x9b31m");
	assert_escaped("a\u202eb\u2066c\u200f", "a\\u{202e}b\\u{2066}c\\u{200f}");
	assert_escaped("a\u2028b\u2029", "a\\u{2028}b\\u{2029}");
	assert_escaped("load\u200b:\ufeffusers\u00ad", "load\\u{200b}:\\u{feff}users\\u{00ad}");
	assert_escaped("\U000e0041", "\\u{e0041}");
	assert_escaped("\xc0\xaf\xed\xa0\x80\xf5", "\\xc0\\xaf\\xed\\xa0\\x80\\xf5");
}

/* At every size: what is written is a beginning of the whole, of whole escapes, and terminated. */
static void check_cut(size_t (*escape)(char *, size_t, const char *, size_t), const char *bytes,
		      size_t len)
{
	char whole[512], part[512];
	size_t need = escape(whole, sizeof(whole), bytes, len);

	assert_int_equal(escape(NULL, 0, bytes, len), need);
	for (size_t cap = 1; cap <= need + 2; cap++) {
		memset(part, 'Z', sizeof(part));
		assert_int_equal(escape(part, cap, bytes, len), need);
		assert_true(strlen(part) < cap);
		assert_int_equal(part[cap], 'Z');
		assert_memory_equal(part, whole, strlen(part));
		assert_true(text_is_utf8(part, strlen(part)));
	}
	assert_string_equal(part, whole);
}

static void cut_where_it_may_be_cut(void **state)
{
	static const char mixed[] = "ab\033c\\d\ne\u202ef日\xffg🙂\U000e0041h\"i";
	char out[4];

	(void)state;
	check_cut(text_escape, mixed, sizeof(mixed) - 1);
	check_cut(text_escape_json, mixed, sizeof(mixed) - 1);
	assert_int_equal(text_escape(out, sizeof(out), "\033", 1), 4);
	assert_string_equal(out, "");
	assert_int_equal(text_escape(out, sizeof(out), "a日b", 5), 5);
	assert_string_equal(out, "a");
	/* What does not fit ends the text: nothing is left out in between. */
	assert_int_equal(text_escape(out, sizeof(out), "\033a", 2), 5);
	assert_string_equal(out, "");
}

static void escaped_text_is_not_escaped_again(void **state)
{
	char out[64];

	(void)state;
	text_escape_as(out, sizeof(out), "a\\x1b \033", 7, TEXT_KEEP_BACKSLASH);
	assert_string_equal(out, "a\\x1b \\x1b");
	text_escape_as(out, sizeof(out), "\xc3\xbc\\", 3, TEXT_KEEP_BACKSLASH | TEXT_ASCII);
	assert_string_equal(out, "\\u{00fc}\\");
}

static void check_json(const char *bytes, size_t len)
{
	char quoted[128] = "\"", expected[128];
	size_t n = text_escape_json(quoted + 1, sizeof(quoted) - 3, bytes, len), want = 0;
	uint32_t cp;
	json_t *v;

	assert_true(n <= len * TEXT_JSON_MAX);
	assert_harmless(quoted + 1, n);
	quoted[1 + n] = '"';
	v = json_loadb(quoted, n + 2, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	assert_non_null(v);
	for (size_t i = 0, k; i < len; i += k) {
		k = text_utf8_next(bytes + i, len - i, &cp);
		want += put_utf8(expected + want, k ? cp : 0xfffd);
		k = k ? k : 1;
	}
	assert_int_equal(json_string_length(v), want);
	assert_memory_equal(json_string_value(v), expected, want);
	json_decref(v);
}

static void json_of_every_pair_and_character(void **state)
{
	char s[4];

	(void)state;
	for (int a = 0; a < 256; a++)
		for (int b = 0; b < 256; b++)
			check_json((char[]){(char)a, (char)b}, 2);
	for (uint32_t cp = 0; cp <= 0x10ffff; cp += cp < 0x3000 || cp > 0xfe00 ? 1 : 13) {
		if (cp >= 0xd800 && cp < 0xe000)
			cp = 0xe000;
		check_json(s, put_utf8(s, cp));
	}
}

static void utf8_or_not(void **state)
{
	(void)state;
	assert_true(text_is_utf8("", 0));
	assert_true(text_is_utf8("a\0b", 3));
	assert_true(text_is_utf8("\xf4\x8f\xbf\xbf", 4));
	assert_false(text_is_utf8("\xf4\x90\x80\x80", 4));
	assert_false(text_is_utf8("\xc0\x80", 2));
	assert_false(text_is_utf8("\xe0\x9f\xbf", 3));
	assert_false(text_is_utf8("\xed\xa0\x80", 3));
	assert_false(text_is_utf8("\xf0\x8f\xbf\xbf", 4));
	assert_false(text_is_utf8("\xe2\x82", 2));
}

static void columns(void **state)
{
	(void)state;
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		skip();
	assert_true(text_utf8_locale());
	assert_int_equal(text_columns("abc"), 3);
	assert_int_equal(text_columns("für"), 3);
	assert_int_equal(text_columns("日本"), 4);
	assert_int_equal(text_columns("e\u0301"), 1);
	assert_int_equal(text_columns("…◀"), 2);
	assert_int_equal(text_columns("\xff"), 1);
	setlocale(LC_CTYPE, "C");
	assert_false(text_utf8_locale());
}

#define MIB (1024 * 1024ll)

static void assert_mib(int64_t bytes, const char *text)
{
	char s[24];

	assert_string_equal(text_mib(s, bytes), text);
}

static void size_with_unit(void **state)
{
	char s[24];

	(void)state;
	assert_string_equal(text_size(s, 0), "0 KiB");
	assert_string_equal(text_size(s, 12288), "12 KiB");
	assert_string_equal(text_size(s, MIB - 1), "1023 KiB");
	assert_string_equal(text_size(s, MIB), "1.0 MiB");
	assert_string_equal(text_size(s, 500 * MIB + MIB / 2), "500.5 MiB");
	assert_string_equal(text_size(s, INT64_MAX), "8796093022208.0 MiB");
}

static void mib(void **state)
{
	(void)state;
	assert_mib(0, "0.0");
	assert_mib(300 * MIB, "300.0");
	assert_mib(-4 * MIB, "-4.0");
	assert_mib(MIB / 20 - 1, "0.0");
	assert_mib(MIB / 20 + 1, "0.1");
	assert_mib(-4096, "0.0");
	assert_mib(-MIB / 4, "-0.3"); /* a half goes away from zero */
	assert_mib(MIB - 1, "1.0");
	assert_mib(INT64_MAX, "8796093022208.0");
	assert_mib(INT64_MIN, "-8796093022208.0");
}

static void assert_duration(uint64_t ns, const char *text)
{
	char s[24];

	assert_string_equal(text_duration(s, ns), text);
}

static void durations(void **state)
{
	const uint64_t us = 1000, ms = 1000 * us, s = 1000 * ms;

	(void)state;
	assert_duration(0, "0 us");
	assert_duration(3 * us, "3 us");
	assert_duration(999 * us + 499, "999 us");
	assert_duration(999 * us + 500, "1 ms");
	assert_duration(12 * ms, "12 ms");
	assert_duration(100 * ms - 1, "0.10 s");
	assert_duration(310 * ms, "0.31 s");
	assert_duration(1240 * ms, "1.24 s");
	assert_duration(60 * s - 1, "1 min 00 s");
	assert_duration(185 * s, "3 min 05 s");
	assert_duration(3600 * s - 1, "1 h 00 min");
	assert_duration(7500 * s, "2 h 05 min");
	assert_duration(UINT64_MAX, "5124095 h 35 min");
}

static void assert_count(uint64_t n, const char *text)
{
	char s[24];

	assert_string_equal(text_count(s, n), text);
}

static void counts(void **state)
{
	(void)state;
	assert_count(0, "0");
	assert_count(9999, "9999");
	assert_count(10000, "10.0k");
	assert_count(12345, "12.3k");
	assert_count(752149, "752.1k");
	assert_count(999949, "999.9k");
	assert_count(999950, "1.0M");
	assert_count(4100000, "4.1M");
	assert_count(999949999, "999.9M");
	assert_count(999950000, "1.0G");
	assert_count(UINT64_MAX, "18.4E");
}

static void sizes_typed(void **state)
{
	static const struct {
		const char *s;
		uint64_t bytes;
	} good[] = {{"4096", 4096},	  {"0", 0},
		    {"512M", 512 * MIB},  {"512MiB", 512 * MIB},
		    {"512mb", 512 * MIB}, {"1.5GiB", 1536 * MIB},
		    {"64k", 65536},	  {"2T", 2097152 * MIB},
		    {"10B", 10},	  {"18446744073709551615", UINT64_MAX}};
	static const char *const bad[] = {"",	 "M",	"-1",	 "+1",	  "1.5", " 1",
					  "1 ",	 "1X",	"1Mi",	 "1..5M", "1.M", "0x10",
					  "1e3", "inf", "1MiBB", "1i"};
	uint64_t n;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		assert_int_equal(text_parse_size(good[i].s, &n), 0);
		assert_int_equal(n, good[i].bytes);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(text_parse_size(bad[i], &n), -EINVAL);
	assert_int_equal(text_parse_size("18446744073709551616", &n), -ERANGE);
	assert_int_equal(text_parse_size("16777216T", &n), -ERANGE);
}

static void durations_typed(void **state)
{
	static const struct {
		const char *s;
		uint64_t ns;
	} good[] = {{"1.5", 1500000000},  {"10s", 10000000000},	 {"200ms", 200000000},
		    {"2m", 120000000000}, {"1h", 3600000000000}, {"0.25us", 250}};
	static const char *const bad[] = {"", "s", "-1", "1 s", "1d", "1,5", "nan", "1S"};
	uint64_t n;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		assert_int_equal(text_parse_duration(good[i].s, &n), 0);
		assert_int_equal(n, good[i].ns);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(text_parse_duration(bad[i], &n), -EINVAL);
	assert_int_equal(text_parse_duration("99999999h", &n), -ERANGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_pair_of_bytes_comes_back),
	    cmocka_unit_test(long_sequences_come_back),
	    cmocka_unit_test(every_character_comes_back),
	    cmocka_unit_test(known_texts),
	    cmocka_unit_test(cut_where_it_may_be_cut),
	    cmocka_unit_test(escaped_text_is_not_escaped_again),
	    cmocka_unit_test(json_of_every_pair_and_character),
	    cmocka_unit_test(utf8_or_not),
	    cmocka_unit_test(columns),
	    cmocka_unit_test(mib),
	    cmocka_unit_test(size_with_unit),
	    cmocka_unit_test(durations),
	    cmocka_unit_test(counts),
	    cmocka_unit_test(sizes_typed),
	    cmocka_unit_test(durations_typed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
