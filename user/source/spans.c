/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "source/spans.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/say.h"
#include "lib/text.h"
#include "logic.h"
#include "peakphase/wire.h"
#include "resolve/elf.h"
#include "resolve/exits.h"
#include "resolve/functions.h"
#include "shared.h"
#include "source/span_names.h"
#include "source/span_say.h"

#define EXITS_OF_FILE 4096u

_Static_assert(sizeof(((struct span_label *)0)->bytes) > PP_LABEL_MAX, "a label and its NUL");

struct rule {
	char *binary; /* BINARY, behind it a NUL and FUNCTION */
	const char *function;
	bool met; /* a file has been found */
};

struct spans {
	struct rule rule[SPANS_RULES_MAX];
	unsigned int nrules;
	unsigned int nlabels;
	bool failed;
};

struct spans *spans_new(void)
{
	return calloc(1, sizeof(struct spans));
}

void spans_free(struct spans **sp)
{
	struct spans *s = *sp;

	if (!s)
		return;
	for (unsigned int i = 0; i < s->nrules; i++)
		free(s->rule[i].binary);
	free(s);
	*sp = NULL;
}

int spans_add(struct spans *s, const char *text, char error[static SPANS_ERROR_MAX])
{
	size_t n = strcspn(text, ":");
	char *copy;

	*error = '\0';
	if (!text[n] || !n || !text[n + 1]) {
		snprintf(error, SPANS_ERROR_MAX, "%s is missing",
			 !n	    ? "the binary"
			 : !text[n] ? "a colon"
				    : "the function");
		return -EINVAL;
	}
	if (s->nrules == SPANS_RULES_MAX) {
		snprintf(error, SPANS_ERROR_MAX, "more than %d of them", SPANS_RULES_MAX);
		return -EINVAL;
	}
	copy = strdup(text);
	if (!copy)
		return -ENOMEM;
	copy[n] = '\0';
	s->rule[s->nrules++] = (struct rule){.binary = copy, .function = copy + n + 1};
	return 0;
}

bool spans_failed(const struct spans *s)
{
	return s->failed;
}

const char *spans_path(const struct spans *s, unsigned int i)
{
	for (unsigned int k = 0; k < s->nrules; k++)
		if (strchr(s->rule[k].binary, '/') && !i--)
			return s->rule[k].binary;
	return NULL;
}

void spans_say_unmet(const struct spans *s)
{
	char shown[256];

	for (unsigned int i = 0; i < s->nrules; i++) {
		const char *binary = s->rule[i].binary;

		if (s->rule[i].met)
			continue;
		text_escape(shown, sizeof(shown), binary, strlen(binary));
		say_warning("--span: no program that was traced has mapped %s", shown);
	}
}

/* libfoo.so means libfoo.so.1.2, too. */
static bool same_name(const char *binary, const char *name)
{
	size_t n = strlen(binary);

	if (strncmp(binary, name, n))
		return false;
	return !name[n] || (name[n] == '.' && n > 3 && !strcmp(binary + n - 3, ".so"));
}

struct soname {
	const char *binary;
};

static int is_soname(void *ctx, enum elf_dynamic what, const char *string)
{
	const struct soname *s = ctx;

	return what == ELF_SONAME && same_name(s->binary, string);
}

static bool is_file(const char *binary, int fd, const char *path)
{
	const char *slash = strrchr(path, '/');
	struct soname s = {binary};
	struct stat st, mine;

	if (!strchr(binary, '/'))
		return same_name(binary, slash ? slash + 1 : path) ||
		       elf_dynamic_strings(fd, is_soname, &s) == 1;
	/* Ours, or what the program in its own mount namespace calls so. */
	return !strcmp(binary, path) || (!stat(binary, &st) && !fstat(fd, &mine) &&
					 st.st_dev == mine.st_dev && st.st_ino == mine.st_ino);
}

static bool path_of(int fd, char out[static PATH_MAX])
{
	static const char deleted[] = " (deleted)";
	char link[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, out, PATH_MAX - 1);
	if (n <= 0)
		return false;
	out[n] = '\0';
	if ((size_t)n >= sizeof(deleted) && !strcmp(out + n - (sizeof(deleted) - 1), deleted))
		out[(size_t)n - (sizeof(deleted) - 1)] = '\0';
	return true;
}

bool spans_want(struct spans *s, int fd)
{
	char path[PATH_MAX];
	bool any = false;

	if (!path_of(fd, path))
		return false;
	for (unsigned int i = 0; i < s->nrules; i++)
		any |= is_file(s->rule[i].binary, fd, path);
	return any;
}

/* What is being put together of one file. */
struct finding {
	struct spans *s;
	const struct functions *f;
	const char *file; /* escaped, for people */
	spans_label_fn fn;
	void *ctx;
	struct span_sites *out;
	struct exits exits;
	unsigned int unknown; /* functions whose end is not wholly known; one of them */
	const struct function *one;
};

static int label_of(struct finding *g, const char *symbol, unsigned int *number)
{
	struct span_label label = {.hash = PP_HASH_INIT};
	char name[DEMANGLED_MAX];
	size_t n = span_name(symbol, name);

	for (size_t i = 0; i < n; i++)
		label.hash = hash_byte(label.hash, (uint8_t)name[i]);
	label.len = n < PP_LABEL_MAX ? (uint32_t)n : PP_LABEL_MAX;
	label.flags = n > PP_LABEL_MAX ? PP_LABEL_CUT : 0;
	memcpy(label.bytes, name, label.len);
	*number = g->s->nlabels++;
	return g->fn(g->ctx, *number, &label);
}

static int append(uint64_t **list, unsigned int *n, uint64_t value)
{
	uint64_t *more;

	for (unsigned int i = 0; i < *n; i++)
		if ((*list)[i] == value)
			return 0;
	more = reallocarray(*list, *n + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	*list = more;
	more[(*n)++] = value;
	return 0;
}

static int add_exits(struct finding *g)
{
	struct span_sites *out = g->out;
	int err = 0;

	for (unsigned int i = 0; !err && i < g->exits.n; i++) {
		const struct exit_site *e = &g->exits.site[i];
		uint64_t off = functions_offset(g->f, e->at);

		err = e->kind == EXIT_LIBRARY ? append(&out->library, &out->libraries, off)
					      : append(&out->exit, &out->exits, off);
	}
	return err;
}

/* 0, -ENOMEM or -errno of the label; what is wrong with the function is said. */
static int add_function(struct finding *g, const struct function *fn)
{
	struct span_sites *out = g->out;
	unsigned int number;
	uint64_t *cookie;
	int err;

	err = exits_find(g->f, fn, &g->exits);
	if (err == -ENOMEM)
		return err;
	if (err) {
		span_say_exits(g->file, fn, err);
		g->s->failed = true;
		return 0;
	}
	if (g->exits.unknown && !g->unknown++)
		g->one = fn;
	err = add_exits(g);
	err = err ? err : label_of(g, fn->name, &number);
	if (err)
		return err;
	cookie = reallocarray(out->cookie, out->entries + 1, sizeof(*cookie));
	if (!cookie)
		return -ENOMEM;
	out->cookie = cookie;
	cookie[out->entries] =
	    number | (g->exits.again ? SPAN_AGAIN : 0) | (g->exits.tails ? SPAN_TAILS : 0);
	return append(&out->entry, &out->entries, functions_offset(g->f, g->exits.entry));
}

/* Functions that a rule means, each once: of aliases the first. NULL: no memory. */
static const struct function **meant(const struct functions *f, const char *pattern, size_t *count)
{
	const struct function *fn, **list;
	size_t n;

	fn = functions_list(f, &n);
	list = calloc(n + 1, sizeof(*list));
	*count = 0;
	for (size_t i = 0; list && i < n; i++)
		if ((!*count || list[*count - 1]->at != fn[i].at) &&
		    span_name_matches(pattern, fn[i].name))
			list[(*count)++] = &fn[i];
	return list;
}

static int add_meant(struct finding *g, const char *pattern, const struct function **list, size_t n)
{
	int err = 0;

	for (size_t i = 0; i < n; i++)
		if (functions_is_go(g->f, list[i]->at)) {
			span_say_go(g->file, list[i]);
			g->s->failed = true;
			return 0;
		}
	if (!n)
		span_say_none(g->file, pattern, g->f);
	else if (n > SPAN_FUNCTIONS - g->s->nlabels)
		span_say_many(g->file, pattern, list, n);
	if (!n || n > SPAN_FUNCTIONS - g->s->nlabels) {
		g->s->failed = true;
		return 0;
	}
	for (size_t i = 0; !err && i < n; i++)
		err = add_function(g, list[i]);
	return err;
}

static int find_all(struct finding *g, int fd, const char *path)
{
	const struct function **list;
	size_t n;
	int err = 0;

	for (unsigned int i = 0; !err && i < g->s->nrules; i++) {
		if (!is_file(g->s->rule[i].binary, fd, path))
			continue;
		g->s->rule[i].met = true;
		list = meant(g->f, g->s->rule[i].function, &n);
		err = list ? add_meant(g, g->s->rule[i].function, list, n) : -ENOMEM;
		free(list);
	}
	if (g->unknown)
		span_say_unknown(g->file, g->one, g->unknown);
	if (!err && g->out->exits > EXITS_OF_FILE) {
		say_error("--span: the functions of %s have %u exits; %u can be probed", g->file,
			  g->out->exits, EXITS_OF_FILE);
		say_remedy("say more of the function's name");
		g->s->failed = true;
	}
	return err;
}

int spans_find(struct spans *s, int fd, spans_label_fn fn, void *ctx, struct span_sites *out)
{
	char path[PATH_MAX], shown[512];
	struct functions *f;
	struct finding *g;
	int err;

	memset(out, 0, sizeof(*out));
	if (!path_of(fd, path))
		return 0;
	text_escape(shown, sizeof(shown), path, strlen(path));
	err = functions_open(&f, fd);
	if (err == -ENOMEM)
		return err;
	if (err) {
		say_error("--span: cannot read the functions of %s: %s", shown, strerror(-err));
		say_remedy("it must be an executable or a library for 64 bits");
		s->failed = true;
		return 0;
	}
	g = calloc(1, sizeof(*g));
	if (g) {
		g->s = s;
		g->f = f;
		g->file = shown;
		g->fn = fn;
		g->ctx = ctx;
		g->out = out;
	}
	err = g ? find_all(g, fd, path) : -ENOMEM;
	free(g);
	functions_free(&f);
	return err;
}

void span_sites_free(struct span_sites *sites)
{
	free(sites->entry);
	free(sites->cookie);
	free(sites->exit);
	free(sites->library);
	memset(sites, 0, sizeof(*sites));
}
