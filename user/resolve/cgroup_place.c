/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "resolve/cgroup_place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "resolve/cgroup_mounts.h"
#include "resolve/proc.h"

/* How well a hierarchy fits a path that several may have: the memory controller's, v2's, others. */
static int rank_of(const struct cgroup_hierarchy *h)
{
	return h->memory ? 3 : h->v2 ? 2 : 1;
}

struct search {
	const char *text;
	struct cgroup_place *out;
	int best;
	bool expected; /* it need not be there */
};

static int take(struct search *s, const struct cgroup_hierarchy *h, const char *below, int rank)
{
	struct cgroup_place *p = s->out;
	const char *top = strcmp(h->top, "/") ? h->top : "";
	char dir[PATH_MAX];
	struct stat st;
	size_t n;

	while (*below == '/')
		below++;
	if (snprintf(dir, sizeof(dir), "%s%s%s", h->dir, *below ? "/" : "", below) >=
	    (int)sizeof(dir))
		return -ENAMETOOLONG;
	if (!s->expected && (stat(dir, &st) || !S_ISDIR(st.st_mode)))
		return 0;
	if (snprintf(p->path, sizeof(p->path), "%s/%s", top, below) >= (int)sizeof(p->path))
		return -ENAMETOOLONG;
	for (n = strlen(p->path); n > 1 && p->path[n - 1] == '/'; n--)
		p->path[n - 1] = '\0';
	strcpy(p->dir, dir);
	p->hierarchy = h->number;
	p->id = s->expected ? 0 : st.st_ino;
	s->best = rank;
	return 0;
}

static int try_hierarchy(void *ctx, const struct cgroup_hierarchy *h)
{
	size_t n = strlen(h->dir), top = strlen(h->top);
	struct search *s = ctx;
	const char *below = s->text;

	/* A folder of its own mount: no other can be meant. */
	if (!strncmp(s->text, h->dir, n) && (!s->text[n] || s->text[n] == '/'))
		return take(s, h, s->text + n, 100 + (int)n);
	if (rank_of(h) <= s->best)
		return 0;
	/* Of a hierarchy that is mounted from a cgroup on, only what lies below that is seen. */
	if (top > 1 && *below == '/') {
		if (strncmp(below, h->top, top) != 0 || (below[top] && below[top] != '/'))
			return 0;
		below += top;
	}
	return take(s, h, below, rank_of(h));
}

/* ".." would lead out of the hierarchy. */
static bool climbs(const char *text)
{
	for (const char *p = text; (p = strstr(p, "..")); p += 2)
		if ((p == text || p[-1] == '/') && (!p[2] || p[2] == '/'))
			return true;
	return false;
}

static int find(const char *proc, const char *sysroot, struct search *s)
{
	int err;

	if (!*s->text || climbs(s->text))
		return -EINVAL;
	err = cgroup_hierarchies(proc, sysroot, try_hierarchy, s);
	return err ? err : s->best ? 0 : -ENOENT;
}

int cgroup_place_find(const char *proc, const char *sysroot, const char *text,
		      struct cgroup_place *out)
{
	struct search s = {.text = text, .out = out};

	return find(proc, sysroot, &s);
}

int cgroup_place_expect(const char *proc, const char *sysroot, const char *text,
			struct cgroup_place *out)
{
	struct search s = {.text = text, .out = out, .expected = true};

	return find(proc, sysroot, &s);
}

struct walk {
	const char *proc;
	int (*fn)(void *, pid_t);
	void *ctx;
};

/* The processes of one cgroup. The file has any number of lines. */
static int each_line(const struct walk *w, int dir, const char *name, bool threads)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC), err = 0;
	char *line = NULL;
	size_t cap = 0;
	FILE *f;

	if (fd < 0)
		return -errno;
	f = fdopen(fd, "r");
	if (!f) {
		close(fd);
		return -ENOMEM;
	}
	while (!err && (errno = 0, getline(&line, &cap, f)) > 0) {
		pid_t pid = (pid_t)strtol(line, NULL, 10), tgid = pid;

		/* 0: of a pid namespace that this one does not see into. */
		if (pid <= 0)
			continue;
		if (threads)
			proc_kind(w->proc, pid, &tgid);
		err = w->fn(w->ctx, tgid);
	}
	if (!err && errno)
		err = -errno;
	free(line);
	fclose(f);
	return err;
}

static int walk(const struct walk *w, int dir, int depth);

static int walk_below(const struct walk *w, int dir, int depth)
{
	int again = dup(dir), err = 0;
	DIR *d = again >= 0 ? fdopendir(again) : NULL;
	struct dirent *e;

	if (!d) {
		if (again >= 0)
			close(again);
		return -ENOMEM;
	}
	while (!err && (e = readdir(d))) {
		int below;

		if (e->d_type != DT_DIR || e->d_name[0] == '.')
			continue;
		below = openat(dir, e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		if (below < 0)
			continue; /* removed since */
		err = walk(w, below, depth + 1);
		close(below);
	}
	closedir(d);
	return err;
}

static int walk(const struct walk *w, int dir, int depth)
{
	int err = each_line(w, dir, "cgroup.procs", false);

	/* A threaded cgroup of v2 has no processes, only threads. */
	if (err == -EOPNOTSUPP)
		err = each_line(w, dir, "cgroup.threads", true);
	/* Removed while it was read: nobody is in it. */
	if (err == -ENODEV || (err == -ENOENT && depth))
		err = 0;
	return err || depth == CGROUP_DEPTH_MAX ? err : walk_below(w, dir, depth);
}

int cgroup_each_process(const char *proc, const char *dir, int (*fn)(void *, pid_t), void *ctx)
{
	const struct walk w = {proc, fn, ctx};
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	err = walk(&w, fd, 0);
	close(fd);
	return err;
}
