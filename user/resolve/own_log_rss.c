/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "resolve/own_log_rss.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "resolve/demangle.h"

#define CALL "log_rss("
#define LABEL "char const*"
#define UNNAMED "(anonymous namespace)::"

/* Behind the parenthesis that is closed there; NULL: the name was cut. */
static const char *behind(const char *parameters)
{
	int depth = 1;

	for (const char *s = parameters; *s; s++) {
		depth += (*s == '(') - (*s == ')');
		if (!depth)
			return s + 1;
	}
	return NULL;
}

/* Does the text before `at` end in that? */
static bool follows(const char *text, const char *at, const char *end)
{
	size_t n = strlen(end);

	return (size_t)(at - text) >= n && !memcmp(at - n, end, n);
}

static enum own_log_rss without_parameters(const char *name)
{
	const char *end = name + strlen(name);

	return follows(name, end, "::log_rss") ? OWN_UNSURE : OWN_NONE;
}

enum own_log_rss own_log_rss(const char *symbol)
{
	const char *at, *parameters, *rest;
	char name[DEMANGLED_MAX];
	bool label;

	if (!demangle(symbol, true, name))
		return OWN_NONE;
	at = strstr(name, CALL);
	while (at && at != name && !follows(name, at, "::"))
		at = strstr(at + 1, CALL);
	if (!at)
		return without_parameters(name);
	parameters = at + strlen(CALL);
	rest = behind(parameters);
	/* Something within the function, or a part of it; but for a method that changes nothing. */
	if (!rest || (*rest && strcmp(rest, " const") != 0))
		return OWN_NONE;
	label = !strncmp(parameters, LABEL, strlen(LABEL)) &&
		(parameters[strlen(LABEL)] == ')' || parameters[strlen(LABEL)] == ',');
	if (label && !*rest && (at == name || follows(name, at, UNNAMED)))
		return OWN_LABEL_FIRST;
	return strstr(parameters, "char") ? OWN_UNSURE : OWN_NONE;
}
