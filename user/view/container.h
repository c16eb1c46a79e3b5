/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Containers and the owners of limits, for people and for programs. */
#ifndef PEAKPHASE_VIEW_CONTAINER_H
#define PEAKPHASE_VIEW_CONTAINER_H

#include "lib/json.h"
#include "view/source.h"

#define VIEW_CONTAINER_MAX 1024

/* "docker web-1", "containerd default/web-7f9c/app", escaped; "" if it is in none. Its length. */
size_t view_container(char out[static VIEW_CONTAINER_MAX], const struct cgroup *c, unsigned flags);

/* The same without the engine, and the pod's namespace: "web-1", "web-7f9c/app". */
size_t view_container_name(char out[static VIEW_CONTAINER_MAX], const struct cgroup *c,
			   unsigned flags);

/*
 * Whose limit it is, from the cgroup of the process and how many levels up: "docker web-1", or
 * "cgroup /docker" where that is no container, escaped. "" where c has no path. Its length.
 */
size_t view_limit_owner(char out[static VIEW_CONTAINER_MAX], const struct cgroup *c,
			unsigned int level, unsigned flags);

/* Does that path (within its hierarchy) belong to the container that c is of? */
bool view_container_owns(const struct cgroup *c, const char *path);

/* An object, or null for none. c NULL: not known. */
void view_container_json(struct jw *j, const struct cgroup *c);
/* Value for "limit_owner". */
void view_limit_owner_json(struct jw *j, const struct cgroup *c, unsigned int level);

#endif
