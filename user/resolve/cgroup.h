/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory cgroups by name, for messages and checks: BPF reads the true charge and limit itself.
 *
 * Paths are as the kernel gives them: "/a/b" below the root of the hierarchy ("/" is the root).
 * 0 or -errno. Thread-safe, no state.
 */
#ifndef PEAKPHASE_RESOLVE_CGROUP_H
#define PEAKPHASE_RESOLVE_CGROUP_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define CGROUP_NO_LIMIT UINT64_MAX

enum cgroup_version {
	CGROUP_NONE, /* no memory controller: no charge, no limit */
	CGROUP_V1,
	CGROUP_V2,
};

/* Where the memory controller is mounted. */
struct cgroup_mount {
	enum cgroup_version version;
	bool hybrid;	    /* v1 with a v2 tree beside it that has no memory controller */
	char dir[PATH_MAX]; /* mount point, sysroot in front; "" if it is not mounted here */
	char top[PATH_MAX]; /* the cgroup that is mounted there: "/" unless in a container */
};

struct cgroup_numbers {
	uint64_t usage; /* bytes charged */
	uint64_t limit; /* bytes, or CGROUP_NO_LIMIT */
};

/* The smallest limit on the way to the root. */
struct cgroup_limit {
	uint64_t limit;	      /* bytes, or CGROUP_NO_LIMIT */
	uint64_t usage;	      /* charge of the cgroup that owns it */
	unsigned int level;   /* 0: the cgroup asked for, 1: its parent, … */
	char owner[PATH_MAX]; /* path of the owner; "" without a limit */
};

struct cgroup_container {
	const char *engine; /* "docker", "podman", "containerd", "cri-o", "kubernetes", "lxc" */
	char id[65];	    /* 64 hex digits, or a name (lxc) */
	/*
	 * Nothing but an id like theirs, as below a folder that somebody chose (--cgroup-parent):
	 * one if an engine knows the id. engine is "container".
	 */
	bool guessed;
};

/*
 * proc: "/proc" or a fixture; sysroot: in front of mount points, "" or a fixture.
 * -ENOENT: no hierarchy is mounted (m->version is CGROUP_NONE).
 */
int cgroup_mount_find(const char *proc, const char *sysroot, struct cgroup_mount *m);

/* The memory cgroup that pid is in. -ESRCH: gone. -ENOENT: it has none. */
int cgroup_of(const char *proc, pid_t pid, const struct cgroup_mount *m,
	      char path[static PATH_MAX]);
/* From the text of /proc/PID/cgroup. */
int cgroup_parse(const char *text, enum cgroup_version version, char path[static PATH_MAX]);

/* The directory of a cgroup. -ENOENT: outside what is mounted here. */
int cgroup_dir(const struct cgroup_mount *m, const char *path, char dir[static PATH_MAX]);
int cgroup_numbers(const struct cgroup_mount *m, const char *path, struct cgroup_numbers *n);
int cgroup_limit(const struct cgroup_mount *m, const char *path, struct cgroup_limit *out);

/* The ancestor `level` steps up: the name of a limit's owner. -ENOENT above the root. */
int cgroup_ancestor(const char *path, unsigned int level, char out[static PATH_MAX]);

/*
 * The containers that a path looks like, by the usual names of directories: from the innermost
 * (they nest) to the outermost. *end: what is left of the path, strlen(path) to begin with. False:
 * there are no more.
 */
bool cgroup_container_next(const char *path, size_t *end, struct cgroup_container *c);
/* The innermost that is not guessed; false: none. */
bool cgroup_container(const char *path, struct cgroup_container *c);
/*
 * The other way round: what engines may call the folder of the container with that id, one by one
 * from i = 0. False: there are no more.
 */
#define CGROUP_FOLDER_MAX 128
bool cgroup_container_folder(const char *id, unsigned int i, char out[static CGROUP_FOLDER_MAX]);

#endif
