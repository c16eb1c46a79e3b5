/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Nothing was marked: how the program that was named can have phases. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/trace_private.h"
#include "lib/say.h"
#include "lib/text.h"
#include "resolve/elf.h"
#include "source/command.h"

static void first_pid(void *ctx, const struct process *p)
{
	uint32_t *pid = ctx;

	if (!*pid)
		*pid = p->pid;
}

/* The descriptor of the program; below 0: it cannot be looked at, or it is gone. */
static int open_program(const struct trace *t, char name[static PATH_MAX])
{
	char path[PATH_MAX];
	uint32_t pid = 0;
	ssize_t n;

	if (t->mode == TRACE_RUN) {
		snprintf(name, PATH_MAX, "%s", t->name);
		return command_lookup(t->name, NULL, path) ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	}
	model_each_process(t->model, first_pid, &pid);
	snprintf(path, sizeof(path), "/proc/%u/exe", pid);
	n = readlink(path, name, PATH_MAX - 1);
	name[n > 0 ? n : 0] = '\0';
	return n > 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
}

static bool may_tell(const struct trace *t)
{
	const struct trace_options *o = &t->opt;

	return !o->quiet && !o->watch && !o->patterns && !o->spans && !t->heard && t->seen;
}

/* Programs that run others: what has phases is not their own code. */
static bool runs_others(const char *base)
{
	static const char *const names[] = {"sh",      "bash", "dash",	 "zsh",	    "ksh",
					    "busybox", "env",  "nice",	 "time",    "timeout",
					    "java",    "node", "nodejs", "ruby",    "perl",
					    "php",     "R",    "make",	 "Rscript", "julia"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(base, names[i]))
			return true;
	return false;
}

#define MARK "or marks in it: log_rss(3)"
#define LINES "lines that it prints (--step-output REGEX)"

static void say_how(const struct trace *t, int fd, const char *base)
{
	char shown[256];

	text_escape(shown, sizeof(shown), base, strlen(base));
	if (!strncmp(base, "python", strlen("python")))
		say_info(
		    "no marks were heard: phases can be its functions (python3 -m peakphase --span 'MODULE:*' ...), " LINES
		    ", " MARK);
	else if (runs_others(base) || t->seen > 1 || elf_is_elf(fd) != 1)
		say_info("no marks were heard: phases can be " LINES ", " MARK);
	else if (elf_has_symbols(fd))
		say_info(
		    "no marks were heard: phases can be its functions (--span %s:FUNCTION), " LINES
		    ", " MARK,
		    shown);
	else
		say_info("no marks were heard: phases can be " LINES ", " MARK
			 "; %s has no symbols to find a log_rss() of its own by",
			 shown);
}

/* Of a program that has markers nothing is said: it may come to them later, or not this time. */
void trace_say_unmarked(const struct trace *t)
{
	char name[PATH_MAX];
	struct elf_sites sites;
	const char *slash;
	int fd;

	if (!may_tell(t) || (t->mode != TRACE_RUN && session_probes(t->session)))
		return;
	fd = open_program(t, name);
	if (fd < 0)
		return;
	slash = strrchr(name, '/');
	if (elf_find_markers(fd, &sites) <= 0)
		say_how(t, fd, slash ? slash + 1 : name);
	close(fd);
}
