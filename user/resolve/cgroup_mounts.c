/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "resolve/cgroup_mounts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "resolve/proc.h"

bool cgroup_has_word(const char *list, size_t len, const char *name)
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

static bool v2_has_memory(const char *dir)
{
	char path[PATH_MAX], buf[512];
	size_t len;

	if (snprintf(path, sizeof(path), "%s/cgroup.controllers", dir) >= (int)sizeof(path) ||
	    proc_file(path, buf, sizeof(buf), &len))
		return false;
	for (char *save, *w = strtok_r(buf, " \n", &save); w; w = strtok_r(NULL, " \n", &save)) {
		if (!strcmp(w, "memory"))
			return true;
	}
	return false;
}

/*
 * The kernel's number of a v1 hierarchy: of the line in /proc/PID/cgroup that has one of the
 * mount's options for its controllers, "4:memory:/…" or "9:name=systemd:/".
 */
static int number_of(const char *lines, const char *options, uint32_t *number)
{
	for (const char *line = lines; line && *line;) {
		const char *end = strchrnul(line, '\n');
		const char *list = memchr(line, ':', (size_t)(end - line));
		const char *stop = list ? list + 1 + strcspn(list + 1, ",:\n") : NULL;
		char word[64];

		if (stop && stop > list + 1 && (size_t)(stop - list) <= sizeof(word)) {
			memcpy(word, list + 1, (size_t)(stop - list - 1));
			word[stop - list - 1] = '\0';
			if (cgroup_has_word(options, strlen(options), word)) {
				*number = (uint32_t)strtoul(line, NULL, 10);
				return 0;
			}
		}
		line = *end ? end + 1 : NULL;
	}
	return -ENOENT;
}

static int fill(struct cgroup_hierarchy *h, const char *sysroot, const struct mount_line *line,
		const char *lines)
{
	if (snprintf(h->dir, sizeof(h->dir), "%s%s", sysroot, line->dir) >= (int)sizeof(h->dir) ||
	    snprintf(h->top, sizeof(h->top), "%s", line->top) >= (int)sizeof(h->top))
		return -ENAMETOOLONG;
	h->v2 = !strcmp(line->type, "cgroup2");
	h->number = 0;
	if (h->v2) {
		h->memory = v2_has_memory(h->dir);
		return 0;
	}
	h->memory = cgroup_has_word(line->options, strlen(line->options), "memory");
	return number_of(lines, line->options, &h->number);
}

int cgroup_hierarchies(const char *proc, const char *sysroot,
		       int (*fn)(void *, const struct cgroup_hierarchy *), void *ctx)
{
	char path[PATH_MAX], lines[16384] = "", *line = NULL;
	struct cgroup_hierarchy h;
	size_t cap = 0, len;
	int err = 0;
	FILE *f;

	if (snprintf(path, sizeof(path), "%s/self/mountinfo", proc) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	f = fopen(path, "re");
	if (!f)
		return -errno;
	proc_read(proc, 0, "cgroup", lines, sizeof(lines), &len);
	while (!err && getline(&line, &cap, f) > 0) {
		struct mount_line ml = {0};

		if (mount_parse(line, &ml) ||
		    (strcmp(ml.type, "cgroup2") != 0 && strcmp(ml.type, "cgroup") != 0))
			continue;
		err = fill(&h, sysroot, &ml, lines);
		if (err == -ENOENT) {
			h.number = CGROUP_NUMBER_UNKNOWN;
			err = 0;
		}
		if (!err)
			err = fn(ctx, &h);
	}
	free(line);
	fclose(f);
	return err;
}
