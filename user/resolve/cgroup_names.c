/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "resolve/cgroup_names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "lib/clock.h"
#include "resolve/cgroup.h"

/* The engines' files are read anew for a container that is not among them: not more often. */
#define READ_AGAIN_NS 1000000000ull

struct known {
	uint64_t id;
	UT_hash_handle hh;
};

struct cgroup_names {
	char root[PATH_MAX], proc[PATH_MAX];
	struct cgroup_mount memory;
	struct containers containers;
	uint64_t read_ns; /* 0: never */
	struct known *known;
	char path[PATH_MAX];
};

struct cgroup_names *cgroup_names_new(const char *root)
{
	struct cgroup_names *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	if (snprintf(n->root, sizeof(n->root), "%s", root) >= (int)sizeof(n->root) ||
	    snprintf(n->proc, sizeof(n->proc), "%s/proc", root) >= (int)sizeof(n->proc)) {
		free(n);
		return NULL;
	}
	if (cgroup_mount_find(n->proc, root, &n->memory))
		n->memory.version = CGROUP_V2; /* without its controller the number is of v2's */
	return n;
}

void cgroup_names_free(struct cgroup_names **np)
{
	struct cgroup_names *n = *np;
	struct known *k, *next;

	if (!n)
		return;
	HASH_ITER (hh, n->known, k, next) {
		HASH_DEL(n->known, k);
		free(k);
	}
	containers_free(&n->containers);
	free(n);
	*np = NULL;
}

/*
 * Cuts the path down to the cgroup with that number: on v2 a cgroup without the controller is
 * counted in one above it. One whose folder cannot be seen from here passes as it is.
 */
static bool cut_to(struct cgroup_names *n, uint64_t id)
{
	char up[PATH_MAX], dir[PATH_MAX];
	struct stat st;

	for (unsigned int level = 0; !cgroup_ancestor(n->path, level, up); level++) {
		if (!n->memory.dir[0] || cgroup_dir(&n->memory, up, dir) || stat(dir, &st))
			return !level;
		if (st.st_ino != id)
			continue;
		strcpy(n->path, up);
		return true;
	}
	return false;
}

static int find_container(struct cgroup_names *n, const char *path, const struct container **out)
{
	struct cgroup_container in;
	uint64_t now = clock_mono_ns();

	*out = containers_of_path(&n->containers, path, &in);
	if (!in.id[0] || (*out && (*out)->name) || (n->read_ns && now - n->read_ns < READ_AGAIN_NS))
		return 0;
	containers_free(&n->containers);
	n->read_ns = now;
	if (containers_read(n->root, &n->containers) == -ENOMEM)
		return -ENOMEM;
	*out = containers_of_path(&n->containers, path, &in);
	return 0;
}

int cgroup_names_get(struct cgroup_names *n, uint64_t id, pid_t pid, struct cgroup_named *out)
{
	struct known *k;

	memset(out, 0, sizeof(*out));
	HASH_FIND(hh, n->known, &id, sizeof(id), k);
	if (k || !id || cgroup_of(n->proc, pid, &n->memory, n->path) || !cut_to(n, id))
		return 0;
	if (find_container(n, n->path, &out->in))
		return -ENOMEM;
	k = calloc(1, sizeof(*k));
	if (!k)
		return -ENOMEM;
	k->id = id;
	HASH_ADD(hh, n->known, id, sizeof(k->id), k);
	if (!k->hh.tbl) {
		free(k);
		return -ENOMEM;
	}
	out->path = n->path;
	return 1;
}
