/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "resolve/container.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "resolve/cgroup.h"
#include "resolve/container_state.h"
#include "resolve/proc.h"

/* The path up to the folder that carries the container's id: an init system inside makes more. */
static char *own_cgroup(const char *path, const char *id)
{
	const char *at = strstr(path, id), *end = at ? strchrnul(at, '/') : NULL;

	return at ? strndup(path, (size_t)(end - path)) : NULL;
}

/* Where a process is counted: the memory controller's hierarchy, or the unified one. */
static int read_cgroup(const char *proc, pid_t pid, char path[static PATH_MAX])
{
	char text[16384];
	size_t len;
	int err = proc_read(proc, pid, "cgroup", text, sizeof(text), &len);

	if (err)
		return err;
	if (!cgroup_parse(text, CGROUP_V1, path))
		return 0;
	return cgroup_parse(text, CGROUP_V2, path);
}

static bool is_below(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	return !strncmp(path, folder, n) && (!path[n] || path[n] == '/');
}

static int scan_process(struct containers *list, const char *proc, pid_t pid)
{
	struct proc_status st = {0};
	struct cgroup_container in;
	char path[PATH_MAX];
	struct container *c;

	if (read_cgroup(proc, pid, path))
		return 0;
	c = containers_of_path(list, path, &in);
	if (!in.id[0] || ((!c || !c->told) && proc_status(proc, pid, &st)))
		return 0;
	/* Of no engine that is known: who has pids of its own there is in a container. */
	if (!c && in.guessed && st.ns_depth < 2)
		return 0;
	if (!c)
		c = containers_add(list, in.engine, in.id);
	if (!c)
		return -ENOMEM;
	if (!c->cgroup)
		c->cgroup = own_cgroup(path, c->id);
	if (!c->cgroup)
		return -ENOMEM;
	/* Anyone who may make cgroups can give them any name. */
	if (!is_below(path, c->cgroup))
		return 0;
	c->procs++;
	/* Without an engine's word: the one that the container calls 1, else the first seen. */
	if (!c->told && (c->procs == 1 || (st.ns_depth > 1 && st.ns_pid == 1)))
		c->pid = pid;
	return 0;
}

/* An engine's word on the first process counts while that process is in the container's cgroup. */
static void check_pids(struct containers *list, const char *proc)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < list->n; i++) {
		struct container *c = &list->v[i];

		c->told = c->pid > 0 && !read_cgroup(proc, c->pid, path) && strstr(path, c->id);
		if (c->told)
			c->cgroup = own_cgroup(path, c->id);
	}
}

/*
 * The engines' files may be stale (a crash, a reboot) and their pids those of another namespace:
 * what runs is what the cgroups hold.
 */
static int scan(struct containers *list, const char *root)
{
	char proc[PATH_MAX];
	struct dirent *e;
	int err = 0;
	DIR *d;

	if (snprintf(proc, sizeof(proc), "%s/proc", root) >= (int)sizeof(proc))
		return -ENAMETOOLONG;
	d = opendir(proc);
	if (!d)
		return 0;
	check_pids(list, proc);
	while (!err && (e = readdir(d)))
		if (isdigit((unsigned char)e->d_name[0]))
			err = scan_process(list, proc, (pid_t)atoi(e->d_name));
	closedir(d);
	for (size_t i = 0; i < list->n; i++) {
		struct container *c = &list->v[i];
		struct proc_status st;

		/* An engine without rights makes no cgroup: then only a pid of another namespace
		 * can be the container's. */
		if (!c->cgroup && c->pid && (proc_status(proc, c->pid, &st) || st.ns_depth < 2))
			c->pid = 0;
	}
	return err;
}

static void free_one(struct container *c)
{
	free(c->name);
	free(c->pod);
	free(c->ns);
	free(c->cgroup);
}

static void drop_sandboxes(struct containers *list)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->n; i++) {
		if (list->v[i].sandbox)
			free_one(&list->v[i]);
		else
			list->v[kept++] = list->v[i];
	}
	list->n = kept;
}

int containers_read(const char *root, struct containers *out)
{
	struct container_dirs *d = calloc(1, sizeof(*d));
	int err;

	memset(out, 0, sizeof(*out));
	if (!d)
		return -ENOMEM;
	container_dirs_find(root, d);
	for (size_t i = 0; i < d->n; i++) {
		switch (d->v[i].kind) {
		case CONTAINER_DIR_DOCKER:
			container_read_docker(out, d->v[i].path);
			break;
		case CONTAINER_DIR_STORAGE:
			container_read_storage(out, d->v[i].path, d);
			break;
		case CONTAINER_DIR_CRI:
			container_read_cri(out, d->v[i].path);
			break;
		case CONTAINER_DIR_STORAGE_RUN:
			break;
		}
	}
	free(d);
	err = scan(out, root);
	drop_sandboxes(out);
	return err;
}

void containers_free(struct containers *c)
{
	for (size_t i = 0; i < c->n; i++)
		free_one(&c->v[i]);
	free(c->v);
	memset(c, 0, sizeof(*c));
}
