/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the engines of this machine keep their state: their usual places, and what running ones
 * were told on their command lines. An engine in a container (a node of a cluster within one
 * machine) is looked at within its own root.
 */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "resolve/container_state.h"
#include "resolve/proc.h"

static void add(struct container_dirs *d, enum container_dir_kind kind, const char *path)
{
	struct stat st;

	if (d->n == CONTAINER_DIRS_MAX || stat(path, &st) || !S_ISDIR(st.st_mode) ||
	    strlen(path) >= sizeof(d->v[0].path))
		return;
	for (size_t i = 0; i < d->n; i++)
		if (d->v[i].kind == kind && d->v[i].dev == st.st_dev && d->v[i].ino == st.st_ino)
			return;
	d->v[d->n].kind = kind;
	d->v[d->n].dev = st.st_dev;
	d->v[d->n].ino = st.st_ino;
	strcpy(d->v[d->n++].path, path);
}

static void __attribute__((format(printf, 3, 4)))
add_path(struct container_dirs *d, enum container_dir_kind kind, const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	if (n > 0 && n < (int)sizeof(path))
		add(d, kind, path);
}

/* A graph root or a run root: one folder for each storage driver that was ever used in it. */
static void add_storage(struct container_dirs *d, enum container_dir_kind kind, const char *root,
			const char *storage)
{
	static const char *const drivers[] = {"overlay", "vfs", "btrfs", "zfs"};

	for (size_t i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++)
		add_path(d, kind, "%s%s/%s-containers", root, storage, drivers[i]);
}

static void add_usual(struct container_dirs *d, const char *root)
{
	add_path(d, CONTAINER_DIR_DOCKER, "%s/var/lib/docker/containers", root);
	add_storage(d, CONTAINER_DIR_STORAGE, root, "/var/lib/containers/storage");
	add_storage(d, CONTAINER_DIR_STORAGE_RUN, root, "/run/containers/storage");
	add_path(d, CONTAINER_DIR_CRI, "%s/run/containerd/io.containerd.runtime.v2.task", root);
	add_path(d, CONTAINER_DIR_CRI, "%s/run/k3s/containerd/io.containerd.runtime.v2.task", root);
}

/* The value of "--name VALUE" or "--name=VALUE" in arguments with a NUL behind each; NULL: none. */
static const char *value_of(const char *args, size_t len, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = args, *end = args + len; p < end; p += strlen(p) + 1) {
		if (strncmp(p, name, n) != 0)
			continue;
		if (p[n] == '=')
			return p + n + 1;
		if (!p[n])
			return p + n + 1 < end ? p + n + 1 : NULL;
	}
	return NULL;
}

static void add_dockerd(struct container_dirs *d, const char *root, const char *args, size_t len)
{
	const char *data = value_of(args, len, "--data-root");
	const char *file = value_of(args, len, "--config-file");
	char path[PATH_MAX];
	json_t *config;

	if (!data)
		data = value_of(args, len, "-g");
	if (data)
		add_path(d, CONTAINER_DIR_DOCKER, "%s/%s/containers", root, data);
	if (snprintf(path, sizeof(path), "%s/%s", root, file ? file : "/etc/docker/daemon.json") >=
	    (int)sizeof(path))
		return;
	config = container_json(path);
	data = json_string_value(json_object_get(config, "data-root"));
	if (data)
		add_path(d, CONTAINER_DIR_DOCKER, "%s/%s/containers", root, data);
	json_decref(config);
}

/* Cuts the last n parts off. */
static void up(char *path, int n)
{
	for (char *slash; n && (slash = strrchr(path, '/')); n--)
		*slash = '\0';
}

/* The monitor of one container: -b …/overlay-containers/ID/userdata, -p the same/pidfile. */
static void add_conmon(struct container_dirs *d, const char *root, const char *args, size_t len)
{
	const char *bundle = value_of(args, len, "-b"), *pidfile = value_of(args, len, "-p");
	char path[PATH_MAX];

	if (bundle && snprintf(path, sizeof(path), "%s/%s", root, bundle) < (int)sizeof(path)) {
		up(path, 2);
		add(d, CONTAINER_DIR_STORAGE, path);
	}
	if (pidfile && snprintf(path, sizeof(path), "%s/%s", root, pidfile) < (int)sizeof(path)) {
		up(path, 3);
		add(d, CONTAINER_DIR_STORAGE_RUN, path);
	}
}

static void add_process(struct container_dirs *d, const char *proc, pid_t pid)
{
	char comm[PROC_COMM_MAX + 1], args[8192], root[PATH_MAX];
	size_t len;

	if (proc_comm(proc, pid, comm))
		return;
	if (strcmp(comm, "dockerd") != 0 && strcmp(comm, "conmon") != 0 &&
	    strcmp(comm, "containerd") != 0 && strcmp(comm, "crio") != 0)
		return;
	if (proc_cmdline(proc, pid, args, sizeof(args) - 1, &len) ||
	    snprintf(root, sizeof(root), "%s/%d/root", proc, (int)pid) >= (int)sizeof(root))
		return;
	args[len] = '\0';
	if (!strcmp(comm, "dockerd"))
		add_dockerd(d, root, args, len);
	else if (!strcmp(comm, "conmon"))
		add_conmon(d, root, args, len);
	add_usual(d, root);
}

void container_dirs_find(const char *root, struct container_dirs *d)
{
	char proc[PATH_MAX];
	struct dirent *e;
	DIR *dir;

	d->n = 0;
	add_usual(d, root);
	if (snprintf(proc, sizeof(proc), "%s/proc", root) >= (int)sizeof(proc))
		return;
	dir = opendir(proc);
	if (!dir)
		return;
	while ((e = readdir(dir)))
		if (isdigit((unsigned char)e->d_name[0]))
			add_process(d, proc, (pid_t)atoi(e->d_name));
	closedir(dir);
}
