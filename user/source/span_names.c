/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "source/span_names.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdint.h>
#include <string.h>

#define COMPARED 64u /* bytes of a name */

/* What compilers put behind the name of a function that they have changed for its callers. */
static const char *const clones[] = {".constprop.", ".isra.", ".part.", ".lto_priv.", ".llvm."};

/* The symbol without that, in buf; NULL: there is nothing of it. */
static const char *without_clone(const char *symbol, char buf[static MANGLED_MAX])
{
	const char *cut = NULL, *at;

	for (size_t i = 0; i < sizeof(clones) / sizeof(clones[0]); i++) {
		at = strstr(symbol, clones[i]);
		if (at && (!cut || at < cut))
			cut = at;
	}
	if (!cut || cut == symbol || (size_t)(cut - symbol) >= MANGLED_MAX)
		return NULL;
	memcpy(buf, symbol, (size_t)(cut - symbol));
	buf[cut - symbol] = '\0';
	return buf;
}

static bool matches(const char *pattern, const char *symbol)
{
	char name[DEMANGLED_MAX];

	if (!fnmatch(pattern, symbol, 0))
		return true;
	return (demangle(symbol, false, name) && !fnmatch(pattern, name, 0)) ||
	       (demangle(symbol, true, name) && !fnmatch(pattern, name, 0));
}

bool span_name_matches(const char *pattern, const char *symbol)
{
	char buf[MANGLED_MAX];
	const char *plain = without_clone(symbol, buf);

	/* The unlikely half of a function, put elsewhere: never called. */
	if (strstr(symbol, ".cold"))
		return false;
	return matches(pattern, symbol) || (plain && matches(pattern, plain));
}

size_t span_name(const char *symbol, char out[static DEMANGLED_MAX])
{
	char buf[MANGLED_MAX];
	const char *plain = without_clone(symbol, buf);
	size_t n;

	symbol = plain ? plain : symbol;
	n = demangle(symbol, false, out);
	if (n)
		return n;
	n = strnlen(symbol, DEMANGLED_MAX - 1);
	memcpy(out, symbol, n);
	out[n] = '\0';
	return n;
}

/* Letters to be put in, left out or changed (Levenshtein), whatever their case. */
static unsigned int distance(const char *a, const char *b)
{
	size_t na = strnlen(a, COMPARED), nb = strnlen(b, COMPARED);
	unsigned int row[COMPARED + 1];

	for (size_t j = 0; j <= nb; j++)
		row[j] = (unsigned int)j;
	for (size_t i = 1; i <= na; i++) {
		unsigned int corner = row[0];

		row[0] = (unsigned int)i;
		for (size_t j = 1; j <= nb; j++) {
			bool same =
			    tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[j - 1]);
			unsigned int best = corner + !same;

			best = row[j] + 1 < best ? row[j] + 1 : best;
			best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
			corner = row[j];
			row[j] = best;
		}
	}
	return row[nb];
}

/* The longest part of a pattern that stands for itself. */
static void literal_of(const char *pattern, char out[static COMPARED + 1])
{
	static const char special[] = "*?[]\\";
	size_t best = 0;

	*out = '\0';
	for (const char *p = pattern; *p;) {
		size_t n = strcspn(p, special);

		if (n > best) {
			best = n < COMPARED ? n : COMPARED;
			memcpy(out, p, best);
			out[best] = '\0';
		}
		p += n;
		p += *p != '\0';
	}
}

size_t span_names_near(const struct functions *f, const char *pattern,
		       const char *near[static SPAN_NEAREST])
{
	unsigned int score[SPAN_NEAREST], at;
	char literal[COMPARED + 1], name[DEMANGLED_MAX];
	const struct function *fn;
	size_t n, found = 0;

	literal_of(pattern, literal);
	fn = functions_list(f, &n);
	for (size_t i = 0; i < n; i++) {
		/* One that holds it all comes before one that is merely alike. */
		span_name(fn[i].name, name);
		at = distance(literal, name);
		if (!*literal || !strcasestr(name, literal))
			at += COMPARED;
		for (size_t k = 0; k < SPAN_NEAREST; k++) {
			if (k < found && score[k] <= at)
				continue;
			if (found < SPAN_NEAREST)
				found++;
			for (size_t m = found - 1; m > k; m--) {
				score[m] = score[m - 1];
				near[m] = near[m - 1];
			}
			score[k] = at;
			near[k] = fn[i].name;
			break;
		}
	}
	return found;
}
