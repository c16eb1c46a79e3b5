/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Why there are no phases: of one program alone, the one that was named. */
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

	return !o->quiet && !o->watch && !o->patterns && !o->spans && !t->heard && t->seen == 1;
}

void trace_say_unmarked(const struct trace *t)
{
	char name[PATH_MAX], shown[256];
	struct elf_sites sites;
	const char *base;
	bool symbols;
	int fd;

	if (!may_tell(t) || (t->mode != TRACE_RUN && session_probes(t->session)))
		return;
	fd = open_program(t, name);
	if (fd < 0)
		return;
	symbols = elf_has_symbols(fd) != 0;
	if (!symbols && !elf_find_markers(fd, &sites)) {
		base = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
		text_escape(shown, sizeof(shown), base, strlen(base));
		say_info(
		    "no markers in %s: it has no symbols to find its own log_rss() by; keep them, or use peakphase/log_rss.h, from Python its package, or --mark-output",
		    shown);
	}
	close(fd);
}
