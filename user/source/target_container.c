/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "source/target_container.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/say.h"
#include "lib/text.h"
#include "resolve/container.h"

#define CANDIDATES_MAX 12

struct text {
	char s[1024];
	size_t len;
};

static void add(struct text *t, const char *before, const char *s)
{
	char shown[160];
	int n;

	text_escape(shown, sizeof(shown), s, strlen(s));
	n = snprintf(t->s + t->len, sizeof(t->s) - t->len, "%s%s", before, shown);
	if (n > 0 && t->len + (size_t)n < sizeof(t->s))
		t->len += (size_t)n;
}

/* "docker web-1 (3f2a0b1c9d8e), podman batch (…, stopped)" */
static void add_candidate(struct text *t, const struct container *c)
{
	char title[128], id[CONTAINER_SHORT_ID + 1];

	snprintf(id, sizeof(id), "%.*s", CONTAINER_SHORT_ID, c->id);
	add(t, t->len ? ", " : "", c->runtime);
	add(t, " ", container_title(c, title, sizeof(title)));
	if (c->name)
		add(t, " (", id);
	if (!container_running(c))
		add(t, c->name ? ", " : " (", "stopped");
	if (c->name || !container_running(c))
		add(t, "", ")");
}

static void say_ambiguous(const char *shown, const struct container *const *found, size_t n)
{
	struct text t = {.len = 0};

	for (size_t i = 0; i < n && i < CANDIDATES_MAX; i++)
		add_candidate(&t, found[i]);
	say_error("%s may be any of %zu containers: %s%s", shown, n, t.s,
		  n > CANDIDATES_MAX ? ", …" : "");
	say_remedy(
	    "give more of the name (of Kubernetes: NAMESPACE/POD/NAME) or of the id; `peakphase attach --list` shows all");
}

static void say_unknown(const char *shown, const struct containers *all)
{
	struct text t = {.len = 0};
	size_t n = 0;

	say_error("there is no container %s", shown);
	for (size_t i = 0; i < all->n; i++)
		if (container_running(&all->v[i]) && n++ < CANDIDATES_MAX)
			add_candidate(&t, &all->v[i]);
	if (n)
		say_remedy("running: %s%s", t.s, n > CANDIDATES_MAX ? ", …" : "");
	else
		say_remedy(
		    "no container runs here that Docker, Podman, CRI-O or containerd know of");
}

static int place(struct target *t, const struct container *c)
{
	char title[100];
	int err;

	snprintf(t->name, sizeof(t->name), "%s %s", c->runtime,
		 container_title(c, title, sizeof(title)));
	t->found = true;
	t->pid = c->pid;
	if (!c->cgroup) {
		say_info("this container has no cgroup of its own (its engine runs without the "
			 "rights): tracing its first process and what that starts");
		return 0;
	}
	err = cgroup_place_find("/proc", "", c->cgroup, &t->place);
	if (err) {
		say_error("the container's cgroup %s cannot be seen from here: %s", c->cgroup,
			  strerror(-err));
		say_remedy("run peakphase on the host, or with the host's cgroups "
			   "(docker run --cgroupns=host -v /sys/fs/cgroup:/sys/fs/cgroup:ro)");
		return err;
	}
	t->whole = true;
	return 0;
}

static int choose(struct target *t, bool wait, const struct containers *all)
{
	const struct container *found[CANDIDATES_MAX];
	size_t n = containers_find(all, t->text, found, CANDIDATES_MAX);
	char shown[256];

	text_escape(shown, sizeof(shown), t->text, strlen(t->text));
	if (!n && wait)
		return 0;
	if (!n) {
		say_unknown(shown, all);
		return -ENOENT;
	}
	if (n > 1) {
		say_ambiguous(shown, found, n);
		return -EINVAL;
	}
	snprintf(t->id, sizeof(t->id), "%s", found[0]->id);
	if (container_running(found[0]))
		return place(t, found[0]);
	if (wait)
		return 0;
	say_error("the container %s is not running", shown);
	say_remedy("start it, or wait for it: --wait");
	return -ESRCH;
}

int target_find_container(struct target *t, bool wait)
{
	struct containers all;
	int err = containers_read("", &all);

	snprintf(t->name, sizeof(t->name), "%s", t->text);
	if (err)
		say_error("cannot list the containers: %s", strerror(-err));
	else
		err = choose(t, wait, &all);
	containers_free(&all);
	return err;
}
