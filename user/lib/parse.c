/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "lib/text.h"

#include <errno.h>
#include <string.h>

#define FRACTION_UNIT 1000000000ull

/* A number as people write it: whole part and billionths. */
struct decimal {
	uint64_t whole, billionths;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Leaves *s behind the number. strtod would take "inf", hexadecimal and the locale's comma. */
static int parse_decimal(const char **s, struct decimal *d)
{
	const char *p = *s;
	uint64_t scale = FRACTION_UNIT / 10;

	*d = (struct decimal){0};
	if (!is_digit(*p))
		return -EINVAL;
	for (; is_digit(*p); p++) {
		if (__builtin_mul_overflow(d->whole, 10, &d->whole) ||
		    __builtin_add_overflow(d->whole, (uint64_t)(*p - '0'), &d->whole))
			return -ERANGE;
	}
	if (*p == '.') {
		p++;
		if (!is_digit(*p))
			return -EINVAL;
		for (; is_digit(*p); p++, scale /= 10)
			d->billionths += scale * (uint64_t)(*p - '0');
	}
	*s = p;
	return 0;
}

/* unit × number, rounded down. */
static int scale_decimal(const struct decimal *d, uint64_t unit, uint64_t *out)
{
	uint64_t whole;

	if (__builtin_mul_overflow(d->whole, unit, &whole) ||
	    __builtin_add_overflow(
		whole, (uint64_t)((unsigned __int128)d->billionths * unit / FRACTION_UNIT), out))
		return -ERANGE;
	return 0;
}

/* "", "B", "M", "MB", "MiB" in either case → log2 of the unit, or -1. */
static int size_suffix(const char *s)
{
	static const char letters[] = "KMGT";
	const char *at;
	int bits = 0;

	if (*s && (at = strchr(letters, *s & ~0x20)) && *at) {
		bits = 10 * (int)(at - letters + 1);
		s++;
		if (*s == 'i' && (s[1] == 'B' || s[1] == 'b'))
			s++;
	}
	if (*s == 'B' || *s == 'b')
		s++;
	return *s ? -1 : bits;
}

int text_parse_size(const char *s, uint64_t *bytes)
{
	struct decimal d;
	int bits, err;

	err = parse_decimal(&s, &d);
	if (err)
		return err;
	bits = size_suffix(s);
	if (bits < 0 || (bits == 0 && d.billionths))
		return -EINVAL;
	return scale_decimal(&d, 1ull << bits, bytes);
}

int text_parse_duration(const char *s, uint64_t *ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
	    {"", 1000000000ull},     {"s", 1000000000ull},  {"ms", 1000000ull},
	    {"us", 1000ull},	     {"m", 60000000000ull}, {"min", 60000000000ull},
	    {"h", 3600000000000ull},
	};
	struct decimal d;
	int err;

	err = parse_decimal(&s, &d);
	if (err)
		return err;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(s, units[i].name))
			return scale_decimal(&d, units[i].ns, ns);
	return -EINVAL;
}
