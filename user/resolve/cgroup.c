/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "resolve/cgroup.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "resolve/proc.h"

/* Is name one of the comma-separated words of list? */
static bool has_word(const char *list, size_t len, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = list, *end = list + len; p < end;) {
		const char *comma = memchr(p, ',', (size_t)(end - p));
		const char *stop = comma ? comma : end;

		if ((size_t)(stop - p) == n && !memcmp(p, name, n))
			return true;
		p = stop + 1;
	}
	return false;
}

/* mountinfo writes space, tab, newline and backslash as three octal digits. */
static void decode_octal(char *s)
{
	char *to = s;

	while (*s) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' &&
		    s[3] >= '0' && s[3] <= '7') {
			*to++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
			s += 4;
		} else {
			*to++ = *s++;
		}
	}
	*to = '\0';
}

struct mount_line {
	char *top, *dir, *type, *options; /* options of the superblock: the controllers on v1 */
};

/* "36 35 0:30 / /sys/fs/cgroup rw,… shared:9 - cgroup2 cgroup2 rw,…" */
static int mount_parse(char *line, struct mount_line *m)
{
	char *save, *word = strtok_r(line, " \n", &save);
	int i;

	for (i = 0; word && i < 5; i++) {
		if (i == 3)
			m->top = word;
		if (i == 4)
			m->dir = word;
		word = strtok_r(NULL, " \n", &save);
	}
	while (word && strcmp(word, "-") != 0)
		word = strtok_r(NULL, " \n", &save);
	m->type = word ? strtok_r(NULL, " \n", &save) : NULL;
	if (!m->type || !strtok_r(NULL, " \n", &save))
		return -EBADMSG;
	m->options = strtok_r(NULL, " \n", &save);
	if (!m->options)
		return -EBADMSG;
	decode_octal(m->top);
	decode_octal(m->dir);
	return 0;
}

static int read_file(const char *dir, const char *name, char *buf, size_t cap)
{
	char path[PATH_MAX];
	size_t len;

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	return proc_file(path, buf, cap, &len);
}

static bool v2_has_memory(const char *dir)
{
	char buf[512];

	if (read_file(dir, "cgroup.controllers", buf, sizeof(buf)))
		return false;
	for (char *save, *w = strtok_r(buf, " \n", &save); w; w = strtok_r(NULL, " \n", &save)) {
		if (!strcmp(w, "memory"))
			return true;
	}
	return false;
}

static int mount_take(struct cgroup_mount *m, const char *sysroot, const struct mount_line *line,
		      enum cgroup_version version)
{
	if (snprintf(m->dir, sizeof(m->dir), "%s%s", sysroot, line->dir) >= (int)sizeof(m->dir) ||
	    snprintf(m->top, sizeof(m->top), "%s", line->top) >= (int)sizeof(m->top))
		return -ENAMETOOLONG;
	m->version = version;
	return 0;
}

int cgroup_mount_find(const char *proc, const char *sysroot, struct cgroup_mount *m)
{
	char path[PATH_MAX], dir[PATH_MAX], *line = NULL;
	bool seen_v2 = false;
	size_t cap = 0;
	FILE *f;
	int err = 0;

	memset(m, 0, sizeof(*m));
	if (snprintf(path, sizeof(path), "%s/self/mountinfo", proc) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	f = fopen(path, "re");
	if (!f)
		return -errno;
	/* A controller is in one hierarchy at a time: v1's mount of memory wins over an empty v2
	 * tree. */
	while (!err && getline(&line, &cap, f) > 0) {
		struct mount_line ml = {0};

		if (mount_parse(line, &ml))
			continue;
		if (!strcmp(ml.type, "cgroup2")) {
			seen_v2 = true;
			if (snprintf(dir, sizeof(dir), "%s%s", sysroot, ml.dir) >= (int)sizeof(dir))
				err = -ENAMETOOLONG;
			else if (m->version == CGROUP_NONE && v2_has_memory(dir))
				err = mount_take(m, sysroot, &ml, CGROUP_V2);
		} else if (m->version != CGROUP_V1 && !strcmp(ml.type, "cgroup") &&
			   has_word(ml.options, strlen(ml.options), "memory")) {
			err = mount_take(m, sysroot, &ml, CGROUP_V1);
		}
	}
	m->hybrid = m->version == CGROUP_V1 && seen_v2;
	free(line);
	fclose(f);
	if (!err && m->version == CGROUP_NONE)
		err = -ENOENT;
	return err;
}

int cgroup_parse(const char *text, enum cgroup_version version, char path[static PATH_MAX])
{
	/* "4:memory:/docker/…" on v1, "0::/system.slice/…" on v2; the path may hold colons. */
	for (const char *line = text; line && *line;) {
		const char *end = strchrnul(line, '\n');
		const char *list = memchr(line, ':', (size_t)(end - line));
		const char *colon = list ? memchr(list + 1, ':', (size_t)(end - list - 1)) : NULL;

		if (colon && (version == CGROUP_V2
				  ? line[0] == '0' && list == line + 1 && colon == list + 1
				  : has_word(list + 1, (size_t)(colon - list - 1), "memory"))) {
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
	int err = read_file(dir, name, buf, sizeof(buf));

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

		c->engine = docker ? "docker" : pod ? "kubernetes" : NULL;
		return c->engine;
	}
	if (len > 12 && len - 12 < sizeof(c->id) && !memcmp(name, "lxc.payload.", 12)) {
		memcpy(c->id, name + 12, len - 12);
		c->id[len - 12] = '\0';
		c->engine = "lxc";
		return true;
	}
	return false;
}

bool cgroup_container(const char *path, struct cgroup_container *c)
{
	const char *end = path + strlen(path);

	/* The innermost wins: engines nest (docker in docker, podman's "…/container" below its
	 * own). */
	while (end > path) {
		const char *slash = memrchr(path, '/', (size_t)(end - path));
		const char *name = slash ? slash + 1 : path;
		const char *above =
		    slash && slash > path ? memrchr(path, '/', (size_t)(slash - path)) : NULL;
		size_t above_len = above ? (size_t)(slash - above - 1) : 0;

		if (name < end &&
		    component(name, (size_t)(end - name), above ? above + 1 : "", above_len, c))
			return true;
		end = slash ? slash : path;
	}
	c->engine = NULL;
	c->id[0] = '\0';
	return false;
}
