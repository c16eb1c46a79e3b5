/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Podman and CRI-O, which share a storage: GRAPH-ROOT/overlay-containers/containers.json lists what
 * there is, RUN-ROOT/overlay-containers/ID/userdata/pidfile is there while it runs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "resolve/container_state.h"

/*
 * Kubernetes' own way of naming, which CRI-O keeps: k8s_CONTAINER_POD_NAMESPACE_UID_ATTEMPT. None
 * of the parts may hold an underscore. False: it is no such name.
 */
static bool split_name(struct container *c, const char *name)
{
	char *copy = strdup(name), *save = copy, *part[6];
	int n = 0;
	bool ok;

	while (copy && n < 6 && (part[n] = strsep(&save, "_")))
		n++;
	ok = n == 6 && !save && !strcmp(part[0], "k8s");
	if (ok) {
		free(c->name);
		c->name = strdup(part[1]);
		free(c->pod);
		c->pod = strdup(part[2]);
		free(c->ns);
		c->ns = strdup(part[3]);
	}
	free(copy);
	return ok;
}

static pid_t pid_of(const struct container_dirs *d, const char *id)
{
	char path[PATH_MAX];
	pid_t pid = 0;

	for (size_t i = 0; i < d->n && !pid; i++) {
		if (d->v[i].kind != CONTAINER_DIR_STORAGE_RUN)
			continue;
		if (snprintf(path, sizeof(path), "%s/%s/userdata/pidfile", d->v[i].path, id) <
		    (int)sizeof(path))
			pid = container_pid_file(path);
	}
	return pid;
}

/* CRI-O notes the pod in the metadata, which is JSON within a string; Podman has none there. */
static bool of_a_pod(const json_t *entry)
{
	const char *text = json_string_value(json_object_get(entry, "metadata")), *pod;
	json_t *metadata = text ? json_loads(text, 0, NULL) : NULL;
	bool is;

	pod = json_string_value(json_object_get(metadata, "pod-id"));
	is = pod && *pod;
	json_decref(metadata);
	return is;
}

static void read_entry(struct containers *list, const json_t *entry, const struct container_dirs *d)
{
	const char *id = json_string_value(json_object_get(entry, "id"));
	const char *name = json_string_value(json_array_get(json_object_get(entry, "names"), 0));
	struct container *c;

	c = id ? containers_add(list, of_a_pod(entry) ? "cri-o" : "podman", id) : NULL;
	if (!c)
		return;
	c->sandbox = name && !strncmp(name, "k8s_POD_", 8);
	if (name && *name && !split_name(c, name)) {
		free(c->name);
		c->name = strdup(name);
	}
	c->pid = pid_of(d, id);
}

void container_read_storage(struct containers *c, const char *dir, const struct container_dirs *d)
{
	char path[PATH_MAX];
	json_t *root, *entry;
	size_t i;

	if (snprintf(path, sizeof(path), "%s/containers.json", dir) >= (int)sizeof(path))
		return;
	root = container_json(path);
	json_array_foreach (root, i, entry)
		read_entry(c, entry, d);
	json_decref(root);
}
