/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Containers from a fixture that holds the state of four engines, and /proc of what runs in them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture.h"
#include "resolve/container.h"

#define WEB "3f2a111111111111111111111111111111111111111111111111111111111111"
#define OTHER "aa44444444444444444444444444444444444444444444444444444444444444"
#define BATCH "b055555555555555555555555555555555555555555555555555555555555555"
#define APP1 "c177777777777777777777777777777777777777777777777777777777777777"
#define BELOW "4e06666666666666666666666666666666666666666666666666666666666666"
#define TASK "5d18888888888888888888888888888888888888888888888888888888888888"
#define LONE "6c20000000000000000000000000000000000000000000000000000000000000"
#define CACHE "7b35555555555555555555555555555555555555555555555555555555555555"
#define SIDE "e099999999999999999999999999999999999999999999999999999999999999"

static int read_all(void **state)
{
	static struct containers list;
	char root[PATH_MAX];

	FIXTURE(root, "containers");
	*state = &list;
	return containers_read(root, &list);
}

static int free_all(void **state)
{
	containers_free(*state);
	return 0;
}

/* The one container that text means; fails if there is none, or more than one. */
static const struct container *one(void **state, const char *text)
{
	const struct container *c[4];

	assert_int_equal(containers_find(*state, text, c, 4), 1);
	return c[0];
}

static size_t matches(void **state, const char *text)
{
	return containers_find(*state, text, NULL, 0);
}

static void docker(void **state)
{
	const struct container *c = one(state, "web-1");

	assert_string_equal(c->runtime, "docker");
	assert_string_equal(c->id, WEB);
	assert_int_equal(c->pid, 4001);
	/* An init system inside has made a cgroup below: the container's own is what counts. */
	assert_string_equal(c->cgroup, "/docker/" WEB);
	/* One of them in a cgroup that only looks as if it were a container's. */
	assert_int_equal(c->procs, 3);
	assert_null(c->pod);
	assert_ptr_equal(one(state, "/web-1"), c);
	assert_ptr_equal(one(state, WEB), c);
	assert_ptr_equal(one(state, "3f2a"), c);
}

static void stopped(void **state)
{
	const struct container *c = one(state, "db-1");

	assert_false(container_running(c));
	assert_null(c->cgroup);
	/* The engine's file says that it runs; that engine is dead, and so is the process. */
	c = one(state, "stale");
	assert_false(container_running(c));
	assert_int_equal(c->pid, 0);
}

static void elsewhere(void **state)
{
	/* The data root stands in the command line of a dockerd that runs. */
	const struct container *c = one(state, "other");

	assert_string_equal(c->id, OTHER);
	assert_int_equal(c->pid, 4002);
	assert_string_equal(c->cgroup, "/system.slice/docker-" OTHER ".scope");
}

static void without_a_cgroup(void **state)
{
	const struct container *c = one(state, "rootless");

	assert_true(container_running(c));
	assert_int_equal(c->pid, 4008);
	assert_null(c->cgroup);
}

static void podman(void **state)
{
	const struct container *c = one(state, "batch");

	assert_string_equal(c->runtime, "podman");
	assert_int_equal(c->pid, 4003);
	assert_string_equal(c->cgroup, "/machine.slice/libpod-" BATCH ".scope");
	/* Its monitor is beside it, not in it. */
	assert_int_equal(c->procs, 1);
	assert_ptr_equal(one(state, "b0"), c);
}

static void kubernetes_names(void **state)
{
	const struct container *c = one(state, "default/web-7f9c/app");
	char title[64];

	assert_string_equal(c->runtime, "cri-o");
	assert_string_equal(c->id, APP1);
	assert_string_equal(c->name, "app");
	assert_string_equal(c->pod, "web-7f9c");
	assert_string_equal(c->ns, "default");
	assert_int_equal(c->pid, 4004);
	assert_ptr_equal(one(state, "web-7f9c/app"), c);
	assert_ptr_equal(one(state, "web-7f9c"), c);
	assert_ptr_equal(one(state, "default/web-7f9c"), c);
	assert_string_equal(container_title(c, title, sizeof(title)), "default/web-7f9c/app");
	assert_string_equal(container_title(c, title, 8), "default");
	/* Two pods have an "app" that runs, and the first attempt of one of them is kept. */
	assert_int_equal(matches(state, "app"), 3);
	assert_int_equal(matches(state, "kube-system/web-7f9c/app"), 0);
}

static void containerd(void **state)
{
	const struct container *c = one(state, "side-0/app");

	assert_string_equal(c->runtime, "containerd");
	assert_string_equal(c->id, SIDE);
	assert_string_equal(c->ns, "jobs");
	assert_int_equal(c->pid, 4005);
}

static void without_a_name(void **state)
{
	const struct container *c = one(state, "f0b");
	char title[64];

	assert_null(c->name);
	assert_string_equal(c->runtime, "kubernetes");
	/* Two processes; 1 within is its first. */
	assert_int_equal(c->procs, 2);
	assert_int_equal(c->pid, 4009);
	assert_string_equal(container_title(c, title, sizeof(title)), "f0bbbbbbbbbb");
}

/* --cgroup-parent, and engines that put containers below a folder of any name. */
static void below_any_folder(void **state)
{
	const struct container *c = one(state, "below");

	assert_string_equal(c->runtime, "docker");
	assert_string_equal(c->id, BELOW);
	assert_int_equal(c->pid, 4020);
	assert_string_equal(c->cgroup, "/jobs/nightly/" BELOW);
	/* Another cgroup of that name is not the one that the engine's process is in. */
	assert_int_equal(c->procs, 1);
	c = one(state, "task");
	assert_string_equal(c->runtime, "containerd");
	assert_int_equal(c->pid, 4021);
	assert_string_equal(c->cgroup, "/default/" TASK);
}

/* An id that no engine knows: by pids of its own, or not at all. */
static void of_no_engine(void **state)
{
	const struct container *c = one(state, "6c2");

	assert_string_equal(c->runtime, "container");
	assert_null(c->name);
	assert_int_equal(c->pid, 4022);
	assert_string_equal(c->cgroup, "/sandboxes/" LONE);
	assert_int_equal(c->procs, 2);
	assert_null(containers_by_id(*state, CACHE));
}

static void of_a_path(void **state)
{
	static const struct {
		const char *path, *id, *like;
		bool guessed;
	} row[] = {
	    {"/jobs/nightly/" BELOW "/init.scope", BELOW, BELOW, true},
	    {"/docker/" WEB, WEB, WEB, false},
	    /* What is in one that is known, in an unknown one, and the other way round. */
	    {"/docker/" WEB "/cache/" CACHE, WEB, WEB, false},
	    {"/docker/" WEB "/jobs/" BELOW, BELOW, BELOW, true},
	    {"/jobs/" BELOW "/docker/" CACHE, NULL, CACHE, false},
	    {"/jobs/" BELOW "/x/" CACHE, BELOW, BELOW, true},
	    {"/x/" CACHE, NULL, CACHE, true},
	    {"/x", NULL, "", false},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct cgroup_container in;
		const struct container *c = containers_of_path(*state, row[i].path, &in);

		assert_int_equal(c != NULL, row[i].id != NULL);
		if (c)
			assert_string_equal(c->id, row[i].id);
		assert_string_equal(in.id, row[i].like);
		assert_int_equal(in.guessed, row[i].guessed);
	}
}

static void names_that_are_none(void **state)
{
	const struct containers *list = *state;

	/* web-1 and db-1 begin like this; only one of them runs. */
	assert_string_equal(one(state, "3f2")->id, WEB);
	assert_int_equal(matches(state, ""), 0);
	assert_int_equal(matches(state, "/"), 0);
	assert_int_equal(matches(state, "web"), 0);
	assert_int_equal(matches(state, WEB "0"), 0);
	assert_int_equal(matches(state, "not an id"), 0);
	assert_null(containers_by_id(list, "3f2a"));
	/* Sandboxes of pods, broken files and folders that are no containers are not among them. */
	assert_int_equal(list->n, 13);
	for (size_t i = 0; i < list->n; i++)
		assert_false(list->v[i].sandbox);
}

static void nowhere(void **state)
{
	struct containers list;
	char root[PATH_MAX];

	(void)state;
	FIXTURE(root, "no-such-place");
	assert_int_equal(containers_read(root, &list), 0);
	assert_int_equal(list.n, 0);
	containers_free(&list);
}

static void this_machine(void **state)
{
	struct containers list;

	(void)state;
	/* Whatever there is, and whoever asks. */
	assert_int_equal(containers_read("", &list), 0);
	for (size_t i = 0; i < list.n; i++)
		assert_true(list.v[i].runtime && list.v[i].id[0]);
	containers_free(&list);
	assert_null(list.v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(docker),		cmocka_unit_test(stopped),
	    cmocka_unit_test(elsewhere),	cmocka_unit_test(without_a_cgroup),
	    cmocka_unit_test(podman),		cmocka_unit_test(kubernetes_names),
	    cmocka_unit_test(containerd),	cmocka_unit_test(without_a_name),
	    cmocka_unit_test(below_any_folder), cmocka_unit_test(of_no_engine),
	    cmocka_unit_test(of_a_path),	cmocka_unit_test(names_that_are_none),
	    cmocka_unit_test(nowhere),		cmocka_unit_test(this_machine),
	};

	return cmocka_run_group_tests(tests, read_all, free_all);
}
