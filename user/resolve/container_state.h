/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Private to user/resolve/container*.c: what the readers of engines' state share. */
#ifndef PEAKPHASE_RESOLVE_CONTAINER_STATE_H
#define PEAKPHASE_RESOLVE_CONTAINER_STATE_H

#include <jansson.h>
#include <limits.h>

#include "resolve/container.h"

#define CONTAINER_DIRS_MAX 32

enum container_dir_kind {
	CONTAINER_DIR_DOCKER,	   /* …/containers: a folder for each, config.v2.json in it */
	CONTAINER_DIR_STORAGE,	   /* …/overlay-containers: containers.json */
	CONTAINER_DIR_STORAGE_RUN, /* …/overlay-containers of the run root: ID/userdata/pidfile */
	CONTAINER_DIR_CRI,	   /* …/io.containerd.runtime.v2.task: NAMESPACE/ID/config.json */
};

struct container_dirs {
	struct {
		enum container_dir_kind kind;
		char path[PATH_MAX];
		dev_t dev;
		ino_t ino;
	} v[CONTAINER_DIRS_MAX];
	size_t n;
};

/* Where engines keep their state: the usual places, and those that running engines name. */
void container_dirs_find(const char *root, struct container_dirs *d);

/* The container with that id, made if there is none; NULL: no memory, or id is none (-EINVAL). */
struct container *containers_add(struct containers *c, const char *runtime, const char *id);
/* Sets *field to a copy of what the object has under key, if that is text that is not empty. */
void container_take(char **field, const json_t *object, const char *key);

/* What a file holds; NULL: it is not there, absurdly large, or no JSON. */
json_t *container_json(const char *path);
/* Calls fn for each folder in dir whose name is an id. */
void container_each(const char *dir, void (*fn)(void *, const char *dir, const char *id),
		    void *ctx);
/* A number in a file of its own; 0: none. */
pid_t container_pid_file(const char *path);

void container_read_docker(struct containers *c, const char *dir);
void container_read_storage(struct containers *c, const char *dir, const struct container_dirs *d);
void container_read_cri(struct containers *c, const char *dir);

#endif
