/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Cgroups as people name them, and what their processes are called, from fixtures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <cmocka.h>
#include <sys/stat.h>

#include "fixture.h"
#include "resolve/cgroup_names.h"
#include "resolve/cgroup_place.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define APP1 "c177777777777777777777777777777777777777777777777777777777777777"

static int find(const char *fixture, const char *text, struct cgroup_place *p)
{
	char root[PATH_MAX], proc[PATH_MAX];

	FIXTURE(root, fixture);
	assert_true(snprintf(proc, sizeof(proc), "%s/proc", root) < PATH_MAX);
	return cgroup_place_find(proc, root, text, p);
}

static void by_path(void **state)
{
	static const char *const same[] = {"/docker/" ID, "docker/" ID, "docker/" ID "/",
					   "//docker/" ID};
	struct cgroup_place p;
	struct stat st;

	(void)state;
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		assert_int_equal(find("cgroup-v1", same[i], &p), 0);
		assert_string_equal(p.path, "/docker/" ID);
		assert_non_null(strstr(p.dir, "/sys/fs/cgroup/memory/docker/" ID));
		/* Of the memory controller, by the kernel's number of its hierarchy. */
		assert_int_equal(p.hierarchy, 4);
		assert_int_equal(stat(p.dir, &st), 0);
		assert_int_equal(p.id, st.st_ino);
	}
}

static void of_other_hierarchies(void **state)
{
	struct cgroup_place p;

	(void)state;
	assert_int_equal(find("cgroup-v1", "/only-v2", &p), 0);
	assert_int_equal(p.hierarchy, 0);
	assert_int_equal(find("cgroup-v1", "/only-cpu", &p), 0);
	assert_int_equal(p.hierarchy, 5);
	/* The root is in all of them: that of the memory controller is meant. */
	assert_int_equal(find("cgroup-v1", "/", &p), 0);
	assert_int_equal(p.hierarchy, 4);
	assert_string_equal(p.path, "/");
}

static void by_folder(void **state)
{
	char root[PATH_MAX], dir[PATH_MAX + 64];
	struct cgroup_place p;

	(void)state;
	FIXTURE(root, "cgroup-v1");
	snprintf(dir, sizeof(dir), "%s/sys/fs/cgroup/unified/only-v2", root);
	assert_int_equal(find("cgroup-v1", dir, &p), 0);
	assert_int_equal(p.hierarchy, 0);
	assert_string_equal(p.path, "/only-v2");
	assert_string_equal(p.dir, dir);
	snprintf(dir, sizeof(dir), "%s/sys/fs/cgroup/unified/none", root);
	assert_int_equal(find("cgroup-v1", dir, &p), -ENOENT);
}

static void on_v2(void **state)
{
	struct cgroup_place p;

	(void)state;
	assert_int_equal(find("cgroup-v2", "system.slice/job:1.service", &p), 0);
	assert_int_equal(p.hierarchy, 0);
	assert_string_equal(p.path, "/system.slice/job:1.service");
}

static void none(void **state)
{
	static const char *const wrong[] = {"", "..", "/docker/../..", "docker/.."};
	struct cgroup_place p;

	(void)state;
	assert_int_equal(find("cgroup-v1", "/gone", &p), -ENOENT);
	/* A file of a cgroup is none. */
	assert_int_equal(find("cgroup-v1", "/docker/cgroup.procs", &p), -ENOENT);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(find("cgroup-v1", wrong[i], &p), -EINVAL);
	assert_int_equal(find("cgroup-v1", "/docker/..x", &p), -ENOENT);
}

static int expect(const char *fixture, const char *text, struct cgroup_place *p)
{
	char root[PATH_MAX], proc[PATH_MAX];

	FIXTURE(root, fixture);
	assert_true(snprintf(proc, sizeof(proc), "%s/proc", root) < PATH_MAX);
	return cgroup_place_expect(proc, root, text, p);
}

static void yet_to_come(void **state)
{
	char root[PATH_MAX], dir[PATH_MAX + 64];
	struct cgroup_place p;

	(void)state;
	assert_int_equal(expect("cgroup-v1", "jobs/nightly", &p), 0);
	assert_string_equal(p.path, "/jobs/nightly");
	assert_int_equal(p.hierarchy, 4);
	FIXTURE(root, "cgroup-v1");
	snprintf(dir, sizeof(dir), "%s/sys/fs/cgroup/cpu/jobs/", root);
	assert_int_equal(expect("cgroup-v1", dir, &p), 0);
	assert_string_equal(p.path, "/jobs");
	assert_int_equal(p.hierarchy, 5);
	assert_int_equal(expect("cgroup-v2", "/jobs", &p), 0);
	assert_int_equal(p.hierarchy, 0);
	assert_int_equal(expect("cgroup-v2", "../jobs", &p), -EINVAL);
}

static void folders_of_containers(void **state)
{
	char folder[CGROUP_FOLDER_MAX], path[PATH_MAX];
	struct cgroup_container c;
	unsigned int n;

	(void)state;
	/* Whatever is said to be a container's folder is understood as one. */
	for (n = 0; cgroup_container_folder(ID, n, folder); n++) {
		snprintf(path, sizeof(path), "/docker/%s", folder);
		assert_true(cgroup_container(path, &c));
		assert_string_equal(c.id, ID);
	}
	assert_int_equal(n, 9);
}

struct seen {
	pid_t pid[8];
	int n, stop_at;
};

static int see(void *ctx, pid_t pid)
{
	struct seen *s = ctx;

	assert_true(s->n < 8);
	s->pid[s->n++] = pid;
	return s->n == s->stop_at;
}

static void processes(void **state)
{
	struct seen s = {.n = 0};
	struct cgroup_place p;

	(void)state;
	assert_int_equal(find("cgroup-v1", "/docker", &p), 0);
	/* Those of the cgroups below too; 0 is one of a pid namespace that is not to be seen. */
	assert_int_equal(cgroup_each_process("/proc", p.dir, see, &s), 0);
	assert_int_equal(s.n, 3);
	assert_int_equal(s.pid[0] + s.pid[1] + s.pid[2], 10 + 11 + 12);
	s = (struct seen){.stop_at = 2};
	assert_int_equal(cgroup_each_process("/proc", p.dir, see, &s), 1);
	assert_int_equal(s.n, 2);
	assert_int_equal(cgroup_each_process("/proc", "/no/such/cgroup", see, &s), -ENOENT);
}

static void names(void **state)
{
	struct cgroup_named named;
	struct cgroup_names *n;
	char root[PATH_MAX];

	(void)state;
	FIXTURE(root, "containers");
	n = cgroup_names_new(root);
	assert_non_null(n);
	assert_int_equal(cgroup_names_get(n, 71, 4004, &named), 1);
	assert_string_equal(named.path,
			    "/kubepods.slice/kubepods-pod0f1e.slice/crio-" APP1 ".scope");
	assert_non_null(named.in);
	assert_string_equal(named.in->name, "app");
	/* Told once. */
	assert_int_equal(cgroup_names_get(n, 71, 4004, &named), 0);
	/* Of one that has ended nothing is known, until another asks. */
	assert_int_equal(cgroup_names_get(n, 72, 4999, &named), 0);
	assert_int_equal(cgroup_names_get(n, 72, 4008, &named), 1);
	assert_string_equal(named.path, "/user.slice/user-1000.slice");
	assert_null(named.in);
	assert_int_equal(cgroup_names_get(n, 0, 4005, &named), 0);
	cgroup_names_free(&n);
	assert_null(n);
}

/* A process that has moved since: what it is in now is not what is asked for. */
static void moved(void **state)
{
	struct cgroup_named named;
	struct cgroup_names *n;
	struct cgroup_place p;
	char root[PATH_MAX];

	(void)state;
	FIXTURE(root, "cgroup-v1");
	assert_int_equal(find("cgroup-v1", "/docker/" ID, &p), 0);
	n = cgroup_names_new(root);
	assert_int_equal(cgroup_names_get(n, UINT64_MAX, 10, &named), 0);
	assert_int_equal(cgroup_names_get(n, p.id, 10, &named), 1);
	assert_string_equal(named.path, "/docker/" ID);
	cgroup_names_free(&n);
}

/* Without a controller of its own it is counted in the one above: that has the number. */
static void counted_above(void **state)
{
	struct cgroup_named named;
	struct cgroup_names *n;
	struct cgroup_place p;
	char root[PATH_MAX];

	(void)state;
	FIXTURE(root, "cgroup-v1");
	assert_int_equal(find("cgroup-v1", "/docker", &p), 0);
	n = cgroup_names_new(root);
	assert_int_equal(cgroup_names_get(n, p.id, 10, &named), 1);
	assert_string_equal(named.path, "/docker");
	assert_null(named.in);
	cgroup_names_free(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(by_path),	     cmocka_unit_test(of_other_hierarchies),
	    cmocka_unit_test(by_folder),     cmocka_unit_test(on_v2),
	    cmocka_unit_test(yet_to_come),   cmocka_unit_test(folders_of_containers),
	    cmocka_unit_test(none),	     cmocka_unit_test(processes),
	    cmocka_unit_test(names),	     cmocka_unit_test(moved),
	    cmocka_unit_test(counted_above),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
