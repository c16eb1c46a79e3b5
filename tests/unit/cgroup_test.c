/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Memory cgroups from fixtures of both versions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <cmocka.h>
#include <unistd.h>

#include "fixture.h"
#include "resolve/cgroup.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"

static void mount_of(struct cgroup_mount *m, const char *name, char proc[static PATH_MAX])
{
	char root[PATH_MAX];

	FIXTURE(root, name);
	assert_true(snprintf(proc, PATH_MAX, "%s/proc", root) < PATH_MAX);
	assert_int_equal(cgroup_mount_find(proc, root, m), 0);
}

static void v1_hybrid(void **state)
{
	char proc[PATH_MAX], path[PATH_MAX];
	struct cgroup_mount m;
	struct cgroup_numbers n;
	struct cgroup_limit l;

	(void)state;
	mount_of(&m, "cgroup-v1", proc);
	assert_int_equal(m.version, CGROUP_V1);
	assert_true(m.hybrid);
	assert_int_equal(cgroup_of(proc, 10, &m, path), 0);
	assert_string_equal(path, "/docker/" ID);
	assert_int_equal(cgroup_numbers(&m, path, &n), 0);
	assert_int_equal(n.usage, 300000000);
	assert_true(n.limit == CGROUP_NO_LIMIT); /* v1's sentinel is a huge number */
	/* C12: a limit only on an ancestor counts. */
	assert_int_equal(cgroup_limit(&m, path, &l), 0);
	assert_int_equal(l.limit, 536870912);
	assert_int_equal(l.usage, 500000000);
	assert_int_equal(l.level, 1);
	assert_string_equal(l.owner, "/docker");
	assert_int_equal(cgroup_limit(&m, "/", &l), 0);
	assert_true(l.limit == CGROUP_NO_LIMIT);
	assert_string_equal(l.owner, "");
	assert_int_equal(cgroup_limit(&m, "/gone", &l), -ENOENT);
	assert_int_equal(cgroup_of(proc, 99, &m, path), -ESRCH);
}

static void v2(void **state)
{
	char proc[PATH_MAX];
	struct cgroup_mount m;

	(void)state;
	mount_of(&m, "cgroup-v2", proc);
	assert_int_equal(m.version, CGROUP_V2);
	assert_false(m.hybrid);
	/* A space in a mount point comes as \\040. */
	assert_non_null(strstr(m.dir, "/cgroup-v2/sys/fs/cgr oup"));
	assert_string_equal(m.top, "/");
}

static void v2_limits(void **state)
{
	char proc[PATH_MAX], path[PATH_MAX], dir[PATH_MAX];
	struct cgroup_mount m;
	struct cgroup_numbers n;
	struct cgroup_limit l;

	(void)state;
	mount_of(&m, "cgroup-v2", proc);
	assert_int_equal(cgroup_of(proc, 10, &m, path), 0);
	assert_string_equal(path, "/system.slice/job:1.service/inner");
	/* Equal limits: the nearest owns it, it is hit first by no less than its own charge. */
	assert_int_equal(cgroup_limit(&m, path, &l), 0);
	assert_int_equal(l.limit, 268435456);
	assert_int_equal(l.level, 0);
	assert_int_equal(l.usage, 600);
	assert_int_equal(cgroup_numbers(&m, "/system.slice", &n), 0);
	assert_int_equal(n.usage, 800);
	assert_true(n.limit == CGROUP_NO_LIMIT);
	assert_int_equal(cgroup_numbers(&m, "/", &n), 0);
	assert_true(n.limit == CGROUP_NO_LIMIT);
	/* Outside of our cgroup namespace: no directory of ours shows it. */
	assert_int_equal(cgroup_of(proc, 11, &m, path), 0);
	assert_int_equal(cgroup_dir(&m, path, dir), -ENOENT);
}

static void lines(void **state)
{
	char path[PATH_MAX];

	(void)state;
	assert_int_equal(cgroup_parse("3:cpu,memory,pids:/a:b\n0::/z\n", CGROUP_V1, path), 0);
	assert_string_equal(path, "/a:b");
	assert_int_equal(cgroup_parse("3:cpu,memory:/a\n0::/z\n", CGROUP_V2, path), 0);
	assert_string_equal(path, "/z");
	assert_int_equal(cgroup_parse("3:memory2,xmemory:/a\n", CGROUP_V1, path), -ENOENT);
	assert_int_equal(cgroup_parse("1:name=memory:/a", CGROUP_V1, path), -ENOENT);
	assert_int_equal(cgroup_parse("", CGROUP_V2, path), -ENOENT);
	assert_int_equal(cgroup_parse("0::", CGROUP_V2, path), -EBADMSG);
	assert_int_equal(cgroup_parse("garbage\n::\n0:", CGROUP_V2, path), -ENOENT);
}

static void mounted_below_the_root(void **state)
{
	struct cgroup_mount m = {.version = CGROUP_V2, .dir = "/cg", .top = "/docker/x"};
	char dir[PATH_MAX];

	(void)state;
	assert_int_equal(cgroup_dir(&m, "/docker/x/y", dir), 0);
	assert_string_equal(dir, "/cg/y");
	assert_int_equal(cgroup_dir(&m, "/docker/x", dir), 0);
	assert_string_equal(dir, "/cg");
	assert_int_equal(cgroup_dir(&m, "/docker/xy", dir), -ENOENT);
	assert_int_equal(cgroup_dir(&m, "/", dir), -ENOENT);
}

static void ancestors(void **state)
{
	char out[PATH_MAX];

	(void)state;
	assert_int_equal(cgroup_ancestor("/a/b/c", 0, out), 0);
	assert_string_equal(out, "/a/b/c");
	assert_int_equal(cgroup_ancestor("/a/b/c", 2, out), 0);
	assert_string_equal(out, "/a");
	assert_int_equal(cgroup_ancestor("/a/b/c", 3, out), 0);
	assert_string_equal(out, "/");
	assert_int_equal(cgroup_ancestor("/a/b/c", 4, out), -ENOENT);
	assert_int_equal(cgroup_ancestor("", 0, out), -EINVAL);
}

static void containers(void **state)
{
	static const struct {
		const char *path, *engine, *id;
	} row[] = {
	    {"/docker/" ID, "docker", ID},
	    {"/system.slice/docker-" ID ".scope", "docker", ID},
	    {"/docker/" ID "/init.scope", "docker", ID},
	    {"/machine.slice/libpod-" ID ".scope/container", "podman", ID},
	    {"/kubepods.slice/kubepods-pod1.slice/cri-containerd-" ID ".scope", "containerd", ID},
	    {"/kubepods.slice/kubepods-pod1.slice/crio-" ID ".scope", "cri-o", ID},
	    {"/system.slice/containerd.service/kubepods-pod1.slice:cri-containerd:" ID,
	     "containerd", ID},
	    {"/kubepods/burstable/pod12ab/" ID, "kubernetes", ID},
	    {"/lxc.payload.web-1/system.slice", "lxc", "web-1"},
	    /* The engine's own helpers, and what only looks alike, are none. */
	    {"/machine.slice/libpod-conmon-" ID ".scope", NULL, NULL},
	    {"/crio-conmon-" ID ".scope", NULL, NULL},
	    {"/user.slice/" ID, NULL, NULL},
	    {"/docker/" ID "0", NULL, NULL},
	    {"/docker/short", NULL, NULL},
	    {"/", NULL, NULL},
	    {"", NULL, NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct cgroup_container c;

		assert_int_equal(cgroup_container(row[i].path, &c), row[i].engine != NULL);
		if (!row[i].engine)
			continue;
		assert_string_equal(c.engine, row[i].engine);
		assert_string_equal(c.id, row[i].id);
	}
}

static void containers_in_containers(void **state)
{
	static const char path[] = "/docker/" ID "/jobs/" OTHER "/docker-" ID ".scope/init.scope";
	size_t end = sizeof(path) - 1;
	struct cgroup_container c;

	(void)state;
	assert_true(cgroup_container_next(path, &end, &c));
	assert_string_equal(c.id, ID);
	assert_false(c.guessed);
	/* By its id alone. */
	assert_true(cgroup_container_next(path, &end, &c));
	assert_string_equal(c.engine, "container");
	assert_string_equal(c.id, OTHER);
	assert_true(c.guessed);
	assert_true(cgroup_container_next(path, &end, &c));
	assert_string_equal(c.engine, "docker");
	assert_false(c.guessed);
	assert_int_equal(end, strlen("/docker"));
	assert_false(cgroup_container_next(path, &end, &c));
	assert_string_equal(c.id, "");
}

static void this_machine(void **state)
{
	struct cgroup_mount m;
	struct cgroup_limit l;
	char path[PATH_MAX], dir[PATH_MAX];

	(void)state;
	if (cgroup_mount_find("/proc", "", &m))
		skip(); /* no memory controller in this build root */
	assert_int_equal(cgroup_of("/proc", getpid(), &m, path), 0);
	assert_int_equal(path[0], '/');
	if (cgroup_dir(&m, path, dir))
		return;
	assert_int_equal(cgroup_limit(&m, path, &l), 0);
	assert_true(l.limit > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(v1_hybrid),
	    cmocka_unit_test(v2),
	    cmocka_unit_test(v2_limits),
	    cmocka_unit_test(lines),
	    cmocka_unit_test(mounted_below_the_root),
	    cmocka_unit_test(ancestors),
	    cmocka_unit_test(containers),
	    cmocka_unit_test(containers_in_containers),
	    cmocka_unit_test(this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
