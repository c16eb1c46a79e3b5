/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Capabilities of forked children: what a process has given up it cannot have back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <linux/capability.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "resolve/proc.h"
#include "source/privilege.h"

#define BIT(c) PRIVILEGE_BIT(PRIVILEGE_##c)

/* 0: all expectations of fn held in the child. */
static int in_child(int (*fn)(void))
{
	pid_t pid = fork();
	int status = -1;

	if (!pid)
		_exit(fn());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

static int set_caps(uint64_t set)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct d[2] = {
	    {.effective = (uint32_t)set, .permitted = (uint32_t)set},
	    {.effective = (uint32_t)(set >> 32), .permitted = (uint32_t)(set >> 32)}};

	return (int)syscall(SYS_capset, &head, d);
}

static void numbers_are_the_kernels(void **state)
{
	(void)state;
	assert_int_equal(PRIVILEGE_KILL, CAP_KILL);
	assert_int_equal(PRIVILEGE_SYS_PTRACE, CAP_SYS_PTRACE);
	assert_int_equal(PRIVILEGE_SYS_ADMIN, CAP_SYS_ADMIN);
	assert_int_equal(PRIVILEGE_DAC_OVERRIDE, CAP_DAC_OVERRIDE);
	assert_int_equal(PRIVILEGE_DAC_READ_SEARCH, CAP_DAC_READ_SEARCH);
	assert_int_equal(PRIVILEGE_PERFMON, CAP_PERFMON);
	assert_int_equal(PRIVILEGE_BPF, CAP_BPF);
	assert_int_equal(PRIVILEGE_CHECKPOINT_RESTORE, CAP_CHECKPOINT_RESTORE);
	assert_string_equal(privilege_name(39), "CAP_BPF");
	assert_null(privilege_name(0));
}

static void what_stands_in_for_what(void **state)
{
	(void)state;
	assert_true(privilege_has(BIT(SYS_ADMIN), PRIVILEGE_BPF));
	assert_true(privilege_has(BIT(SYS_ADMIN), PRIVILEGE_PERFMON));
	assert_false(privilege_has(BIT(SYS_ADMIN), PRIVILEGE_SYS_PTRACE));
	assert_false(privilege_has(BIT(BPF) | BIT(PERFMON), PRIVILEGE_SYS_ADMIN));
	assert_true(privilege_has(BIT(DAC_OVERRIDE), PRIVILEGE_DAC_READ_SEARCH));
	assert_false(privilege_has(0, PRIVILEGE_BPF));
}

static void agrees_with_proc(void **state)
{
	struct proc_status s;
	struct privilege p;

	(void)state;
	assert_int_equal(privilege_get(&p), 0);
	assert_int_equal(proc_status("/proc", getpid(), &s), 0);
	assert_true(p.effective == s.cap_effective);
}

static int nothing_left(void)
{
	struct privilege p;
	char buf[256];

	if (set_caps(0) || privilege_get(&p) || p.effective)
		return 1;
	if (privilege_missing(PRIVILEGE_TRACE | PRIVILEGE_UPROBE, buf, sizeof(buf)) != 3)
		return 2;
	if (strcmp(buf, "CAP_BPF, CAP_PERFMON, CAP_SYS_ADMIN") != 0)
		return 3;
	/* A buffer that is too small is cut, and the number stays. */
	if (privilege_missing(PRIVILEGE_TRACE, buf, 8) != 2 || strcmp(buf, "CAP_BPF") != 0)
		return 4;
	return privilege_missing(0, buf, sizeof(buf)) || *buf ? 5 : 0;
}

static void missing(void **state)
{
	(void)state;
	assert_int_equal(in_child(nothing_left), 0);
}

/* CAP_SYS_ADMIN is asked of those alone whose kernel asks for it. */
static void remedies(void **state)
{
	struct privilege p = {.initial_userns = true};

	(void)state;
	if (geteuid() == 0) {
		assert_non_null(strstr(privilege_remedy(&p, true), "--cap-add"));
	} else {
		assert_non_null(strstr(privilege_remedy(&p, true), "setcap cap_bpf,"));
		assert_null(strstr(privilege_remedy(&p, true), "cap_sys_admin"));
		assert_non_null(strstr(privilege_remedy(&p, false), ",cap_sys_admin+ep"));
	}
	p.initial_userns = false;
	assert_non_null(strstr(privilege_remedy(&p, true), "on the host"));
}

static int drop_any(void)
{
	const uint64_t keep = PRIVILEGE_TRACE | BIT(SYS_PTRACE);
	struct privilege before, after;

	if (privilege_get(&before) || privilege_drop(keep) || privilege_get(&after))
		return 1;
	if (after.effective != (before.permitted & keep) || after.permitted != after.effective)
		return 2;
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return 3;
	/* Not to be had back, and dropping twice is no error. */
	if (before.permitted & ~keep && !set_caps(before.permitted))
		return 4;
	if (privilege_drop(keep))
		return 5;
	if (before.permitted & PRIVILEGE_BIT(CAP_SETPCAP)) {
		if (prctl(PR_CAPBSET_READ, CAP_SYS_ADMIN, 0, 0, 0) != 0 ||
		    prctl(PR_CAPBSET_READ, CAP_BPF, 0, 0, 0) != 1)
			return 6;
	}
	return 0;
}

static void dropped_for_good(void **state)
{
	(void)state;
	assert_int_equal(in_child(drop_any), 0);
}

static int exec_after_drop(void)
{
	char script[] = "grep -q '^CapEff:.0*$' /proc/self/status";

	if (privilege_drop(0))
		return 1;
	/* As root, exec would bring everything back but for the bounding set. */
	execl("/bin/sh", "sh", "-c", script, NULL);
	return 2;
}

static void exec_brings_nothing_back(void **state)
{
	(void)state;
	if (prctl(PR_CAPBSET_READ, CAP_SETPCAP, 0, 0, 0) == 1 || geteuid() != 0)
		assert_int_equal(in_child(exec_after_drop), 0);
	else
		skip();
}

static void *waiter(void *arg)
{
	char c;

	return read(*(int *)arg, &c, 1) == 1 ? arg : NULL;
}

static int with_threads(void)
{
	struct privilege before, after;
	pthread_t t;
	int fds[2], err;

	if (pipe(fds) || pthread_create(&t, NULL, waiter, &fds[0]))
		return 1;
	privilege_get(&before);
	err = privilege_drop(0);
	privilege_get(&after);
	if (write(fds[1], "x", 1) != 1)
		return 2;
	pthread_join(t, NULL);
	if (err != -EBUSY || before.permitted != after.permitted)
		return 3;
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) ? 4 : 0;
}

static void refuses_with_threads(void **state)
{
	(void)state;
	assert_int_equal(in_child(with_threads), 0);
}

static void directories_of_others(void **state)
{
	char dir[] = "/tmp/peakphase-privilege-XXXXXX", file[64];

	(void)state;
	assert_int_equal(privilege_for_file("/tmp/x.peak"), 0); /* sticky, for everyone */
	assert_non_null(mkdtemp(dir));
	snprintf(file, sizeof(file), "%s/x.peak", dir);
	assert_int_equal(privilege_for_file(file), 0);
	if (geteuid() == 0) {
		assert_int_equal(chown(dir, 65534, 65534), 0);
		assert_int_equal(privilege_for_file(file), BIT(DAC_OVERRIDE));
		assert_int_equal(chmod(dir, 0777), 0);
		assert_int_equal(privilege_for_file(file), 0);
	}
	rmdir(dir);
	assert_int_equal(privilege_for_file("/no/such/dir/x.peak"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(numbers_are_the_kernels),
	    cmocka_unit_test(what_stands_in_for_what),
	    cmocka_unit_test(agrees_with_proc),
	    cmocka_unit_test(missing),
	    cmocka_unit_test(remedies),
	    cmocka_unit_test(dropped_for_good),
	    cmocka_unit_test(exec_brings_nothing_back),
	    cmocka_unit_test(refuses_with_threads),
	    cmocka_unit_test(directories_of_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
