/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/note_cgroup.h"

#include <stdio.h>
#include <stdlib.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "resolve/cgroup_names.h"

struct noted {
	struct cgroup c;
	UT_hash_handle hh;
};

struct noted_cgroups {
	struct cgroup_names *names;
	struct noted *table;
};

struct noted_cgroups *noted_cgroups_new(void)
{
	struct noted_cgroups *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->names = cgroup_names_new("");
	if (!n->names)
		noted_cgroups_free(&n);
	return n;
}

void noted_cgroups_free(struct noted_cgroups **np)
{
	struct noted_cgroups *n = *np;
	struct noted *c, *next;

	if (!n)
		return;
	HASH_ITER (hh, n->table, c, next) {
		HASH_DEL(n->table, c);
		free(c);
	}
	cgroup_names_free(&n->names);
	free(n);
	*np = NULL;
}

static void copy(char *out, size_t cap, const char *s)
{
	snprintf(out, cap, "%s", s ? s : "");
}

static void keep(struct noted_cgroups *n, const struct cgroup *c)
{
	struct noted *new;

	if (HASH_COUNT(n->table) >= NOTED_CGROUPS_MAX || noted_cgroup(n, c->id))
		return;
	new = calloc(1, sizeof(*new));
	if (!new)
		return;
	new->c = *c;
	HASH_ADD(hh, n->table, c.id, sizeof(new->c.id), new);
	if (!new->hh.tbl)
		free(new);
}

bool note_cgroup(struct cgroup *out, struct noted_cgroups *n, const struct process *p)
{
	struct cgroup_named named;

	if (cgroup_names_get(n->names, p->cgroup_id, (pid_t)p->pid, &named) <= 0)
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
	keep(n, out);
	return true;
}

const struct cgroup *noted_cgroup(const struct noted_cgroups *n, uint64_t id)
{
	struct noted *found;

	HASH_FIND(hh, n->table, &id, sizeof(id), found);
	return found ? &found->c : NULL;
}
