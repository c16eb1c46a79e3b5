/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "lib/text.h"

#include <langinfo.h>
#include <string.h>
#include <wchar.h>

#define KIB_BITS 10
#define DIGITS_MAX 20 /* of a uint64_t */
#define NS_PER_US 1000ull
#define NS_PER_MS 1000000ull
#define NS_PER_S 1000000000ull

bool text_utf8_locale(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

size_t text_columns(const char *utf8)
{
	size_t len = strlen(utf8), cols = 0;
	uint32_t cp;
	int w;

	for (size_t i = 0, n; i < len; i += n) {
		n = text_utf8_next(utf8 + i, len - i, &cp);
		if (n <= 1) {
			n = 1;
			cols++;
			continue;
		}
		w = wcwidth((wchar_t)cp);
		cols += w < 0 ? 1 : (size_t)w;
	}
	return cols;
}

/* Two digits a step, from the end: a report of many phases is mostly numbers. */
size_t text_u64(char out[static 24], uint64_t n)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";
	char digits[2 * DIGITS_MAX] = {0}, *p = digits + DIGITS_MAX;
	size_t len;

	for (; n >= 100; n /= 100)
		p = memcpy(p - 2, pairs + 2 * (n % 100), 2);
	if (n >= 10)
		p = memcpy(p - 2, pairs + 2 * n, 2);
	else
		*--p = (char)('0' + n);
	len = (size_t)(digits + DIGITS_MAX - p);
	memcpy(out, p, DIGITS_MAX); /* of a fixed size: no call */
	out[len] = '\0';
	return len;
}

/* tenths → "123.4" */
static size_t put_tenths(char *out, uint64_t tenths)
{
	size_t len = text_u64(out, tenths / 10);

	out[len++] = '.';
	out[len++] = (char)('0' + tenths % 10);
	out[len] = '\0';
	return len;
}

char *text_mib(char out[static 24], int64_t bytes)
{
	uint64_t b = bytes < 0 ? 0 - (uint64_t)bytes : (uint64_t)bytes;
	uint64_t mib = b >> 2 * KIB_BITS, rest = b & ((1u << 2 * KIB_BITS) - 1);
	uint64_t tenths = mib * 10 + ((rest * 10 + (1u << (2 * KIB_BITS - 1))) >> 2 * KIB_BITS);
	char *p = out;

	if (bytes < 0 && tenths)
		*p++ = '-';
	put_tenths(p, tenths);
	return out;
}

char *text_size(char out[static 24], uint64_t bytes)
{
	size_t len;

	if (bytes < 1u << 2 * KIB_BITS) {
		len = text_u64(out, bytes >> KIB_BITS);
		strcpy(out + len, " KiB");
	} else {
		text_mib(out, (int64_t)bytes);
		strcat(out, " MiB");
	}
	return out;
}

static size_t put2(char *out, uint64_t n)
{
	out[0] = (char)('0' + n / 10 % 10);
	out[1] = (char)('0' + n % 10);
	out[2] = '\0';
	return 2;
}

/* Rounds to what is shown before it takes the unit, so that no "60.00 s" or "100 ms" appears. */
char *text_duration(char out[static 24], uint64_t ns)
{
	uint64_t us = ns / NS_PER_US + (ns % NS_PER_US >= NS_PER_US / 2);
	uint64_t ms = ns / NS_PER_MS + (ns % NS_PER_MS >= NS_PER_MS / 2);
	uint64_t cs = ns / (10 * NS_PER_MS) + (ns % (10 * NS_PER_MS) >= 5 * NS_PER_MS);
	uint64_t s = ns / NS_PER_S + (ns % NS_PER_S >= NS_PER_S / 2);
	uint64_t min = s / 60 + (s % 60 >= 30);
	size_t len;

	if (us < 1000) {
		len = text_u64(out, us);
		strcpy(out + len, " us");
	} else if (ms < 100) {
		len = text_u64(out, ms);
		strcpy(out + len, " ms");
	} else if (cs < 6000) {
		len = text_u64(out, cs / 100);
		out[len++] = '.';
		len += put2(out + len, cs % 100);
		strcpy(out + len, " s");
	} else if (s < 3600) {
		len = text_u64(out, s / 60);
		memcpy(out + len, " min ", 5);
		len += 5;
		len += put2(out + len, s % 60);
		strcpy(out + len, " s");
	} else {
		len = text_u64(out, min / 60);
		memcpy(out + len, " h ", 3);
		len += 3;
		len += put2(out + len, min % 60);
		strcpy(out + len, " min");
	}
	return out;
}

char *text_count(char out[static 24], uint64_t n)
{
	static const char units[] = "kMGTPE";
	uint64_t unit = 1000, tenths;
	size_t i = 0, len;

	if (n < 10000) {
		text_u64(out, n);
		return out;
	}
	/* The next unit as soon as this one would round to 1000.0. */
	while (i + 1 < sizeof(units) - 1 && n / unit >= 999 &&
	       n / (unit / 10) + (n % (unit / 10) >= unit / 20) >= 10000) {
		unit *= 1000;
		i++;
	}
	tenths = n / (unit / 10) + (n % (unit / 10) >= unit / 20);
	len = put_tenths(out, tenths);
	out[len] = units[i];
	out[len + 1] = '\0';
	return out;
}

uint64_t text_hash(const void *bytes, size_t len)
{
	const unsigned char *s = bytes;
	uint64_t h = 0xcbf29ce484222325ull;

	for (size_t i = 0; i < len; i++)
		h = (h ^ s[i]) * 0x100000001b3ull;
	return h;
}
