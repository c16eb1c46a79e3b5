/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "resolve/container.h"

char *container_title(const struct container *c, char *out, size_t cap)
{
	if (!c->name)
		snprintf(out, cap, "%.*s", CONTAINER_SHORT_ID, c->id);
	else if (c->pod && c->ns)
		snprintf(out, cap, "%s/%s/%s", c->ns, c->pod, c->name);
	else if (c->pod)
		snprintf(out, cap, "%s/%s", c->pod, c->name);
	else
		snprintf(out, cap, "%s", c->name);
	return out;
}

/* *text begins with part and a slash: both are gone from it. */
static bool skip_part(const char **text, const char *part)
{
	size_t n = part ? strlen(part) : 0;

	if (!n || strncmp(*text, part, n) != 0 || (*text)[n] != '/')
		return false;
	*text += n + 1;
	return true;
}

static bool has_name(const struct container *c, const char *text)
{
	if (!c->name)
		return false;
	if (!strcmp(text, c->name))
		return true;
	if (!c->pod)
		return false;
	skip_part(&text, c->ns);
	return skip_part(&text, c->pod) && !strcmp(text, c->name);
}

/* How well: 1 by name, 2 by id, 3 by the pod, 4 by the beginning of the id; 0: not at all. */
static int match(const struct container *c, const char *text)
{
	if (has_name(c, text))
		return 1;
	if (!strcmp(text, c->id))
		return 2;
	if (c->pod) {
		const char *pod = text;

		skip_part(&pod, c->ns);
		if (!strcmp(pod, c->pod))
			return 3;
	}
	return *text && !strncmp(text, c->id, strlen(text)) ? 4 : 0;
}

size_t containers_find(const struct containers *c, const char *text, const struct container **found,
		       size_t cap)
{
	const struct container *runs = NULL;
	size_t n = 0, running = 0;
	int best = 0;

	/* As Docker itself keeps it. */
	if (*text == '/')
		text++;
	for (size_t i = 0; i < c->n; i++) {
		int how = match(&c->v[i], text);

		if (how && (!best || how < best))
			best = how;
	}
	for (size_t i = 0; best && i < c->n; i++) {
		if (match(&c->v[i], text) != best)
			continue;
		if (n++ < cap)
			found[n - 1] = &c->v[i];
		if (container_running(&c->v[i])) {
			running++;
			runs = &c->v[i];
		}
	}
	if (n > 1 && running == 1 && cap) {
		found[0] = runs;
		return 1;
	}
	return n;
}

struct container *containers_by_id(const struct containers *c, const char *id)
{
	for (size_t i = 0; i < c->n; i++)
		if (!strcmp(c->v[i].id, id))
			return &c->v[i];
	return NULL;
}

struct container *containers_of_path(const struct containers *c, const char *path,
				     struct cgroup_container *in)
{
	struct cgroup_container next;
	struct container *found;
	size_t end = strlen(path);

	*in = (struct cgroup_container){.id = ""};
	while (cgroup_container_next(path, &end, &next)) {
		found = containers_by_id(c, next.id);
		if (found || !next.guessed || !in->id[0])
			*in = next;
		if (found || !next.guessed)
			return found;
	}
	return NULL;
}
