/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Containers of this machine, by what their engines keep on disk: Docker, Podman, CRI-O, containerd
 * (Kubernetes, nerdctl). No daemon is asked, so none has to answer.
 *
 * `root` stands in front of every path, /proc too: "" for the machine, a fixture in tests. Names
 * are an engine's own words: any bytes, to be escaped by whoever prints them. Thread-safe.
 */
#ifndef PEAKPHASE_RESOLVE_CONTAINER_H
#define PEAKPHASE_RESOLVE_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "resolve/cgroup.h"

#define CONTAINER_ID_MAX 64   /* hex digits; LXC has names in their place */
#define CONTAINER_SHORT_ID 12 /* as `docker ps` shows it */

struct container {
	/* "docker", "podman", "cri-o", "containerd", "kubernetes", "lxc"; "container": whose it is
	 * is not known. */
	const char *runtime;
	char id[CONTAINER_ID_MAX + 1];
	char *name;	    /* NULL: no engine's state tells it */
	char *pod, *ns;	    /* Kubernetes: pod and namespace; else NULL */
	pid_t pid;	    /* its first process; 0: not running */
	char *cgroup;	    /* of its own; NULL: not running, or it has none (rootless) */
	unsigned int procs; /* processes in the cgroup, those of cgroups below it included */
	bool told;	    /* pid is the engine's word, and holds */
	bool sandbox;	    /* of a pod: holds its namespaces and does nothing; never handed out */
};

struct containers {
	struct container *v;
	size_t n, cap;
};

/*
 * Running ones, and stopped ones that their engine still keeps. What cannot be read or understood
 * is left out. 0, or -ENOMEM; to be freed in either case.
 */
int containers_read(const char *root, struct containers *out);
void containers_free(struct containers *c);

static inline bool container_running(const struct container *c)
{
	return c->pid != 0;
}

/*
 * "web-1" or, of Kubernetes, "default/web-7f9c/app": terminated, cut at cap, not escaped. Returns
 * out. Without a name: the short id.
 */
char *container_title(const struct container *c, char *out, size_t cap);

/*
 * Which containers a person may mean by text: a name ("web-1"; "POD/NAME", "NS/POD/NAME" or POD of
 * Kubernetes), an id, or the beginning of one. The closest kind of match only, in that order, and
 * of those the running one if it is the only one that runs. The number of matches; the first `cap`
 * of them in found. 0: none.
 */
size_t containers_find(const struct containers *c, const char *text, const struct container **found,
		       size_t cap);
/* By the whole id; NULL: none. */
struct container *containers_by_id(const struct containers *c, const char *id);
/*
 * The innermost that the cgroup with that path is in or below, by what the engines say; else NULL,
 * and *in is what the path itself looks like, "" its id where it looks like none.
 */
struct container *containers_of_path(const struct containers *c, const char *path,
				     struct cgroup_container *in);

#endif
