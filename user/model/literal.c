/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "model/literal.h"

#include <stdbool.h>
#include <string.h>

#define DEPTH_MAX 64

struct reader {
	const char *s, *end;
	bool clever; /* something that may change what the rest means */
	int depth;
};

/* A run of literal bytes while it grows, and the longest one of its branch. */
struct runs {
	struct literal now, best;
	size_t whole; /* length of the run: now holds its end */
	size_t most;
};

static char peek(const struct reader *r)
{
	return r->s < r->end ? *r->s : '\0';
}

static bool skip_to(struct reader *r, char c)
{
	while (r->s < r->end && *r->s != c)
		r->s++;
	if (r->s == r->end)
		return false;
	r->s++;
	return true;
}

static void end_run(struct runs *u)
{
	if (u->whole > u->most) {
		u->best = u->now;
		u->most = u->whole;
	}
	u->now.len = u->whole = 0;
}

static void add_byte(struct runs *u, char c)
{
	if (u->now.len == LITERAL_MAX) {
		memmove(u->now.bytes, u->now.bytes + 1, LITERAL_MAX - 1);
		u->now.len--;
	}
	u->now.bytes[u->now.len++] = c;
	u->whole++;
}

/* The last character need not be there. */
static void drop_char(struct runs *u)
{
	while (u->now.len) {
		unsigned char c = (unsigned char)u->now.bytes[--u->now.len];

		u->whole--;
		if ((c & 0xc0) != 0x80)
			break;
	}
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_alnum(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* A quantifier here? *none: it allows for no repetition at all. */
static bool quantifier(struct reader *r, bool *none)
{
	const char *s = r->s;
	char c = peek(r);

	*none = c == '*' || c == '?';
	if (c == '{') {
		const char *first;

		for (s++; s < r->end && *s == ' '; s++)
			;
		first = s;
		while (s < r->end && (is_digit(*s) || *s == ',' || *s == ' '))
			s++;
		if (s == r->end || *s != '}')
			return false;
		/* "{05}" and the like are taken for one that may be nothing: that is safe. */
		*none = !is_digit(*first) || *first == '0';
	} else if (c != '*' && c != '?' && c != '+') {
		return false;
	}
	r->s = s + 1;
	if (peek(r) == '?' || peek(r) == '+')
		r->s++;
	return true;
}

/* Behind "\Q": up to "\E" or the end. */
static void take_quoted(struct reader *r, struct runs *u)
{
	while (r->s < r->end) {
		if (*r->s == '\\' && r->s + 1 < r->end && r->s[1] == 'E') {
			r->s += 2;
			return;
		}
		if (*r->s == '\n')
			end_run(u);
		else
			add_byte(u, *r->s);
		r->s++;
	}
}

static void skip_argument(struct reader *r, char letter)
{
	char c = peek(r);

	if (letter == 'c') {
		r->s += r->s < r->end;
	} else if (letter == 'k' && (c == '<' || c == '\'')) {
		r->s++;
		r->clever |= !skip_to(r, c == '<' ? '>' : '\'');
	} else if (letter == 'g' && (c == '<' || c == '\'')) {
		r->s++;
		r->clever |= !skip_to(r, c == '<' ? '>' : '\'');
	} else if (strchr("xpPNgko", letter) && c == '{') {
		r->clever |= !skip_to(r, '}');
	} else if (letter == 'p' || letter == 'P') {
		r->s += r->s < r->end;
	} else if (letter == 'x') {
		for (int i = 0; i < 2 && is_alnum(peek(r)); i++)
			r->s++;
	} else if (letter == 'g' && (c == '-' || c == '+' || is_digit(c))) {
		r->s++;
		while (is_digit(peek(r)))
			r->s++;
	} else if (is_digit(letter)) {
		while (is_digit(peek(r)))
			r->s++;
	}
}

/* Behind a backslash. */
static void take_escape(struct reader *r, struct runs *u)
{
	char c = peek(r);

	if (r->s == r->end) {
		r->clever = true;
		return;
	}
	r->s++;
	if (c == 'Q') {
		size_t before = u->whole;

		take_quoted(r, u);
		/* Of nothing: a quantifier behind it would be of what is before it. */
		r->clever |= u->whole == before;
	} else if (c == 't') {
		add_byte(u, '\t');
	} else if (c == 'K' || c == 'E') {
		r->clever = true;
	} else if (is_alnum(c)) {
		end_run(u);
		skip_argument(r, c);
	} else if (c == '\n') {
		end_run(u);
	} else {
		add_byte(u, c);
	}
}

/* Behind "[". */
static void skip_class(struct reader *r)
{
	if (peek(r) == '^')
		r->s++;
	/* A bracket that comes first is one of the class; in Perl's extended classes it is not. */
	if (peek(r) == ']')
		r->s++;
	while (r->s < r->end && *r->s != ']') {
		if (*r->s == '\\' && r->s + 1 < r->end) {
			if (r->s[1] == 'Q')
				r->clever = true;
			r->s += 2;
		} else if (*r->s == '[' && r->s + 1 < r->end && strchr(":.=", r->s[1])) {
			r->clever = true; /* "[:alpha:]", or not: it depends on what follows */
			return;
		} else {
			r->s++;
		}
	}
	if (r->s == r->end)
		r->clever = true;
	else
		r->s++;
}

static void take_branches(struct reader *r, struct literal *out, int max, int *n);

/* Behind "(?": what kind of group. True: its content must match, and its text follows. */
static bool group_counts(struct reader *r)
{
	char c = peek(r);

	r->s += r->s < r->end;
	if (c == ':' || c == '>' || c == '|')
		return true;
	if (c == 'P' && peek(r) == '<') {
		r->s++;
		return skip_to(r, '>');
	}
	if (c == '\'')
		return skip_to(r, '\'');
	if (c == '<' && peek(r) != '=' && peek(r) != '!')
		return skip_to(r, '>');
	/* Looking around, conditions, recursion, comments, options: not worth the trouble. */
	r->clever = true;
	return false;
}

/* Behind "(": the literals inside stand for themselves. */
static void take_group(struct reader *r, struct runs *u)
{
	struct literal inner;
	bool none;
	int n = 0;

	end_run(u);
	if (r->depth++ == DEPTH_MAX || peek(r) == '*')
		r->clever = true;
	if (peek(r) == '?') {
		r->s++;
		group_counts(r);
	}
	if (!r->clever)
		take_branches(r, &inner, 1, &n);
	r->depth--;
	if (r->clever || peek(r) != ')') {
		r->clever = true;
		return;
	}
	r->s++;
	none = false;
	quantifier(r, &none);
	if (n == 1 && !none && inner.len > u->most) {
		u->best = inner;
		u->most = inner.len;
	}
}

static void take_atom(struct reader *r, struct runs *u)
{
	size_t before = u->whole;
	char c = *r->s++;
	bool none;

	switch (c) {
	case '(':
		take_group(r, u);
		return;
	case '[':
		end_run(u);
		skip_class(r);
		break;
	case '\\':
		take_escape(r, u);
		break;
	case '.':
	case '^':
	case '$':
	case '{':
	case '\n':
	case '\0':
		end_run(u);
		break;
	default:
		add_byte(u, c);
		/* The rest of a character of several bytes: a quantifier is of all of it. */
		while (((unsigned char)peek(r) & 0xc0) == 0x80 && (unsigned char)c >= 0xc0)
			add_byte(u, *r->s++);
		break;
	}
	while (quantifier(r, &none)) {
		if (none && u->whole > before)
			drop_char(u);
		end_run(u);
	}
}

/* Branches up to ")" or the end: one literal of each, or none at all. More than max: none. */
static void take_branches(struct reader *r, struct literal *out, int max, int *n)
{
	bool all = true;

	*n = 0;
	for (;;) {
		struct runs u = {.whole = 0};

		while (r->s < r->end && *r->s != '|' && *r->s != ')' && !r->clever)
			take_atom(r, &u);
		end_run(&u);
		if (!u.most || *n >= max)
			all = false;
		else
			out[(*n)++] = u.best;
		if (r->clever || peek(r) != '|' || r->s == r->end)
			break;
		r->s++;
	}
	if (!all || r->clever)
		*n = 0;
}

int literal_find(struct literal out[LITERALS_MAX], const char *pattern, size_t len)
{
	struct reader r = {.s = pattern, .end = pattern + len};
	int n;

	take_branches(&r, out, LITERALS_MAX, &n);
	return r.clever || r.s != r.end ? 0 : n;
}
