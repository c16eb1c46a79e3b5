/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Docker: DATA-ROOT/containers/ID/config.v2.json, which dockerd rewrites at every start and end. */
#include <stdio.h>

#include "resolve/container_state.h"

static void read_one(void *ctx, const char *dir, const char *id)
{
	char path[PATH_MAX];
	struct container *c;
	const json_t *state;
	json_t *root;

	if (snprintf(path, sizeof(path), "%s/%s/config.v2.json", dir, id) >= (int)sizeof(path))
		return;
	root = container_json(path);
	if (!json_is_object(root)) {
		json_decref(root);
		return;
	}
	c = containers_add(ctx, "docker", id);
	if (c) {
		container_take(&c->name, root, "Name");
		state = json_object_get(root, "State");
		if (json_is_true(json_object_get(state, "Running")))
			c->pid = (pid_t)json_integer_value(json_object_get(state, "Pid"));
	}
	json_decref(root);
}

void container_read_docker(struct containers *c, const char *dir)
{
	container_each(dir, read_one, c);
}
