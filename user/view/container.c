/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "view/container.h"

#include <stdio.h>
#include <string.h>

#include "lib/text.h"
#include "resolve/cgroup.h"

#define SHORT_ID 12 /* as engines show it */

static size_t put_name(char out[static VIEW_CONTAINER_MAX], const struct cgroup *c, bool whole,
		       unsigned flags)
{
	char plain[2 * CGROUP_NAME_ROOM + 320];
	size_t len;

	out[0] = '\0';
	if (!c->runtime[0])
		return 0;
	if (c->name[0])
		snprintf(plain, sizeof(plain), "%s%s%s%s%s%s%s", whole ? c->runtime : "",
			 whole ? " " : "", whole ? c->ns : "", whole && c->ns[0] ? "/" : "", c->pod,
			 c->pod[0] ? "/" : "", c->name);
	else
		snprintf(plain, sizeof(plain), "%s%s%.*s", whole ? c->runtime : "",
			 whole ? " " : "", SHORT_ID, c->container);
	len = text_escape_as(out, VIEW_CONTAINER_MAX, plain, strlen(plain), flags);
	return len < VIEW_CONTAINER_MAX ? len : strlen(out);
}

size_t view_container(char out[static VIEW_CONTAINER_MAX], const struct cgroup *c, unsigned flags)
{
	return put_name(out, c, true, flags);
}

size_t view_container_name(char out[static VIEW_CONTAINER_MAX], const struct cgroup *c,
			   unsigned flags)
{
	return put_name(out, c, false, flags);
}

bool view_container_owns(const struct cgroup *c, const char *path)
{
	struct cgroup_container in;
	size_t end = strlen(path);

	while (c->runtime[0] && cgroup_container_next(path, &end, &in)) {
		if (!strcmp(in.id, c->container))
			return true;
		if (!in.guessed)
			return false;
	}
	return false;
}

/* The cgroup `level` above c; is it, or what it lies in, c's own container? */
static bool owner_of(const struct cgroup *c, unsigned int level, char path[static PATH_MAX])
{
	path[0] = '\0';
	if (!c->path[0] || cgroup_ancestor(c->path, level, path))
		return false;
	return view_container_owns(c, path);
}

size_t view_limit_owner(char out[static VIEW_CONTAINER_MAX], const struct cgroup *c,
			unsigned int level, unsigned flags)
{
	char path[PATH_MAX], plain[PATH_MAX + 8];
	size_t len;

	if (owner_of(c, level, path))
		return view_container(out, c, flags);
	out[0] = '\0';
	if (!path[0])
		return 0;
	snprintf(plain, sizeof(plain), "cgroup %s", path);
	len = text_escape_as(out, VIEW_CONTAINER_MAX, plain, strlen(plain), flags);
	return len < VIEW_CONTAINER_MAX ? len : strlen(out);
}

static void put(struct jw *j, const char *key, const char *s)
{
	jw_key(j, key);
	jw_text(j, *s ? s : NULL);
}

void view_container_json(struct jw *j, const struct cgroup *c)
{
	if (!c || !c->runtime[0]) {
		jw_null(j);
		return;
	}
	jw_inline(j);
	jw_begin_object(j);
	put(j, "runtime", c->runtime);
	put(j, "name", c->name);
	put(j, "pod", c->pod);
	put(j, "namespace", c->ns);
	put(j, "id", c->container);
	jw_end_object(j);
}

void view_limit_owner_json(struct jw *j, const struct cgroup *c, unsigned int level)
{
	char path[PATH_MAX] = "";
	bool own = c && owner_of(c, level, path);

	jw_begin_object(j);
	jw_key(j, "level");
	jw_u64(j, level);
	put(j, "cgroup", path);
	jw_key(j, "container");
	view_container_json(j, own ? c : NULL);
	jw_end_object(j);
}
