/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "source/find_place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <uthash.h>

#define LIBRARY "liblogrss.so"
#define MAX_SEEN 65536u /* a process can map no more files than vm.max_map_count */

struct finder_key {
	uint64_t dev, ino;
};

struct finder_seen {
	struct finder_key key;
	UT_hash_handle hh;
};

void finder_end(struct finder *f)
{
	struct finder_seen *s, *next;

	HASH_ITER (hh, f->seen, s, next) {
		HASH_DEL(f->seen, s);
		free(s);
	}
}

/* 1: new, 0: seen before, -ENOMEM. */
static int remember(struct finder *f, const struct stat *st)
{
	struct finder_key key = {st->st_dev, st->st_ino};
	struct finder_seen *s;

	HASH_FIND(hh, f->seen, &key, sizeof(key), s);
	if (s || HASH_COUNT(f->seen) >= MAX_SEEN)
		return 0;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->key = key;
	HASH_ADD(hh, f->seen, key, sizeof(key), s);
	return 1;
}

int finder_offer(struct finder *f, const char *path)
{
	struct stat st;
	int err;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return 0;
	err = remember(f, &st);
	return err == 1 ? f->fn(f->ctx, path) : err;
}

/* Symbolic links, absolute ones and "..", are followed inside the root. Linux 5.6. */
static int open_inside(int root, const char *path, uint64_t flags)
{
	struct open_how how = {.flags = flags | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT};

	return (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
}

int finder_offer_inside(struct finder *f, const char *path)
{
	char name[64];
	int fd, err;

	if (f->root < 0)
		return finder_offer(f, path);
	/* O_PATH: neither a device nor a pipe is opened by looking at it. */
	fd = open_inside(f->root, path, O_PATH);
	if (fd < 0)
		return 0;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	err = finder_offer(f, name);
	close(fd);
	return err;
}

static DIR *open_folder(const struct finder *f, const char *path)
{
	int fd = f->root < 0 ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
			     : open_inside(f->root, path, O_RDONLY | O_DIRECTORY);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d && fd >= 0)
		close(fd);
	return d;
}

static int offer_in(struct finder *f, const char *dir, const char *name)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path))
		return 0;
	return finder_offer_inside(f, path);
}

int finder_python_folder(struct finder *f, const char *dir)
{
	return offer_in(f, *dir ? dir : ".", "peakphase/" LIBRARY);
}

/* Each folder dir/NAME for which `match` holds. */
static int each_folder(struct finder *f, const char *dir, bool (*match)(const char *),
		       int (*fn)(struct finder *, const char *))
{
	DIR *d = open_folder(f, dir);
	struct dirent *e;
	int err = 0;

	while (!err && d && (e = readdir(d))) {
		char path[PATH_MAX];

		if (match(e->d_name) &&
		    snprintf(path, sizeof(path), "%s/%s", dir, e->d_name) < (int)sizeof(path))
			err = fn(f, path);
	}
	if (d)
		closedir(d);
	return err;
}

static bool is_python(const char *name)
{
	return !strncmp(name, "python3", 7) || !strncmp(name, "pypy3", 5);
}

static bool is_architecture(const char *name)
{
	return strstr(name, "-linux-") != NULL;
}

static int packages(struct finder *f, const char *python)
{
	int err = offer_in(f, python, "site-packages/peakphase/" LIBRARY);

	return err ? err : offer_in(f, python, "dist-packages/peakphase/" LIBRARY);
}

static int library_in(struct finder *f, const char *dir)
{
	return offer_in(f, dir, LIBRARY);
}

int finder_python_prefix(struct finder *f, const char *base)
{
	static const char *const lib[] = {"lib", "lib64"};
	int err = 0;

	for (size_t i = 0; !err && i < 2; i++) {
		char dir[PATH_MAX];

		if (snprintf(dir, sizeof(dir), "%s/%s", base, lib[i]) < (int)sizeof(dir))
			err = each_folder(f, dir, is_python, packages);
	}
	return err;
}

int finder_python_of(struct finder *f, const char *program)
{
	const char *slash = strrchr(program, '/');
	char base[PATH_MAX];

	if (!slash || snprintf(base, sizeof(base), "%.*s/..", (int)(slash - program), program) >=
			  (int)sizeof(base))
		return 0;
	return finder_python_prefix(f, base);
}

/* The tracer's own folder: a build tree, or PREFIX/bin. */
static int beside_ourselves(struct finder *f)
{
	static const char *const place[] = {LIBRARY, "../lib/" LIBRARY,
					    "python/peakphase/" LIBRARY};
	char self[PATH_MAX], path[PATH_MAX + 64];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash = n < 0 ? NULL : memrchr(self, '/', (size_t)n);
	int err = 0;

	if (!slash)
		return 0;
	*slash = '\0';
	for (size_t i = 0; !err && i < sizeof(place) / sizeof(place[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", self, place[i]);
		err = finder_offer(f, path);
	}
	return err;
}

int finder_library_places(struct finder *f)
{
	static const char *const dir[] = {PEAKPHASE_PREFIX "/lib", "/usr/local/lib", "/usr/lib",
					  "/usr/lib64", "/lib"};
	int err = f->root < 0 ? beside_ourselves(f) : 0;

	for (size_t i = 0; !err && i < sizeof(dir) / sizeof(dir[0]); i++) {
		err = library_in(f, dir[i]);
		err = err ? err : each_folder(f, dir[i], is_architecture, library_in);
	}
	return err;
}

/* A folder as the program writes it: relative to where it runs. */
static int from(char out[static PATH_MAX], const char *cwd, const char *dir, size_t len)
{
	bool absolute = len && *dir == '/';
	int n = snprintf(out, PATH_MAX, "%s%s%.*s", absolute ? "" : cwd,
			 absolute || !*cwd || !len ? "" : "/", (int)len, dir);

	return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

int finder_python_places(struct finder *f, const struct find_env *env, const char *cwd)
{
	static const char *const local[] = {".venv", "venv"};
	char dir[PATH_MAX];
	int err = 0;

	for (const char *p = env->python_path; !err && p && *p;) {
		size_t len = strcspn(p, ":");

		if (!from(dir, cwd, p, len))
			err = finder_python_folder(f, dir);
		p += len;
		p += *p != '\0';
	}
	if (!err && env->venv && !from(dir, cwd, env->venv, strlen(env->venv)))
		err = finder_python_prefix(f, dir);
	for (size_t i = 0; !err && i < 2; i++) {
		if (!from(dir, cwd, local[i], strlen(local[i])))
			err = finder_python_prefix(f, dir);
	}
	/* `python3 -m` and `-c` look where they run. */
	err = err ? err : finder_python_folder(f, cwd);
	if (!err && env->home && snprintf(dir, sizeof(dir), "%s/.local", env->home) < PATH_MAX)
		err = finder_python_prefix(f, dir);
	err = err ? err : finder_python_prefix(f, "/usr/local");
	return err ? err : finder_python_prefix(f, "/usr");
}
