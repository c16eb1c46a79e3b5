/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Readers of /proc against a fixture of hostile names, and against this very process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <errno.h>
#include <cmocka.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"
#include "resolve/proc.h"

static void stat_of_hostile_name(void **state)
{
	char proc[PATH_MAX];
	struct proc_stat st;

	(void)state;
	assert_int_equal(proc_stat(FIXTURE(proc, "proc"), 4242, &st), 0);
	assert_string_equal(st.comm, "a) R 1 (b");
	assert_int_equal(st.state, 'S');
	assert_int_equal(st.ppid, 4100);
	assert_int_equal(st.threads, 3);
	assert_int_equal(st.start_ticks, 987654);
	assert_false(st.kernel_thread);
	assert_int_equal(proc_stat(proc, 2, &st), 0);
	assert_true(st.kernel_thread);
	assert_string_equal(st.comm, "kworker/u8:0-events_unbound");
	assert_int_equal(proc_stat(proc, 4711, &st), -ESRCH);
}

static void stat_of_torn_text(void **state)
{
	static const char whole[] = "7 (x) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 55 0";
	struct proc_stat st;
	char buf[256];

	(void)state;
	assert_int_equal(proc_stat_parse(whole, sizeof(whole) - 1, &st), 0);
	assert_int_equal(st.start_ticks, 55);
	/* Every beginning of it that lacks the start time is refused, none is read past its end. */
	for (size_t n = 0; n < sizeof(whole) - 5; n++) {
		memcpy(buf, whole, n);
		buf[n] = '\0';
		assert_int_equal(proc_stat_parse(buf, n, &st), -EBADMSG);
	}
	assert_int_equal(proc_stat_parse(")(", 2, &st), -EBADMSG);
}

static void long_name_is_cut(void **state)
{
	char buf[512] = "7 (";
	struct proc_stat st;

	(void)state;
	memset(buf + 3, 'k', 200);
	strcpy(buf + 203, ") S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 55 0");
	assert_int_equal(proc_stat_parse(buf, strlen(buf), &st), 0);
	assert_int_equal(strlen(st.comm), PROC_COMM_MAX);
}

static void status_fields(void **state)
{
	char proc[PATH_MAX];
	struct proc_status s;

	(void)state;
	assert_int_equal(proc_status(FIXTURE(proc, "proc"), 4242, &s), 0);
	assert_int_equal(s.tgid, 4242);
	assert_int_equal(s.ns_pid, 7);
	assert_int_equal(s.ns_depth, 3);
	assert_int_equal(s.uid, 1000);
	assert_int_equal(s.euid, 1001);
	assert_int_equal(s.gid, 100);
	assert_int_equal(s.tracer, 17);
	assert_int_equal(s.cap_effective, 0xc000080000);
	/* A kernel without pid namespaces writes no NSpid. */
	assert_int_equal(proc_status(proc, 2, &s), 0);
	assert_int_equal(s.ns_pid, 2);
	assert_int_equal(s.ns_depth, 1);
	assert_int_equal(proc_status_parse("Tgid:\t1\n", &s), -EBADMSG);
	assert_int_equal(proc_status_parse("", &s), -EBADMSG);
}

static void kinds(void **state)
{
	char proc[PATH_MAX];
	pid_t tgid = 0;

	(void)state;
	FIXTURE(proc, "proc");
	assert_int_equal(proc_kind(proc, 4242, &tgid), PROC_USER);
	assert_int_equal(proc_kind(proc, 4243, &tgid), PROC_THREAD);
	assert_int_equal(tgid, 4242);
	assert_int_equal(proc_kind(proc, 2, &tgid), PROC_KERNEL);
	assert_int_equal(proc_kind(proc, 50, &tgid), PROC_ZOMBIE);
	assert_int_equal(proc_kind(proc, 4711, &tgid), PROC_GONE);
	assert_int_equal(proc_kind(proc, -1, &tgid), PROC_GONE);
}

static void words_and_names(void **state)
{
	char proc[PATH_MAX], buf[256], comm[PROC_COMM_MAX + 1];
	bool deleted = false;
	size_t len;
	uint64_t rss;

	(void)state;
	FIXTURE(proc, "proc");
	assert_int_equal(proc_cmdline(proc, 4242, buf, sizeof(buf), &len), 0);
	assert_int_equal(len, 27);
	assert_memory_equal(buf, "python3\0etl.py\0--name=a b\0\0", 27);
	assert_int_equal(proc_cmdline(proc, 4242, buf, 8, &len), 0);
	assert_int_equal(len, 7);
	assert_string_equal(buf, "python3");
	assert_int_equal(proc_cmdline(proc, 2, buf, sizeof(buf), &len), 0);
	assert_int_equal(len, 0);
	assert_int_equal(proc_comm(proc, 4242, comm), 0);
	assert_string_equal(comm, "a) R 1 (b");
	assert_int_equal(proc_exe(proc, 4242, buf, sizeof(buf), &deleted), 0);
	assert_string_equal(buf, "/opt/job/bin/worker");
	assert_true(deleted);
	assert_int_equal(proc_exe(proc, 4242, buf, 10, &deleted), -ENAMETOOLONG);
	assert_int_equal(proc_rss(proc, 4242, &rss), 0);
	assert_int_equal(rss, 10240 * 1024);
	assert_int_equal(proc_rss(proc, 50, &rss), -ESRCH);
}

struct seen {
	int maps, executable, deleted;
	uint64_t address, found_inode;
	bool found;
};

static int count_map(void *ctx, const struct proc_map *m)
{
	struct seen *s = ctx;

	s->maps++;
	s->executable += m->executable;
	s->deleted += m->deleted;
	switch (m->start) {
	case 0x55d0c0001000:
		assert_string_equal(m->path, "/opt/job/bin/worker");
		assert_int_equal(m->end, 0x55d0c0004000);
		assert_int_equal(m->offset, 0x1000);
		assert_int_equal(m->dev_major, 0xfe);
		assert_int_equal(m->dev_minor, 1);
		assert_int_equal(m->inode, 1311);
		assert_true(m->executable && m->deleted);
		break;
	case 0x7f0000000000:
		assert_string_equal(m->path, "");
		break;
	case 0x7f1000000000:
		assert_string_equal(m->path, "/opt/a\nb c/lib\n.so");
		assert_false(m->deleted);
		break;
	case 0x7f1000100000: /* a file that is called so, and was deleted */
		assert_string_equal(m->path, "/usr/lib/x.so (deleted)");
		assert_true(m->inode == UINT64_MAX);
		assert_int_equal(m->dev_major, 0x103);
		assert_int_equal(m->dev_minor, 0xa1);
		break;
	}
	return 0;
}

static void maps_of_hostile_names(void **state)
{
	char proc[PATH_MAX];
	struct seen s = {0};

	(void)state;
	assert_int_equal(proc_maps_each(FIXTURE(proc, "proc"), 4242, count_map, &s), 0);
	assert_int_equal(s.maps, 9);
	assert_int_equal(s.executable, 5);
	assert_int_equal(s.deleted, 4);
	assert_int_equal(proc_maps_each(proc, 4711, count_map, &s), -ESRCH);
}

static void map_lines_that_are_none(void **state)
{
	static const char *const bad[] = {
	    "",
	    "[heap]",
	    "1000-2000",
	    "1000-2000 r-xp",
	    "2000-1000 r-xp 0 0:0 0",
	    "1000-2000 r-x 0 0:0 0 /a",
	    "1000-2000 r-xp 0 0:0",
	    "x-y r-xp 0 0:0 0 /a",
	};
	struct proc_map m;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char line[64];

		strcpy(line, bad[i]);
		assert_int_equal(proc_map_parse(line, &m), -EBADMSG);
	}
}

static int find_mapping(void *ctx, const struct proc_map *m)
{
	struct seen *s = ctx;

	if (s->address < m->start || s->address >= m->end)
		return 0;
	s->found = true;
	return 42;
}

static int count_thread(void *ctx, pid_t tid)
{
	int *n = ctx;

	assert_true(tid > 0);
	return ++*n == 100;
}

static void *wait_for_byte(void *arg)
{
	char c;

	return read(*(int *)arg, &c, 1) == 1 ? arg : NULL;
}

static void this_process(void **state)
{
	struct seen s = {.address = (uint64_t)(uintptr_t)this_process};
	char proc[PATH_MAX], buf[PATH_MAX], self[PATH_MAX];
	int threads = 0, fds[2];
	bool deleted = true;
	pthread_t t;
	ssize_t n;

	(void)state;
	/* What the callback returns ends the walk and comes back. */
	assert_int_equal(proc_maps_each("/proc", getpid(), find_mapping, &s), 42);
	assert_true(s.found);
	assert_int_equal(proc_exe("/proc", getpid(), buf, sizeof(buf), &deleted), 0);
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	assert_true(n > 0);
	self[n] = '\0';
	assert_string_equal(buf, self);
	assert_false(deleted);

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(pthread_create(&t, NULL, wait_for_byte, &fds[0]), 0);
	assert_int_equal(proc_threads_each("/proc", getpid(), count_thread, &threads), 0);
	assert_int_equal(write(fds[1], "x", 1), 1);
	pthread_join(t, NULL);
	close(fds[0]);
	close(fds[1]);
	assert_in_range(threads, 2, 20); /* sanitizers may keep a thread of their own */
	threads = 0;
	assert_int_equal(proc_threads_each(FIXTURE(proc, "proc"), 4242, count_thread, &threads), 0);
	assert_int_equal(threads, 3);
}

static void rss_moves_with_memory(void **state)
{
	const size_t size = 32 << 20;
	uint64_t before, after;
	char *p;

	(void)state;
	assert_int_equal(proc_rss("/proc", getpid(), &before), 0);
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(p, MAP_FAILED);
	memset(p, 1, size);
	assert_int_equal(proc_rss("/proc", getpid(), &after), 0);
	munmap(p, size);
	/* 1 MiB: the reader's own stack and buffers, code of libc faulted in, the sanitizers'
	 * shadow. */
	assert_in_range(after - before, size, size + size / 8 + (1 << 20));
}

static void zombies(void **state)
{
	pid_t tgid, pid = fork();
	siginfo_t si;

	(void)state;
	if (!pid)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &si, WEXITED | WNOWAIT), 0);
	assert_int_equal(proc_kind("/proc", pid, &tgid), PROC_ZOMBIE);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(proc_kind("/proc", pid, &tgid), PROC_GONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(stat_of_hostile_name),
	    cmocka_unit_test(stat_of_torn_text),
	    cmocka_unit_test(long_name_is_cut),
	    cmocka_unit_test(status_fields),
	    cmocka_unit_test(kinds),
	    cmocka_unit_test(words_and_names),
	    cmocka_unit_test(maps_of_hostile_names),
	    cmocka_unit_test(map_lines_that_are_none),
	    cmocka_unit_test(this_process),
	    cmocka_unit_test(rss_moves_with_memory),
	    cmocka_unit_test(zombies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
