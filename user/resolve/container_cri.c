/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * containerd: STATE/io.containerd.runtime.v2.task/NAMESPACE/ID, with the OCI bundle of each task
 * that lives: config.json, and the pid of its first process in init.pid.
 */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "resolve/container_state.h"

static void read_one(void *ctx, const char *dir, const char *id)
{
	char path[PATH_MAX];
	const json_t *notes;
	struct container *c;
	const char *type;
	json_t *root;

	if (snprintf(path, sizeof(path), "%s/%s/config.json", dir, id) >= (int)sizeof(path))
		return;
	root = container_json(path);
	if (!json_is_object(root)) {
		json_decref(root);
		return;
	}
	notes = json_object_get(root, "annotations");
	type = json_string_value(json_object_get(notes, "io.kubernetes.cri.container-type"));
	c = containers_add(ctx, "containerd", id);
	if (c) {
		c->sandbox = type && !strcmp(type, "sandbox");
		container_take(&c->name, notes, "io.kubernetes.cri.container-name");
		container_take(&c->pod, notes, "io.kubernetes.cri.sandbox-name");
		container_take(&c->ns, notes, "io.kubernetes.cri.sandbox-namespace");
		if (!c->name)
			container_take(&c->name, notes, "nerdctl/name");
		snprintf(path, sizeof(path), "%s/%s/init.pid", dir, id);
		c->pid = container_pid_file(path);
	}
	json_decref(root);
}

void container_read_cri(struct containers *c, const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	char path[PATH_MAX];

	if (!d)
		return;
	while ((e = readdir(d))) {
		/* Docker's own are known by name from its own state. */
		if (e->d_name[0] == '.' || !strcmp(e->d_name, "moby"))
			continue;
		if (snprintf(path, sizeof(path), "%s/%s", dir, e->d_name) < (int)sizeof(path))
			container_each(path, read_one, c);
	}
	closedir(d);
}
