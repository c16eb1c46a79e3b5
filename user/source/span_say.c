/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "source/span_say.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/say.h"
#include "lib/text.h"
#include "shared.h"
#include "source/span_names.h"

#define SHOWN 256 /* bytes of a name, escaped */

static const char *show(char out[static SHOWN], const char *symbol)
{
	char name[DEMANGLED_MAX];

	span_name(symbol, name);
	text_escape(out, SHOWN, name, strlen(name));
	return out;
}

/* "a, b, c": names of a few symbols. */
struct list {
	size_t len;
	char text[SPAN_NEAREST * (SHOWN + 2)];
};

static void list_add(struct list *l, const char *symbol)
{
	char shown[SHOWN];

	l->len += (size_t)snprintf(l->text + l->len, sizeof(l->text) - l->len, "%s%s",
				   l->len ? ", " : "", show(shown, symbol));
}

void span_say_none(const char *file, const char *pattern, const struct functions *f)
{
	const char *near[SPAN_NEAREST];
	size_t n = span_names_near(f, pattern, near);
	struct list l = {0};
	char shown[SHOWN];

	text_escape(shown, sizeof(shown), pattern, strlen(pattern));
	say_error("--span: %s has no function %s", file, shown);
	for (size_t i = 0; i < n; i++)
		list_add(&l, near[i]);
	if (n)
		say_remedy("nearest are: %s; one that the compiler has put into others is none",
			   l.text);
	else
		say_remedy("it is stripped: build it with symbols, or leave out `strip`");
}

void span_say_many(const char *file, const char *pattern, const struct function **meant,
		   size_t count)
{
	struct list l = {0};
	char shown[SHOWN];

	text_escape(shown, sizeof(shown), pattern, strlen(pattern));
	say_error("--span: %s means %zu functions of %s; all together may be %u", shown, count,
		  file, SPAN_FUNCTIONS);
	for (size_t i = 0; i < count && i < SPAN_NEAREST; i++)
		list_add(&l, meant[i]->name);
	say_remedy("say more of the name; the first are: %s", l.text);
}

void span_say_go(const char *file, const struct function *fn)
{
	char shown[SHOWN];

	say_error(
	    "--span: %s in %s is a Go function: goroutines move between threads and stacks, so "
	    "its end cannot be told, and a return probe would break the stack",
	    show(shown, fn->name), file);
	say_remedy("mark the phases by the lines that the program prints (--mark-output), or by "
		   "log_rss.h through cgo");
}

void span_say_exits(const char *file, const struct function *fn, int err)
{
	char shown[SHOWN];

	show(shown, fn->name);
	switch (err) {
	case -ENOTSUP:
		say_error("--span: %s is not for x86-64", file);
		say_remedy(
		    "where functions end is known of x86-64 alone: mark the phases by log_rss.h, "
		    "or by the lines that the program prints (--mark-output)");
		break;
	case -E2BIG:
		say_error("--span: %s in %s ends in more places than can be probed", shown, file);
		say_remedy("name a function that it calls, or that calls it");
		break;
	default:
		say_error("--span: the code of %s in %s cannot be read as a whole", shown, file);
		say_remedy("name a function that it calls, or that calls it");
		break;
	}
}

void span_say_unknown(const char *file, const struct function *fn, unsigned int count)
{
	char shown[SHOWN], more[48] = "";

	if (count > 1)
		snprintf(more, sizeof(more), " and %u more functions", count - 1);
	say_warning(
	    "--span: %s%s may end with a jump out of %s, by a pointer, or to what has no symbol: "
	    "there the span ends, too",
	    show(shown, fn->name), more, file);
}
