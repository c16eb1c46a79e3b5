/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "resolve/cgroup.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "resolve/cgroup_mounts.h"
#include "resolve/proc.h"

struct memory_search {
	struct cgroup_mount *m;
	bool seen_v2;
};

/* A controller is in one hierarchy at a time: v1's mount of memory wins over an empty v2 tree. */
static int try_memory(void *ctx, const struct cgroup_hierarchy *h)
{
	struct memory_search *s = ctx;
	struct cgroup_mount *m = s->m;

	s->seen_v2 |= h->v2;
	if (!h->memory || (h->v2 ? m->version != CGROUP_NONE : m->version == CGROUP_V1))
		return 0;
	strcpy(m->dir, h->dir);
	strcpy(m->top, h->top);
	m->version = h->v2 ? CGROUP_V2 : CGROUP_V1;
	return 0;
}

int cgroup_mount_find(const char *proc, const char *sysroot, struct cgroup_mount *m)
{
	struct memory_search s = {.m = m};
	int err;

	memset(m, 0, sizeof(*m));
	err = cgroup_hierarchies(proc, sysroot, try_memory, &s);
	m->hybrid = m->version == CGROUP_V1 && s.seen_v2;
	return err ? err : m->version == CGROUP_NONE ? -ENOENT : 0;
}

int cgroup_parse(const char *text, enum cgroup_version version, char path[static PATH_MAX])
{
	/* "4:memory:/docker/…" on v1, "0::/system.slice/…" on v2; the path may hold colons. */
	for (const char *line = text; line && *line;) {
		const char *end = strchrnul(line, '\n');
		const char *list = memchr(line, ':', (size_t)(end - line));
		const char *colon = list ? memchr(list + 1, ':', (size_t)(end - list - 1)) : NULL;

		if (colon &&
		    (version == CGROUP_V2
			 ? line[0] == '0' && list == line + 1 && colon == list + 1
			 : cgroup_has_word(list + 1, (size_t)(colon - list - 1), "memory"))) {
			size_t n = (size_t)(end - colon - 1);

			if (n >= PATH_MAX)
				return -ENAMETOOLONG;
			if (!n || colon[1] != '/')
				return -EBADMSG;
			memcpy(path, colon + 1, n);
			path[n] = '\0';
			return 0;
		}
		line = *end ? end + 1 : NULL;
	}
	return -ENOENT;
}

int cgroup_of(const char *proc, pid_t pid, const struct cgroup_mount *m, char path[static PATH_MAX])
{
	char buf[16384];
	size_t len;
	int err;

	if (m->version == CGROUP_NONE)
		return -ENOENT;
	err = proc_read(proc, pid, "cgroup", buf, sizeof(buf), &len);
	return err ? err : cgroup_parse(buf, m->version, path);
}

int cgroup_dir(const struct cgroup_mount *m, const char *path, char dir[static PATH_MAX])
{
	size_t n = strlen(m->top);

	/* Seen from inside a cgroup namespace, what is outside begins with "/..". */
	if (m->version == CGROUP_NONE || !strncmp(path, "/..", 3))
		return -ENOENT;
	if (strcmp(m->top, "/") != 0) {
		if (strncmp(path, m->top, n) != 0 || (path[n] && path[n] != '/'))
			return -ENOENT;
		path += n;
	}
	if (snprintf(dir, PATH_MAX, "%s%s", m->dir, strcmp(path, "/") ? path : "") >= PATH_MAX)
		return -ENAMETOOLONG;
	return 0;
}

static int number(const char *dir, const char *name, uint64_t *out)
{
	char buf[64];
	int err = proc_file_in(dir, name, buf, sizeof(buf));

	if (err)
		return err;
	if (!strncmp(buf, "max", 3)) {
		*out = CGROUP_NO_LIMIT;
		return 0;
	}
	return sscanf(buf, "%" SCNu64, out) == 1 ? 0 : -EBADMSG;
}

int cgroup_numbers(const struct cgroup_mount *m, const char *path, struct cgroup_numbers *n)
{
	bool v1 = m->version == CGROUP_V1;
	char dir[PATH_MAX];
	int err = cgroup_dir(m, path, dir);

	if (err)
		return err;
	err = number(dir, v1 ? "memory.usage_in_bytes" : "memory.current", &n->usage);
	/* The root of v2 has neither file, and no limit. */
	if (err == -ENOENT && !v1 && !strcmp(path, "/")) {
		*n = (struct cgroup_numbers){0, CGROUP_NO_LIMIT};
		return 0;
	}
	if (err)
		return err;
	err = number(dir, v1 ? "memory.limit_in_bytes" : "memory.max", &n->limit);
	/* A cgroup namespace's own root looks like "/", but is limited as any other. */
	if (err == -ENOENT && !strcmp(path, "/")) {
		n->limit = CGROUP_NO_LIMIT;
		err = 0;
	}
	/* v1 has no word for it: LONG_MAX, rounded down to a page (64 KiB at most). */
	if (!err && v1 && n->limit >= (uint64_t)(INT64_MAX & ~0xffffll))
		n->limit = CGROUP_NO_LIMIT;
	return err;
}

int cgroup_ancestor(const char *path, unsigned int level, char out[static PATH_MAX])
{
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		n--;
	for (; level; level--) {
		if (n <= 1)
			return -ENOENT;
		while (n > 1 && path[n - 1] != '/')
			n--;
		while (n > 1 && path[n - 1] == '/')
			n--;
	}
	if (!n || n >= PATH_MAX)
		return n ? -ENAMETOOLONG : -EINVAL;
	memcpy(out, path, n);
	out[n] = '\0';
	return 0;
}

int cgroup_limit(const struct cgroup_mount *m, const char *path, struct cgroup_limit *out)
{
	char up[PATH_MAX];
	int err;

	*out = (struct cgroup_limit){.limit = CGROUP_NO_LIMIT};
	for (unsigned int level = 0;; level++) {
		struct cgroup_numbers n;

		err = cgroup_ancestor(path, level, up);
		if (err)
			return level && err == -ENOENT ? 0 : err;
		err = cgroup_numbers(m, up, &n);
		/* Above what is mounted here nothing can be seen: what was found so far stands. */
		if (err)
			return level && err == -ENOENT ? 0 : err;
		if (n.limit < out->limit) {
			out->limit = n.limit;
			out->usage = n.usage;
			out->level = level;
			memcpy(out->owner, up, sizeof(up));
		}
	}
}

/* Names of the directories that engines make, with what stands in front of the id. */
static const struct {
	const char *engine, *prefix;
} by_prefix[] = {
    {"docker", "docker-"},
    {"podman", "libpod-"},
    {"containerd", "cri-containerd-"},
    {"cri-o", "crio-"},
};

static bool hex_id(const char *s, size_t len, char id[static 65])
{
	if (len != 64)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (!isxdigit((unsigned char)s[i]))
			return false;
	}
	memcpy(id, s, len);
	id[len] = '\0';
	return true;
}

static bool component(const char *name, size_t len, const char *parent, size_t parent_len,
		      struct cgroup_container *c)
{
	/* systemd's driver makes "docker-ID.scope"; a CRI one "….slice:cri-containerd:ID". */
	const char *colon = memrchr(name, ':', len);

	c->guessed = false;
	if (len > 6 && !memcmp(name + len - 6, ".scope", 6))
		len -= 6;
	for (size_t i = 0; i < sizeof(by_prefix) / sizeof(by_prefix[0]); i++) {
		size_t n = strlen(by_prefix[i].prefix);

		if (len > n && !memcmp(name, by_prefix[i].prefix, n) &&
		    hex_id(name + n, len - n, c->id)) {
			c->engine = by_prefix[i].engine;
			return true;
		}
		/* "…:cri-containerd:ID": the same word, with a colon on either side. */
		if (colon && colon - name >= (ptrdiff_t)n && colon[-(ptrdiff_t)n] == ':' &&
		    !memcmp(colon - n + 1, by_prefix[i].prefix, n - 1) &&
		    hex_id(colon + 1, (size_t)(name + len - colon - 1), c->id)) {
			c->engine = by_prefix[i].engine;
			return true;
		}
	}
	if (hex_id(name, len, c->id)) {
		bool docker = parent_len == 6 && !memcmp(parent, "docker", 6);
		bool pod = parent_len > 3 && !memcmp(parent, "pod", 3);

		c->engine = docker ? "docker" : pod ? "kubernetes" : "container";
		c->guessed = !docker && !pod;
		return true;
	}
	if (len > 12 && len - 12 < sizeof(c->id) && !memcmp(name, "lxc.payload.", 12)) {
		memcpy(c->id, name + 12, len - 12);
		c->id[len - 12] = '\0';
		c->engine = "lxc";
		return true;
	}
	return false;
}

bool cgroup_container_next(const char *path, size_t *end, struct cgroup_container *c)
{
	while (*end) {
		size_t len = *end;
		const char *slash = memrchr(path, '/', len);
		const char *name = slash ? slash + 1 : path;
		const char *above =
		    slash && slash > path ? memrchr(path, '/', (size_t)(slash - path)) : NULL;
		size_t above_len = above ? (size_t)(slash - above - 1) : 0;

		*end = slash ? (size_t)(slash - path) : 0;
		if (name < path + len && component(name, (size_t)(path + len - name),
						   above ? above + 1 : "", above_len, c))
			return true;
	}
	c->engine = NULL;
	c->id[0] = '\0';
	return false;
}

bool cgroup_container(const char *path, struct cgroup_container *c)
{
	size_t end = strlen(path);

	while (cgroup_container_next(path, &end, c))
		if (!c->guessed)
			return true;
	return false;
}

bool cgroup_container_folder(const char *id, unsigned int i, char out[static CGROUP_FOLDER_MAX])
{
	const size_t n = sizeof(by_prefix) / sizeof(by_prefix[0]);

	if (i > 2 * n)
		return false;
	if (!i)
		snprintf(out, CGROUP_FOLDER_MAX, "%.64s", id);
	else
		snprintf(out, CGROUP_FOLDER_MAX, "%s%.64s%s", by_prefix[(i - 1) / 2].prefix, id,
			 i % 2 ? ".scope" : "");
	return true;
}
