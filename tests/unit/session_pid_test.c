/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which pid namespace the tracer is in, told by a /proc made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <errno.h>
#include <cmocka.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "source/session_pid.h"

struct tree {
	char dir[64];
};

static int set_up(void **state)
{
	struct tree *t = calloc(1, sizeof(*t));
	char path[PATH_MAX];

	assert_non_null(t);
	snprintf(t->dir, sizeof(t->dir), "/tmp/peakphase-proc-XXXXXX");
	assert_non_null(mkdtemp(t->dir));
	snprintf(path, sizeof(path), "%s/self", t->dir);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/self/ns", t->dir);
	assert_int_equal(mkdir(path, 0700), 0);
	*state = t;
	return 0;
}

static int tear_down(void **state)
{
	static const char *const names[] = {"/self/status", "/self/ns/pid", "/self/ns", "/self",
					    ""};
	struct tree *t = *state;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%s%s", t->dir, names[i]);
		if (unlink(path))
			rmdir(path);
	}
	free(t);
	return 0;
}

static void write_status(const struct tree *t, const char *nspid)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/self/status", t->dir);
	f = fopen(path, "we");
	assert_non_null(f);
	fprintf(
	    f,
	    "Name:\tpeakphase\nState:\tR (running)\nTgid:\t40\nPid:\t40\nPPid:\t1\nTracerPid:\t0\nUid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\n%sCapEff:\t000001ffffffffff\n",
	    nspid);
	fclose(f);
}

static void link_ns(const struct tree *t, const char *to)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/self/ns/pid", t->dir);
	assert_int_equal(symlink(to, path), 0);
}

static void first_namespace(void **state)
{
	bool nested = true;

	write_status(*state, "NSpid:\t40\n");
	link_ns(*state, "pid:[4026531836]");
	assert_int_equal(session_pid_nested(((struct tree *)*state)->dir, &nested), 0);
	assert_false(nested);
}

static void its_own_namespace(void **state)
{
	bool nested = false;

	write_status(*state, "NSpid:\t40\n");
	link_ns(*state, "pid:[4026532201]");
	assert_int_equal(session_pid_nested(((struct tree *)*state)->dir, &nested), 0);
	assert_true(nested);
}

static void kernel_without_namespaces(void **state)
{
	bool nested = true;

	write_status(*state, "");
	assert_int_equal(session_pid_nested(((struct tree *)*state)->dir, &nested), 0);
	assert_false(nested);
}

static void proc_of_an_outer_namespace(void **state)
{
	bool nested;

	write_status(*state, "NSpid:\t40\t3\n");
	link_ns(*state, "pid:[4026532201]");
	assert_int_equal(session_pid_nested(((struct tree *)*state)->dir, &nested), -ENOTSUP);
}

/* /proc of a namespace in which we are not: "self" leads nowhere. */
static void proc_of_a_foreign_namespace(void **state)
{
	bool nested;

	assert_int_equal(session_pid_nested(((struct tree *)*state)->dir, &nested), -ENOTSUP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(first_namespace, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(its_own_namespace, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(kernel_without_namespaces, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(proc_of_an_outer_namespace, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(proc_of_a_foreign_namespace, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
