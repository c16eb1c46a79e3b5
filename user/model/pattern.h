/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Patterns of lines that a program prints: which lines are marks, and their labels. PCRE2; UTF-8
 * where the line is that, else bytes. One thread at a time.
 *
 * The label is the template's text, else the group named `label`, else group 1, else the match. A
 * group named `bytes`, `kb`, `mb` or `gb` (1024 each) is a number that the line names.
 */
#ifndef PEAKPHASE_MODEL_PATTERN_H
#define PEAKPHASE_MODEL_PATTERN_H

#include "decode/event.h"
#include "model/literal.h"

enum pattern_kind {
	PATTERN_END,  /* ends the span of this label; without a label, the one begun last */
	PATTERN_MARK, /* a checkpoint */
	PATTERN_STEP, /* ends the step before it, and begins a span */
	PATTERN_JOIN, /* begins a step, or adds its label to the one that such a line began */
	PATTERN_BEGIN,
	PATTERN_KINDS,
};

#define PATTERN_ERROR_MAX 160
#define PATTERNS_MAX 64

struct patterns;

struct pattern_match {
	enum pattern_kind kind;
	bool labelled; /* the pattern says more than that it matched */
	struct ev_label label;
	uint64_t printed;  /* bytes; EV_NONE: none */
	size_t start, end; /* of the match, in the line */
};

struct patterns *patterns_new(void);
void patterns_free(struct patterns **ps);

/*
 * label: template with $1 and ${name} as in pcre2_substitute(3), or NULL. -EINVAL: error says what
 * is wrong with it and where; -E2BIG: PATTERNS_MAX; -ENOMEM.
 */
int patterns_add(struct patterns *ps, enum pattern_kind kind, const char *regex, const char *label,
		 char error[static PATTERN_ERROR_MAX]);
size_t patterns_count(const struct patterns *ps);

/*
 * Literals one of which each line that matters holds. 0: there is no such set, every line has to be
 * looked at; or there are more than max.
 */
int patterns_literals(const struct patterns *ps, struct literal *out, int max);

/*
 * What a line means (without its end), or several that belong together, with "\n" between them:
 * ends first, then marks, then what begins. One match of each pattern in each line, the first; a
 * pattern with "\n" in it is matched against all of them at once. Returns the number of matches, at
 * most max. A pattern that takes too long on this line is counted in *gave_up.
 */
int patterns_match(struct patterns *ps, const char *lines, size_t len, struct pattern_match *out,
		   int max, uint64_t *gave_up);

/* Is there a pattern with "\n" in it? */
bool patterns_span_lines(const struct patterns *ps);
/* May such a one go on in the line behind these, the last of which has its "\n"? */
bool patterns_go_on(struct patterns *ps, const char *lines, size_t len);

#endif
