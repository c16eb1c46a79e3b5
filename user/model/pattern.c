/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "model/pattern.h"

#include <ctype.h>
#include <errno.h>
#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text.h"

/* A line of 64 KiB and a decent pattern need some thousand; a bad pair of them would need for ever.
 */
#define MATCH_LIMIT 200000u
#define HEAP_LIMIT_KIB 20000u
#define NUMBERS 4

struct pattern {
	enum pattern_kind kind;
	pcre2_code *code, *code_bytes; /* for lines of UTF-8, and for others; NULL: none */
	char *label;		       /* template */
	int label_group;
	int number_group[NUMBERS];
	bool lines; /* may go on in the next ones */
	struct literal literal[LITERALS_MAX];
	int nliterals;
};

struct patterns {
	struct pattern at[PATTERNS_MAX];
	size_t n;
	pcre2_match_data *data;
	pcre2_match_context *context;
};

static const struct {
	const char *name;
	double unit;
} numbers[NUMBERS] = {{"bytes", 1}, {"kb", 1024}, {"mb", 1048576}, {"gb", 1073741824}};

struct patterns *patterns_new(void)
{
	struct patterns *ps = calloc(1, sizeof(*ps));

	if (!ps)
		return NULL;
	ps->data = pcre2_match_data_create(100, NULL);
	ps->context = pcre2_match_context_create(NULL);
	if (!ps->data || !ps->context) {
		patterns_free(&ps);
		return NULL;
	}
	pcre2_set_match_limit(ps->context, MATCH_LIMIT);
	pcre2_set_heap_limit(ps->context, HEAP_LIMIT_KIB);
	return ps;
}

void patterns_free(struct patterns **pp)
{
	struct patterns *ps = *pp;

	if (!ps)
		return;
	for (size_t i = 0; i < ps->n; i++) {
		pcre2_code_free(ps->at[i].code);
		pcre2_code_free(ps->at[i].code_bytes);
		free(ps->at[i].label);
	}
	pcre2_match_data_free(ps->data);
	pcre2_match_context_free(ps->context);
	free(ps);
	*pp = NULL;
}

static int group_named(const pcre2_code *code, const char *name)
{
	int n = pcre2_substring_number_from_name(code, (PCRE2_SPTR)name);

	return n > 0 ? n : 0;
}

/* The label without a name is group 1, unless that is a number of ours. */
static void find_groups(struct pattern *p)
{
	uint32_t groups = 0;

	pcre2_pattern_info(p->code, PCRE2_INFO_CAPTURECOUNT, &groups);
	p->label_group = group_named(p->code, "label");
	if (!p->label_group && groups)
		p->label_group = 1;
	for (int i = 0; i < NUMBERS; i++) {
		p->number_group[i] = group_named(p->code, numbers[i].name);
		if (p->number_group[i] == 1 && p->label_group == 1)
			p->label_group = 0;
	}
}

static void explain(char *out, int code, size_t at)
{
	PCRE2_UCHAR text[120];

	if (pcre2_get_error_message(code, text, sizeof(text)) < 0)
		snprintf((char *)text, sizeof(text), "error %d", code);
	snprintf(out, PATTERN_ERROR_MAX, "%s (at offset %zu)", (const char *)text, at);
}

/* "$1", "${1}", "${name}", "$$": what pcre2_substitute() takes, told before the first match. */
static int check_label(const struct pattern *p, char *error)
{
	uint32_t groups = 0;
	const char *s = p->label;

	pcre2_pattern_info(p->code, PCRE2_INFO_CAPTURECOUNT, &groups);
	while (s && (s = strchr(s, '$'))) {
		bool braced = *++s == '{';
		char name[34];
		size_t n = 0;

		if (*s == '$') {
			s++;
			continue;
		}
		s += braced;
		while (n < 33 && (*s == '_' || isalnum((unsigned char)*s)))
			name[n++] = *s++;
		name[n] = '\0';
		if (!n || (braced && *s++ != '}') ||
		    (isdigit((unsigned char)*name) ? strtoul(name, NULL, 10) > groups
						   : !group_named(p->code, name))) {
			snprintf(error, PATTERN_ERROR_MAX, "label: no such group: $%s", name);
			return -EINVAL;
		}
	}
	return 0;
}

/* "\n" somewhere, or a newline itself. */
static bool has_newline(const char *regex)
{
	for (; *regex; regex++) {
		if (*regex == '\n')
			return true;
		if (*regex != '\\')
			continue;
		if (*++regex == 'n')
			return true;
		if (!*regex)
			break;
	}
	return false;
}

static pcre2_code *compile(const char *regex, uint32_t options, bool lines, int *code,
			   PCRE2_SIZE *at)
{
	pcre2_code *c =
	    pcre2_compile((PCRE2_SPTR)regex, PCRE2_ZERO_TERMINATED, options, code, at, NULL);

	/* Where the processor has no JIT it is interpreted: slower, and right. */
	if (c)
		pcre2_jit_compile(c, PCRE2_JIT_COMPLETE | (lines ? PCRE2_JIT_PARTIAL_HARD : 0));
	return c;
}

int patterns_add(struct patterns *ps, enum pattern_kind kind, const char *regex, const char *label,
		 char error[static PATTERN_ERROR_MAX])
{
	struct pattern *p = &ps->at[ps->n];
	PCRE2_SIZE at;
	int code, err;

	if (ps->n == PATTERNS_MAX) {
		snprintf(error, PATTERN_ERROR_MAX, "more than %d patterns", PATTERNS_MAX);
		return -E2BIG;
	}
	memset(p, 0, sizeof(*p));
	p->kind = kind;
	p->lines = has_newline(regex);
	p->code = compile(regex, PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C, p->lines, &code, &at);
	if (!p->code) {
		explain(error, code, at);
		return -EINVAL;
	}
	p->label = label ? strdup(label) : NULL;
	err = label && !p->label ? -ENOMEM : check_label(p, error);
	if (err) {
		pcre2_code_free(p->code);
		free(p->label);
		return err;
	}
	p->code_bytes = compile(regex, PCRE2_NEVER_UTF, p->lines, &code, &at);
	find_groups(p);
	p->nliterals = literal_find(p->literal, regex, strlen(regex));
	ps->n++;
	return 0;
}

size_t patterns_count(const struct patterns *ps)
{
	return ps->n;
}

int patterns_literals(const struct patterns *ps, struct literal *out, int max)
{
	int n = 0;

	for (size_t i = 0; i < ps->n; i++) {
		const struct pattern *p = &ps->at[i];

		if (!p->nliterals || n + p->nliterals > max)
			return 0;
		memcpy(&out[n], p->literal, (size_t)p->nliterals * sizeof(*out));
		n += p->nliterals;
	}
	return n;
}

static void set_label(struct ev_label *l, const char *bytes, size_t len)
{
	l->hash = text_hash(bytes, len);
	l->flags = len > PP_LABEL_MAX ? PP_LABEL_CUT : 0;
	l->len = (uint16_t)(len > PP_LABEL_MAX ? PP_LABEL_MAX : len);
	memcpy(l->bytes, bytes, l->len);
}

static bool group(const struct patterns *ps, const char *line, int n, const char **text,
		  size_t *len)
{
	const PCRE2_SIZE *v = pcre2_get_ovector_pointer(ps->data);

	if (n < 0 || (uint32_t)n >= pcre2_get_ovector_count(ps->data))
		return false;
	if (v[2 * n] == PCRE2_UNSET || v[2 * n + 1] < v[2 * n])
		return false;
	*text = line + v[2 * n];
	*len = v[2 * n + 1] - v[2 * n];
	return true;
}

/* Digits with a point, whatever the locale says. */
static bool decimal(const char *s, size_t len, double *out)
{
	double unit = 0;
	size_t digits = 0;

	*out = 0;
	for (size_t i = 0; i < len && len < 32; i++) {
		if (s[i] == '.' && !unit) {
			unit = 1;
		} else if (isdigit((unsigned char)s[i])) {
			*out = *out * 10 + (s[i] - '0');
			unit *= 10;
			digits++;
		} else {
			return false;
		}
	}
	if (unit)
		*out /= unit;
	return digits != 0;
}

static uint64_t printed_number(const struct patterns *ps, const struct pattern *p, const char *line)
{
	const char *text;
	size_t len;
	double v;

	for (int i = 0; i < NUMBERS; i++) {
		if (!p->number_group[i] || !group(ps, line, p->number_group[i], &text, &len) ||
		    !decimal(text, len, &v))
			continue;
		v *= numbers[i].unit;
		if (v < 0x1p60)
			return (uint64_t)(v + 0.5);
	}
	return EV_NONE;
}

/* What is matched, with the code for it. */
struct subject {
	const struct pattern *p;
	const pcre2_code *code;
	const char *text;
	size_t len;
};

/* By the template; the match that it refers to is the one in ps->data. */
static bool expand(struct patterns *ps, const struct subject *s, struct ev_label *out)
{
	PCRE2_UCHAR text[4096];
	PCRE2_SIZE size = sizeof(text);
	int rc = pcre2_substitute(s->code, (PCRE2_SPTR)s->text, s->len, 0,
				  PCRE2_SUBSTITUTE_REPLACEMENT_ONLY | PCRE2_SUBSTITUTE_UNSET_EMPTY |
				      PCRE2_SUBSTITUTE_MATCHED,
				  ps->data, ps->context, (PCRE2_SPTR)s->p->label,
				  PCRE2_ZERO_TERMINATED, text, &size);

	if (rc < 0)
		return false;
	set_label(out, (const char *)text, size);
	return true;
}

static void read_match(struct patterns *ps, const struct subject *s, struct pattern_match *out)
{
	const PCRE2_SIZE *v = pcre2_get_ovector_pointer(ps->data);
	const struct pattern *p = s->p;
	const char *text = s->text;
	size_t n = 0;

	*out = (struct pattern_match){.kind = p->kind, .start = v[0], .end = v[1]};
	/* \K in a lookahead can put the start behind the end. */
	if (out->start > out->end)
		out->start = out->end;
	out->printed = printed_number(ps, p, s->text);
	out->labelled = true;
	if (p->label && expand(ps, s, &out->label))
		return;
	if (!p->label_group || !group(ps, s->text, p->label_group, &text, &n)) {
		out->labelled = false;
		text = s->text + out->start;
		n = out->end - out->start;
	}
	set_label(&out->label, text, n);
}

static int match(struct patterns *ps, const struct subject *s, uint32_t options)
{
	return pcre2_match(s->code, (PCRE2_SPTR)s->text, s->len, 0, PCRE2_NO_UTF_CHECK | options,
			   ps->data, ps->context);
}

static bool match_line(struct patterns *ps, const struct subject *s, struct pattern_match *out,
		       uint64_t *gave_up)
{
	int rc = match(ps, s, 0);

	if (rc >= 0)
		read_match(ps, s, out);
	else if (rc != PCRE2_ERROR_NOMATCH && rc != PCRE2_ERROR_PARTIAL)
		++*gave_up;
	return rc >= 0;
}

/* One that goes on in the next line gets all of them at once. */
static int match_lines(struct patterns *ps, const struct subject *all, struct pattern_match *out,
		       int max, uint64_t *gave_up)
{
	const char *end = all->text + all->len, *nl;
	struct subject s = *all;
	int n = 0;

	if (all->p->lines)
		return match_line(ps, all, out, gave_up);
	for (; n < max; s.text = nl + 1) {
		nl = memchr(s.text, '\n', (size_t)(end - s.text));
		s.len = (size_t)((nl ? nl : end) - s.text);
		if (match_line(ps, &s, &out[n], gave_up)) {
			out[n].start += (size_t)(s.text - all->text);
			out[n++].end += (size_t)(s.text - all->text);
		}
		if (!nl)
			break;
	}
	return n;
}

static struct subject subject_of(const struct pattern *p, const char *text, size_t len, bool utf8)
{
	return (struct subject){p, utf8 ? p->code : p->code_bytes, text, len};
}

int patterns_match(struct patterns *ps, const char *lines, size_t len, struct pattern_match *out,
		   int max, uint64_t *gave_up)
{
	bool utf8 = text_is_utf8(lines, len);
	int n = 0;

	for (int kind = 0; kind < PATTERN_KINDS; kind++) {
		for (size_t i = 0; i < ps->n && n < max; i++) {
			struct subject s = subject_of(&ps->at[i], lines, len, utf8);

			if (s.p->kind == (enum pattern_kind)kind && s.code)
				n += match_lines(ps, &s, &out[n], max - n, gave_up);
		}
	}
	return n;
}

bool patterns_go_on(struct patterns *ps, const char *lines, size_t len)
{
	bool utf8 = text_is_utf8(lines, len);

	for (size_t i = 0; i < ps->n; i++) {
		struct subject s = subject_of(&ps->at[i], lines, len, utf8);

		if (s.p->lines && s.code &&
		    match(ps, &s, PCRE2_PARTIAL_HARD) == PCRE2_ERROR_PARTIAL)
			return true;
	}
	return false;
}

bool patterns_span_lines(const struct patterns *ps)
{
	for (size_t i = 0; i < ps->n; i++)
		if (ps->at[i].lines)
			return true;
	return false;
}
