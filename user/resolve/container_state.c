/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "resolve/container_state.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "resolve/proc.h"

#define STATE_FILE_MAX (16u << 20)

struct container *containers_add(struct containers *list, const char *runtime, const char *id)
{
	struct container *c = containers_by_id(list, id), *more;
	size_t cap = list->cap ? 2 * list->cap : 16;

	if (c)
		return c;
	if (!*id || strlen(id) > CONTAINER_ID_MAX)
		return NULL;
	if (list->n == list->cap) {
		more = reallocarray(list->v, cap, sizeof(*more));
		if (!more)
			return NULL;
		list->v = more;
		list->cap = cap;
	}
	c = &list->v[list->n++];
	memset(c, 0, sizeof(*c));
	c->runtime = runtime;
	strcpy(c->id, id);
	return c;
}

void container_take(char **field, const json_t *object, const char *key)
{
	const char *s = json_string_value(json_object_get(object, key));

	/* Docker's names begin with a slash. */
	if (s && *s == '/')
		s++;
	if (!s || !*s)
		return;
	free(*field);
	*field = strdup(s);
}

json_t *container_json(const char *path)
{
	/* A pipe in place of the file must not hold us up. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	json_t *root = NULL;
	struct stat st;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size <= (off_t)STATE_FILE_MAX)
		root = json_loadfd(fd, JSON_REJECT_DUPLICATES, NULL);
	close(fd);
	return root;
}

static bool is_id(const char *s)
{
	size_t n = 0;

	while (isalnum((unsigned char)s[n]) || s[n] == '-' || s[n] == '_' || s[n] == '.')
		n++;
	return n && !s[n] && n <= CONTAINER_ID_MAX && s[0] != '.';
}

void container_each(const char *dir, void (*fn)(void *, const char *dir, const char *id), void *ctx)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	if (!d)
		return;
	while ((e = readdir(d)))
		if (is_id(e->d_name))
			fn(ctx, dir, e->d_name);
	closedir(d);
}

pid_t container_pid_file(const char *path)
{
	char buf[32];
	size_t len;

	if (proc_file(path, buf, sizeof(buf), &len))
		return 0;
	return (pid_t)strtol(buf, NULL, 10);
}
