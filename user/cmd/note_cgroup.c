/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/note_cgroup.h"

#include <stdio.h>

static void copy(char *out, size_t cap, const char *s)
{
	snprintf(out, cap, "%s", s ? s : "");
}

void note_cgroup(struct store *s, struct cgroup_names *n, const struct process *p)
{
	struct cgroup c = {.id = p->cgroup_id};
	struct cgroup_named named;

	if (cgroup_names_get(n, p->cgroup_id, (pid_t)p->pid, &named) <= 0)
		return;
	copy(c.path, sizeof(c.path), named.path);
	if (named.in) {
		copy(c.runtime, sizeof(c.runtime), named.in->runtime);
		copy(c.container, sizeof(c.container), named.in->id);
		copy(c.name, sizeof(c.name), named.in->name);
		copy(c.pod, sizeof(c.pod), named.in->pod);
		copy(c.ns, sizeof(c.ns), named.in->ns);
	}
	store_cgroup(s, &c);
}
