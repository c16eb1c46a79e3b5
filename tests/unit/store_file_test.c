/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The file: made without harm, owned by who asked, readable by anyone, honest when the disk is
 * full. */
#include "store_fixture.h"

#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include "lib/invoker.h"

#define NOBODY 65534

static int count_phase(void *ctx, const struct phase *ph)
{
	(void)ph;
	++*(unsigned *)ctx;
	return 0;
}

static int count_event(void *ctx, const struct event *ev)
{
	(void)ev;
	++*(unsigned *)ctx;
	return 0;
}

/* Phases in it; -errno when it cannot be opened. */
static int phases_in(const char *path)
{
	struct recording *r;
	unsigned n = 0;
	int err = recording_open(&r, path);

	if (!err)
		err = recording_each_phase(r, 1, count_phase, &n);
	recording_close(&r);
	return err ? err : (int)n;
}

static void write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void test_existing_is_never_touched(void **state)
{
	struct folder f;
	char text[16];
	FILE *in;

	(void)state;
	folder_make(&f);
	write_text(f.file, "precious");
	assert_int_equal(write_plain(f.file, 3), -EEXIST);
	in = fopen(f.file, "r");
	assert_non_null(fgets(text, sizeof(text), in));
	assert_string_equal(text, "precious");
	fclose(in);
	assert_int_equal(write_plain(f.dir, 3), -EEXIST);
	/* An empty one is a place that somebody has kept free (mktemp). */
	write_text(f.file, "");
	assert_int_equal(write_plain(f.file, 3), 0);
	assert_int_equal(phases_in(f.file), 3);
	/* A second one on top of it is none. */
	assert_int_equal(write_plain(f.file, 3), -EEXIST);
	assert_int_equal(phases_in(f.file), 3);
	folder_remove(&f);
}

static void test_finished_is_one_file(void **state)
{
	struct folder f;
	struct stat st;
	mode_t old = umask(027);

	(void)state;
	folder_make(&f);
	assert_int_equal(write_plain(f.file, 1000), 0);
	umask(old);
	assert_int_equal(stat(f.file, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_false(folder_has(&f, "-wal") || folder_has(&f, "-shm") ||
		     folder_has(&f, "-journal"));
	assert_int_equal(phases_in(f.file), 1000);
	/* Reading left nothing behind. */
	assert_false(folder_has(&f, "-wal") || folder_has(&f, "-shm") ||
		     folder_has(&f, "-journal"));
	folder_remove(&f);
}

static void test_names_that_sqlite_would_take_for_its_own(void **state)
{
	static const char *const names[] = {":memory:", "file:x?mode=memory", "a%20b#c?d", "-o"};
	struct folder f;

	(void)state;
	folder_make(&f);
	assert_int_equal(chdir(f.dir), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_int_equal(write_plain(names[i], 5), 0);
		assert_int_equal(phases_in(names[i]), 5);
		assert_int_equal(unlink(names[i]), 0);
	}
	assert_int_equal(chdir("/"), 0);
	folder_remove(&f);
}

static int write_no_folder(void *ctx)
{
	(void)ctx;
	return write_plain("/tmp/peakphase-no-such-folder/r.peak", 1) == -ENOENT ? 0 : 1;
}

static int become_nobody(void)
{
	return setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY);
}

static int write_as_nobody(void *ctx)
{
	if (!geteuid() && become_nobody())
		return 2;
	return write_plain(ctx, 1) == -EACCES ? 0 : 1;
}

static void test_folder_that_is_missing_or_closed(void **state)
{
	struct folder f;

	(void)state;
	assert_int_equal(in_child(write_no_folder, NULL), 0);
	folder_make(&f);
	assert_int_equal(chmod(f.dir, 0555), 0);
	assert_int_equal(in_child(write_as_nobody, f.file), 0);
	folder_remove(&f);
}

/* *as: is the folder that user's to write? */
static int write_under_sudo(const char *file, bool as)
{
	int err;

	setenv("SUDO_UID", "4711", 1);
	setenv("SUDO_GID", "4712", 1);
	if (invoker_files(file) != as)
		return 2;
	err = write_plain(file, 1);
	return err == -EACCES ? 3 : !!err;
}

static int write_theirs(void *ctx)
{
	return write_under_sudo(ctx, true);
}

static int write_ours(void *ctx)
{
	return write_under_sudo(ctx, false);
}

static int write_as_ourselves_again(void *ctx)
{
	setenv("SUDO_UID", "4711", 1);
	setenv("SUDO_GID", "4712", 1);
	if (!invoker_files(ctx))
		return 2;
	invoker_files_end();
	return write_plain(ctx, 1) ? 1 : 0;
}

static void owned_by(const char *file, uid_t uid, gid_t gid)
{
	struct stat st;

	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_uid, uid);
	assert_int_equal(st.st_gid, gid);
}

static void test_sudo_user_owns_it(void **state)
{
	struct folder f;
	char link[128];
	struct stat st;

	(void)state;
	if (geteuid())
		skip();
	folder_make(&f);
	/* Nobody but root may make it here. */
	assert_int_equal(in_child(write_ours, f.file), 0);
	owned_by(f.file, 0, 0);
	assert_int_equal(unlink(f.file), 0);
	assert_int_equal(chown(f.dir, 4711, 4712), 0);
	assert_int_equal(in_child(write_theirs, f.file), 0);
	owned_by(f.file, 4711, 4712);
	assert_int_equal(unlink(f.file), 0);
	assert_int_equal(in_child(write_as_ourselves_again, f.file), 0);
	owned_by(f.file, 0, 0);
	assert_int_equal(unlink(f.file), 0);
	/* Not over a file of root's, whatever leads to it. */
	write_text(f.file, "");
	assert_int_equal(in_child(write_theirs, f.file), 3);
	snprintf(link, sizeof(link), "%s/link", f.dir);
	assert_int_equal(symlink(f.file, link), 0);
	assert_int_equal(in_child(write_theirs, link), 3);
	assert_int_equal(stat(f.file, &st), 0);
	assert_int_equal(st.st_size, 0);
	unlink(link);
	folder_remove(&f);
}

/* A tracer that never closes. */
static pid_t start_unfinished(const char *path)
{
	struct run_info info = plain_info();
	struct store *s;
	struct event ev;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid)
		return pid;
	if (store_create(&s, path, &info))
		_exit(1);
	for (unsigned i = 0; i <= 50; i++) {
		plain_edge(&ev, i ? PP_MARK : PP_BASE, i, i ? "load:users" : "");
		no_base_extras(&ev);
		store_event(s, &ev);
	}
	for (;;)
		pause();
}

/* Once all its events can be read, SIGKILL: its log stays. */
static void leave_unfinished(const char *path)
{
	pid_t pid = start_unfinished(path);
	struct recording *r;
	unsigned n = 0;
	int status;

	for (int i = 0; i < 1000 && n < 51; i++) {
		usleep(20000);
		n = 0;
		if (access(path, F_OK) || recording_open(&r, path))
			continue;
		recording_each_event(r, count_event, &n);
		recording_close(&r);
	}
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(n, 51);
}

static int read_as_nobody(void *ctx)
{
	int n;

	if (become_nobody())
		return 100;
	n = phases_in(ctx);
	/* 50 checkpoints and what is implied after the last of them. */
	return n >= 50 && n <= 51 ? 0 : n < 0 ? -n : 101;
}

static int nothing_left(const struct folder *f, const char *suffixes)
{
	return folder_has(f, "-wal") == !!strstr(suffixes, "wal") &&
	       folder_has(f, "-shm") == !!strstr(suffixes, "shm");
}

/* Somebody else's unfinished recording, in a folder that cannot be written. */
static void test_unfinished_of_another_user(void **state)
{
	char name[128];
	struct folder f;

	(void)state;
	if (geteuid())
		skip();
	folder_make(&f);
	leave_unfinished(f.file);
	assert_true(nothing_left(&f, "wal shm"));
	assert_int_equal(in_child(read_as_nobody, f.file), 0);
	assert_true(nothing_left(&f, "wal shm"));
	/* Copied without its -shm: SQLite cannot open that in place, we read a copy. */
	snprintf(name, sizeof(name), "%s-shm", f.file);
	assert_int_equal(unlink(name), 0);
	assert_int_equal(in_child(read_as_nobody, f.file), 0);
	assert_true(nothing_left(&f, "wal"));
	/* Without its log there is no event in it, and no error either. */
	snprintf(name, sizeof(name), "%s-wal", f.file);
	assert_int_equal(unlink(name), 0);
	assert_int_equal(phases_in(f.file), 0);
	folder_remove(&f);
}

static void test_removed_while_written(void **state)
{
	struct run_info info = plain_info();
	struct run_end end = {0};
	struct folder f;
	struct store *s;
	struct event ev;
	int i;

	(void)state;
	folder_make(&f);
	assert_int_equal(store_create(&s, f.file, &info), 0);
	assert_int_equal(unlink(f.file), 0);
	/* Until the next commit finds out: 20 s would be a failure. */
	for (i = 0; i < 2000 && !store_dropped(s); i++) {
		plain_edge(&ev, PP_MARK, (uint64_t)i, "x");
		assert_int_equal(store_event(s, &ev), 0);
		usleep(10000);
	}
	assert_true(store_dropped(s) > 0);
	assert_int_equal(store_close(&s, &end), -ENOENT);
	assert_false(folder_has(&f, ""));
	folder_remove(&f);
}

/* Writes until the disk is full; then a reader finds what was written before. */
static int fill(const char *path, int want)
{
	struct run_info info = plain_info();
	struct run_end end = {.status = 0};
	struct store_times times = {0};
	struct recording *r;
	struct event ev;
	struct store *s;
	unsigned given = 20000, n = 0;
	uint64_t dropped;
	int err;

	if (store_create(&s, path, &info))
		return 1;
	for (unsigned i = 0; i < given; i++) {
		plain_edge(&ev, i ? PP_MARK : PP_BASE, i, i ? "flood" : "");
		no_base_extras(&ev);
		if (store_event(s, &ev))
			return 2;
		if (i % 100 == 0)
			usleep(1000);
	}
	err = store_close_timed(&s, &end, &times);
	if (err != want)
		return 3;
	if (recording_open(&r, path))
		return 4;
	if (recording_end(r)->finished || recording_end(r)->running)
		return 5;
	if (recording_each_event(r, count_event, &n))
		return 6;
	/* What the end could still say, where it found room. */
	dropped = recording_end(r)->dropped;
	if (dropped && (recording_end(r)->error != want || dropped + n != given))
		return 7;
	recording_close(&r);
	/* Also of what was still waiting when it was closed. */
	if (times.dropped + n != given)
		return 9;
	return n > 100 && n < given ? 0 : 8;
}

static int fill_limited(void *ctx)
{
	struct rlimit lim = {1 << 20, 1 << 20};

	/* As a quota would; the signal that comes with it must not kill the tracer. */
	if (setrlimit(RLIMIT_FSIZE, &lim))
		return 100;
	return fill(ctx, -EFBIG);
}

static void test_file_size_limit(void **state)
{
	struct folder f;

	(void)state;
	folder_make(&f);
	assert_int_equal(in_child(fill_limited, f.file), 0);
	folder_remove(&f);
}

#define NO_MOUNT 77

static int fill_tmpfs(void *ctx)
{
	const struct folder *f = ctx;

	/* In a mount namespace of its own: gone with this process. */
	if (unshare(CLONE_NEWNS))
		return 99;
	/* A chroot() may have no mount at its root. */
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return errno == EINVAL ? NO_MOUNT : 98;
	if (mount("none", f->dir, "tmpfs", 0, "size=1m"))
		return 97;
	return fill(f->file, -ENOSPC);
}

static void test_disk_full(void **state)
{
	struct folder f;
	int status;

	(void)state;
	if (geteuid())
		skip();
	folder_make(&f);
	status = in_child(fill_tmpfs, &f);
	folder_remove(&f);
	if (status == NO_MOUNT)
		skip();
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_existing_is_never_touched),
	    cmocka_unit_test(test_finished_is_one_file),
	    cmocka_unit_test(test_names_that_sqlite_would_take_for_its_own),
	    cmocka_unit_test(test_folder_that_is_missing_or_closed),
	    cmocka_unit_test(test_sudo_user_owns_it),
	    cmocka_unit_test(test_unfinished_of_another_user),
	    cmocka_unit_test(test_removed_while_written),
	    cmocka_unit_test(test_file_size_limit),
	    cmocka_unit_test(test_disk_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
