/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/note_cgroup.h"

#include <stdio.h>

static void copy(char *out, size_t cap, const char *s)
{
	snprintf(out, cap, "%s", s ? s : "");
}

bool note_cgroup(struct cgroup *out, struct cgroup_names *n, const struct process *p)
{
	struct cgroup_named named;

	if (cgroup_names_get(n, p->cgroup_id, (pid_t)p->pid, &named) <= 0)
		return false;
	*out = (struct cgroup){.id = p->cgroup_id};
	copy(out->path, sizeof(out->path), named.path);
	if (named.in) {
		copy(out->runtime, sizeof(out->runtime), named.in->runtime);
		copy(out->container, sizeof(out->container), named.in->id);
		copy(out->name, sizeof(out->name), named.in->name);
		copy(out->pod, sizeof(out->pod), named.in->pod);
		copy(out->ns, sizeof(out->ns), named.in->ns);
	}
	return true;
}
