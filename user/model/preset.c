/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "model/preset.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/*
 * Kedro logs through rich, which wraps a message at the width of the terminal (80 columns where
 * there is none), between words and, where a word is longer than its column, inside it; behind the
 * first line stands the place in the source. All of it is one write.
 */
#define GAP "\\s++(?:\\S+\\.py:\\d+ *\\n\\s++)?+"
#define PIECE(name, of) "(?:" GAP "(?<" name ">" of "++))?+"
#define PIECES(of) "(?<a>" of "++)" PIECE("b", of) PIECE("c", of) "(?:" GAP ")?"
#define WHOLE "${a}${b}${c}"

const struct preset presets_own[] = {
    {"oaa", "about The RSS lines of the OAA runner (OAA_RSS_PROFILE=1)\n"
	    "mark (?:peak )?RSS \\[(?<label>.*)\\]: ~?(?<mb>[0-9.]+) MB\n"},
    {"kedro", "about Kedro's log: what is loaded, run and saved, one after the other\n"
	      "label load:" WHOLE "\n"
	      "step Loading" GAP "data" GAP "from" GAP PIECES(
		  "[^\\s(]") "\\(\n"
			     "label run:" WHOLE "\n"
			     "step Running" GAP "node:" GAP PIECES(
				 "[^\\s:(]") "[:(]\n"
					     "label save:" WHOLE "\n"
					     "step Saving" GAP "data" GAP "to" GAP PIECES(
						 "[^\\s(]") "\\(\n"
							    "end Completed" GAP "node:\n"},
    {"polars", "about Polars' streaming engine (POLARS_VERBOSE=1): nodes that run together\n"
	       "join polars-stream: running (?<label>.+) in subgraph\n"
	       "end polars-stream: done running graph phase\n"},
    {NULL, NULL},
};

static const char *const kinds[PATTERN_KINDS] = {
    [PATTERN_END] = "end",   [PATTERN_MARK] = "mark",	[PATTERN_STEP] = "step",
    [PATTERN_JOIN] = "join", [PATTERN_BEGIN] = "begin",
};

const char *preset_kind_name(enum pattern_kind kind)
{
	return kind < PATTERN_KINDS ? kinds[kind] : "?";
}

static bool kind_of(const char *word, enum pattern_kind *out)
{
	for (int i = 0; i < PATTERN_KINDS; i++) {
		if (strcmp(word, kinds[i]) != 0)
			continue;
		*out = (enum pattern_kind)i;
		return true;
	}
	return false;
}

struct reader {
	const char **about, *label;
	int (*fn)(void *ctx, const struct preset_line *);
	void *ctx;
	unsigned int line, patterns;
	char *error;
};

static int refuse(const struct reader *r, const char *what)
{
	snprintf(r->error, PRESET_ERROR_MAX, "line %u: %s", r->line, what);
	return -EINVAL;
}

static int read_line(struct reader *r, char *s)
{
	struct preset_line l = {.label = r->label};
	char *word = s + strspn(s, " \t"), *rest;

	if (!*word || *word == '#')
		return 0;
	rest = word + strcspn(word, " \t");
	if (*rest)
		*rest++ = '\0';
	rest += strspn(rest, " \t");
	if (!*rest)
		return refuse(r, "a word and what belongs to it, with a space between");
	if (!strcmp(word, "about")) {
		if (r->about)
			*r->about = rest;
		return 0;
	}
	if (!strcmp(word, "label")) {
		r->label = rest;
		return 0;
	}
	if (!kind_of(word, &l.kind))
		return refuse(r, "about, label, mark, begin, end, step or join");
	r->label = NULL;
	l.regex = rest;
	r->patterns++;
	return r->fn(r->ctx, &l);
}

int preset_read(char *text, const char **about, int (*fn)(void *ctx, const struct preset_line *),
		void *ctx, char error[static PRESET_ERROR_MAX])
{
	struct reader r = {.about = about, .fn = fn, .ctx = ctx, .error = error};
	char *next;
	int err = 0;

	error[0] = '\0';
	for (char *s = text; s && !err; s = next) {
		next = strchr(s, '\n');
		if (next)
			*next++ = '\0';
		if (*s && s[strlen(s) - 1] == '\r')
			s[strlen(s) - 1] = '\0';
		r.line++;
		err = read_line(&r, s);
	}
	if (!err && r.label)
		return refuse(&r, "a label without a pattern behind it");
	if (err && !error[0])
		refuse(&r, "refused");
	if (!err && !r.patterns) {
		snprintf(error, PRESET_ERROR_MAX, "it has no patterns");
		return -EINVAL;
	}
	return err;
}

struct adding {
	struct patterns *ps;
	char error[PATTERN_ERROR_MAX];
};

static int add(void *ctx, const struct preset_line *l)
{
	struct adding *a = ctx;

	return patterns_add(a->ps, l->kind, l->regex, l->label, a->error);
}

int preset_add(struct patterns *ps, char *text, char error[static PRESET_ERROR_MAX])
{
	struct adding a = {.ps = ps};
	int err = preset_read(text, NULL, add, &a, error);

	if (err && a.error[0]) {
		size_t n = strcspn(error, ":");

		snprintf(error + n, PRESET_ERROR_MAX - n, ": %s", a.error);
	}
	return err;
}
