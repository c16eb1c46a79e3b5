/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "resolve/library.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "resolve/elf.h"

#define CONF_DEPTH 4 /* ld.so.conf including others */

struct object {
	dev_t dev;
	ino_t ino;
	char *path;
};

struct walk {
	const char *library_path;
	char *system; /* folders of ld.so.conf and the loader's own, ':' between them */
	uint16_t machine;
	unsigned int n;
	struct object object[LIBRARY_MAX];
};

/* What the dynamic section of one object says; strings are owned. */
struct dynamic {
	char *runpath, *rpath;
	char *needed[LIBRARY_MAX];
	unsigned int n;
};

static int append(char **list, const char *word, size_t len)
{
	size_t have = *list ? strlen(*list) : 0;
	char *more = realloc(*list, have + len + 2);

	if (!more)
		return -ENOMEM;
	*list = more;
	if (have)
		more[have++] = ':';
	memcpy(more + have, word, len);
	more[have + len] = '\0';
	return 0;
}

static int read_conf(char **list, const char *path, int depth)
{
	char line[PATH_MAX];
	FILE *f = fopen(path, "re");
	int err = 0;

	if (!f)
		return 0;
	while (!err && fgets(line, sizeof(line), f)) {
		char *p = line + strspn(line, " \t");
		glob_t g;

		p[strcspn(p, "#\n")] = '\0';
		for (size_t n = strlen(p); n && strchr(" \t\r", p[n - 1]); n--)
			p[n - 1] = '\0';
		if (strncmp(p, "include", 7) != 0 || !strchr(" \t", p[7]) || !p[7]) {
			err = *p == '/' ? append(list, p, strlen(p)) : 0;
			continue;
		}
		p += 7 + strspn(p + 7, " \t");
		if (depth >= CONF_DEPTH || glob(p, 0, NULL, &g))
			continue;
		for (size_t i = 0; !err && i < g.gl_pathc; i++)
			err = read_conf(list, g.gl_pathv[i], depth + 1);
		globfree(&g);
	}
	fclose(f);
	return err;
}

/* The machine of an ELF file (e_machine), 0 if it is none that we can read. */
static uint16_t machine_of(int fd)
{
	uint16_t m;

	return elf_is_elf(fd) == 1 && pread(fd, &m, sizeof(m), 18) == sizeof(m) ? m : 0;
}

/* Never a pipe or a device: to open one can change what others see of it. */
static int open_regular(const char *path)
{
	struct stat st;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return -1;
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

/* Takes a file in, once: 1 new, 0 not a library of this program or seen before, -errno. */
static int take(struct walk *w, const char *path)
{
	int fd = open_regular(path), ret = 0;
	uint16_t machine;
	struct stat st;

	if (fd < 0)
		return 0;
	machine = machine_of(fd);
	if (machine && !w->n)
		w->machine = machine;
	if (fstat(fd, &st) || !machine || machine != w->machine || w->n == LIBRARY_MAX)
		goto out;
	for (unsigned int i = 0; i < w->n; i++) {
		if (w->object[i].dev == st.st_dev && w->object[i].ino == st.st_ino)
			goto out;
	}
	w->object[w->n] = (struct object){st.st_dev, st.st_ino, strdup(path)};
	ret = w->object[w->n].path ? 1 : -ENOMEM;
	w->n += ret == 1;
out:
	close(fd);
	return ret;
}

/* Is there a library of this machine at path? */
static bool fits(const struct walk *w, const char *path)
{
	int fd = open_regular(path);
	bool yes;

	if (fd < 0)
		return false;
	yes = machine_of(fd) == w->machine;
	close(fd);
	return yes;
}

/* One folder of a search path, with $ORIGIN as the loader reads it. */
static int folder(char out[static PATH_MAX], const char *part, size_t len, const char *origin)
{
	const char *slash = strrchr(origin, '/');
	int dir = slash ? (int)(slash - origin) : 1, n;
	size_t skip = 0;

	if (len >= 7 && !memcmp(part, "$ORIGIN", 7))
		skip = 7;
	else if (len >= 9 && !memcmp(part, "${ORIGIN}", 9))
		skip = 9;
	if (skip)
		n = snprintf(out, PATH_MAX, "%.*s%.*s", dir, slash ? origin : ".",
			     (int)(len - skip), part + skip);
	else
		n = snprintf(out, PATH_MAX, "%.*s", (int)len, part);
	return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

static bool search(const struct walk *w, const char *list, const char *origin, const char *name,
		   char out[static PATH_MAX])
{
	char dir[PATH_MAX];

	for (const char *p = list; p && *p;) {
		size_t len = strcspn(p, ":;");

		/* An empty part is the current directory. */
		if (!folder(dir, len ? p : ".", len ? len : 1, origin) &&
		    snprintf(out, PATH_MAX, "%s/%s", dir, name) < PATH_MAX && fits(w, out))
			return true;
		p += len;
		p += *p != '\0';
	}
	return false;
}

static int note_string(void *ctx, enum elf_dynamic what, const char *s)
{
	struct dynamic *d = ctx;
	char **to = NULL;

	switch (what) {
	case ELF_NEEDED:
		if (d->n < LIBRARY_MAX)
			to = &d->needed[d->n++];
		break;
	case ELF_RUNPATH:
		to = &d->runpath;
		break;
	case ELF_RPATH:
		to = &d->rpath;
		break;
	case ELF_SONAME:
		break;
	}
	if (!to || *to)
		return 0;
	*to = strdup(s);
	return *to ? 0 : -ENOMEM;
}

/* Finds what one object needs. The order of ld.so(8). */
static int expand(struct walk *w, const char *path)
{
	int fd = open_regular(path), err;
	struct dynamic *d = calloc(1, sizeof(*d));
	char found[PATH_MAX];

	if (fd < 0 || !d) {
		err = fd < 0 ? 0 : -ENOMEM;
		goto out;
	}
	err = elf_dynamic_strings(fd, note_string, d);
	if (err != -ENOMEM)
		err = 0; /* a broken one needs nothing */
	for (unsigned int i = 0; !err && i < d->n; i++) {
		const char *name = d->needed[i];

		if (strchr(name, '/'))
			err = take(w, name);
		else if ((!d->runpath && search(w, d->rpath, path, name, found)) ||
			 search(w, w->library_path, path, name, found) ||
			 search(w, d->runpath, path, name, found) ||
			 search(w, w->system, path, name, found))
			err = take(w, found);
		err = err < 0 ? err : 0;
	}
out:
	if (fd >= 0)
		close(fd);
	for (unsigned int i = 0; d && i < d->n; i++)
		free(d->needed[i]);
	if (d) {
		free(d->runpath);
		free(d->rpath);
	}
	free(d);
	return err;
}

static int take_preload(struct walk *w, const char *preload)
{
	char found[PATH_MAX], name[PATH_MAX];
	int err = 0;

	for (const char *p = preload; err >= 0 && p && *p;) {
		size_t len = strcspn(p, ": ");

		if (len && len < sizeof(name)) {
			memcpy(name, p, len);
			name[len] = '\0';
			if (strchr(name, '/'))
				err = take(w, name);
			else if (search(w, w->library_path, "/", name, found) ||
				 search(w, w->system, "/", name, found))
				err = take(w, found);
		}
		p += len;
		p += *p != '\0';
	}
	return err < 0 ? err : 0;
}

int library_each(const char *path, const char *library_path, const char *preload, library_fn fn,
		 void *ctx)
{
	/* After the configured ones; those of a musl system are the same. */
	static const char builtin[] = "/lib64:/usr/lib64:/lib:/usr/lib:/usr/local/lib";
	struct walk *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return -ENOMEM;
	w->library_path = library_path;
	err = read_conf(&w->system, "/etc/ld.so.conf", 0);
	err = err ? err : append(&w->system, builtin, sizeof(builtin) - 1);
	err = err ? err : take(w, path);
	if (err == 1)
		err = take_preload(w, preload);
	for (unsigned int i = 0; !err && i < w->n; i++) {
		if (i)
			err = fn(ctx, w->object[i].path);
		err = err ? err : expand(w, w->object[i].path);
	}
	for (unsigned int i = 0; i < w->n; i++)
		free(w->object[i].path);
	free(w->system);
	free(w);
	return err;
}
