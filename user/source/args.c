/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "source/args.h"

#include <stdlib.h>
#include <string.h>

#include "resolve/proc.h"

#define TEXT_BYTES 4096

/* The name changes with every exec: so a command line of another program is not taken for this. */
static bool still_called(const char *proc, pid_t pid, const char *name)
{
	char comm[PROC_COMM_MAX + 1];

	return !proc_comm(proc, pid, comm) && !strcmp(comm, name);
}

void args_of_attached(const char *proc, struct event *ev)
{
	struct ev_edge *e = &ev->edge;
	char args[PP_ARGS_MAX + 1];
	size_t len;

	if (ev->kind != PP_BASE || e->args_len ||
	    (e->reason != PP_BY_ATTACH && e->reason != PP_BY_JOIN))
		return;
	if (proc_cmdline(proc, (pid_t)ev->pid, args, sizeof(args), &len) ||
	    !still_called(proc, (pid_t)ev->pid, e->comm))
		return;
	memcpy(e->args, args, len);
	e->args_len = (uint32_t)len;
}

char *args_text(const char *proc, pid_t pid)
{
	char *text = malloc(TEXT_BYTES);
	size_t len;

	if (!text || proc_cmdline(proc, pid, text, TEXT_BYTES, &len) || !len) {
		free(text);
		return NULL;
	}
	while (len && !text[len - 1])
		len--;
	for (size_t i = 0; i < len; i++)
		if (!text[i])
			text[i] = ' ';
	text[len] = '\0';
	return text;
}
