/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Candidates for markers: trees of links and scripts made here, and this very process, whose
 * own loader says what the answer has to be.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "resolve/library.h"
#include "source/find.h"

#define LIB "peakphase/liblogrss.so"

struct found {
	int n;
	struct {
		char path[PATH_MAX];
		dev_t dev;
		ino_t ino;
		char head[16];
	} file[256];
};

static int note(void *ctx, const char *path)
{
	struct found *f = ctx;
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	/* What is offered can be opened, is a file, and has not been offered before. */
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_true(S_ISREG(st.st_mode));
	for (int i = 0; i < f->n; i++)
		assert_false(f->file[i].dev == st.st_dev && f->file[i].ino == st.st_ino);
	assert_true(f->n < 256);
	strcpy(f->file[f->n].path, path);
	f->file[f->n].dev = st.st_dev;
	f->file[f->n].ino = st.st_ino;
	n = read(fd, f->file[f->n].head, 15);
	f->file[f->n++].head[n > 0 ? n : 0] = '\0';
	close(fd);
	return 0;
}

static bool has(const struct found *f, const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	for (int i = 0; i < f->n; i++) {
		if (f->file[i].dev == st.st_dev && f->file[i].ino == st.st_ino)
			return true;
	}
	return false;
}

static bool has_text(const struct found *f, const char *text)
{
	for (int i = 0; i < f->n; i++) {
		if (!strcmp(f->file[i].head, text))
			return true;
	}
	return false;
}

/* A file system tree below a folder of its own; fill() gives file `name` a content. */
static char tree[64];

static const char *in_tree(const char *name)
{
	static char path[4][PATH_MAX];
	static int i;

	i = (i + 1) % 4;
	snprintf(path[i], sizeof(path[i]), "%s/%s", tree, name);
	return path[i];
}

static void make_parents(const char *path)
{
	char dir[PATH_MAX];

	strcpy(dir, path);
	for (char *p = strchr(dir + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		mkdir(dir, 0755);
		*p = '/';
	}
}

static void fill(const char *name, const char *content, mode_t mode)
{
	const char *path = in_tree(name);
	FILE *f;

	make_parents(path);
	f = fopen(path, "we");
	assert_non_null(f);
	fputs(content, f);
	fclose(f);
	assert_int_equal(chmod(path, mode), 0);
}

static void link_to(const char *name, const char *target)
{
	const char *path = in_tree(name);

	make_parents(path);
	assert_int_equal(symlink(target, path), 0);
}

static int tree_begin(void **state)
{
	(void)state;
	strcpy(tree, "/tmp/peakphase-find-XXXXXX");
	return mkdtemp(tree) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static int tree_end(void **state)
{
	(void)state;
	return nftw(tree, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static int object_is_found(struct dl_phdr_info *info, size_t size, void *ctx)
{
	(void)size;
	/* The vDSO has no file, the program itself no name here. */
	if (*info->dlpi_name && info->dlpi_name[0] == '/' && !has(ctx, info->dlpi_name))
		fail_msg("%s is mapped, but was not found", info->dlpi_name);
	return 0;
}

static void libraries_as_the_loader_has_them(void **state)
{
	struct found f = {0};
	int objects = 0;

	(void)state;
	assert_int_equal(library_each("/proc/self/exe", getenv("LD_LIBRARY_PATH"),
				      getenv("LD_PRELOAD"), note, &f),
			 0);
	dl_iterate_phdr(object_is_found, &f);
	assert_true(f.n >= 2); /* libc and cmocka */
	objects = f.n;
	/* What is preloaded comes besides; what is no library does not. */
	f.n = 0;
	assert_int_equal(library_each("/proc/self/exe", getenv("LD_LIBRARY_PATH"),
				      "/etc/passwd:/no/such.so libm.so.6", note, &f),
			 0);
	assert_in_range(f.n, objects, objects + 1);
	f.n = 0;
	assert_int_equal(library_each("/etc/passwd", NULL, NULL, note, &f), 0);
	assert_int_equal(f.n, 0);
}

static void library_path_wins(void **state)
{
	char copy[2 * PATH_MAX + 16], libc[PATH_MAX] = "", dir[PATH_MAX];
	struct found f = {0};

	(void)state;
	assert_int_equal(library_each("/proc/self/exe", NULL, NULL, note, &f), 0);
	for (int i = 0; i < f.n; i++) {
		if (strstr(f.file[i].path, "/libc.so.6"))
			strcpy(libc, f.file[i].path);
	}
	assert_string_not_equal(libc, "");
	snprintf(dir, sizeof(dir), "%s", in_tree("lib"));
	mkdir(dir, 0755);
	snprintf(copy, sizeof(copy), "cp %s %s/", libc, dir);
	assert_int_equal(system(copy), 0);
	f.n = 0;
	assert_int_equal(library_each("/proc/self/exe", dir, NULL, note, &f), 0);
	assert_true(has(&f, in_tree("lib/libc.so.6")));
	assert_false(has(&f, libc));
}

static const struct find_env no_env = {.path = "/usr/bin:/bin"};

static void command_and_its_wrappers(void **state)
{
	struct found f = {0};

	(void)state;
	assert_int_equal(find_for_command((char *[]){"nice", "-n", "1", "sh", "-c", "true", NULL},
					  &no_env, NULL, note, &f),
			 0);
	assert_true(has(&f, "/usr/bin/nice"));
	assert_true(has(&f, "/bin/sh"));
	/* libc comes with either, once. */
	assert_true(f.n >= 3);
	f.n = 0;
	assert_int_equal(
	    find_for_command((char *[]){"no-such-command", NULL}, &no_env, NULL, note, &f), 0);
	f.n = 0;
	assert_int_equal(find_for_command((char *[]){NULL}, &no_env, NULL, note, &f), 0);
}

static void scripts(void **state)
{
	char path[PATH_MAX], line[PATH_MAX + 64];
	struct find_env env = {.path = path};
	struct found f = {0};

	(void)state;
	snprintf(path, sizeof(path), "%s:/bin", in_tree("bin"));
	fill("bin/mypython", "not really ELF", 0755);
	fill("bin/direct", "#! /bin/sh -e\n", 0755);
	fill("bin/by-env", "#!/usr/bin/env -S A=b mypython -u\n", 0755);
	snprintf(line, sizeof(line), "#!%s\n", in_tree("bin/loop"));
	fill("bin/loop", line, 0755);
	fill("bin/" LIB, "beside script", 0644);
	assert_int_equal(find_for_command((char *[]){"direct", NULL}, &env, NULL, note, &f), 0);
	assert_true(has(&f, "/bin/sh"));
	assert_true(has_text(&f, "beside script"));
	f.n = 0;
	assert_int_equal(find_for_command((char *[]){"by-env", NULL}, &env, NULL, note, &f), 0);
	assert_true(has(&f, in_tree("bin/mypython")));
	assert_true(has(&f, "/usr/bin/env"));
	/* An interpreter of itself ends as it does in the kernel. */
	f.n = 0;
	assert_int_equal(find_for_command((char *[]){"loop", NULL}, &env, NULL, note, &f), 0);
}

static void places_of_the_python_library(void **state)
{
	char python_path[PATH_MAX], venv[PATH_MAX], home[PATH_MAX], python[PATH_MAX];
	struct find_env env = {
	    .path = "/usr/bin:/bin", .python_path = python_path, .venv = venv, .home = home};
	struct found f = {0};
	static const char *const text[] = {"pythonpath 2", "active venv",    "user site",
					   "venv of link", "prefix of file", "own script"};

	(void)state;
	snprintf(python_path, sizeof(python_path), "/no/such:%s:", in_tree("pp"));
	strcpy(venv, in_tree("active"));
	strcpy(home, in_tree("home"));
	fill("pp/" LIB, text[0], 0644);
	fill("active/lib/python3.11/site-packages/" LIB, text[1], 0644);
	fill("home/.local/lib/python3.12/site-packages/" LIB, text[2], 0644);
	/* A virtual environment's python is a link to the installed one. */
	fill("prefix/bin/python3.13", "not really ELF", 0755);
	fill("prefix/lib/python3.13/dist-packages/" LIB, text[4], 0644);
	link_to("venv/bin/python", in_tree("prefix/bin/python3.13"));
	fill("venv/lib64/python3.13/site-packages/" LIB, text[3], 0644);
	fill("job/etl.py", "print()", 0644);
	fill("job/" LIB, text[5], 0644);
	strcpy(python, in_tree("venv/bin/python"));
	assert_int_equal(find_for_command((char *[]){python, (char *)in_tree("job/etl.py"), NULL},
					  &env, NULL, note, &f),
			 0);
	for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
		if (!has_text(&f, text[i]))
			fail_msg("not found: %s", text[i]);
	}
}

static void pipes_are_left_alone(void **state)
{
	struct found f = {0};
	char fifo[PATH_MAX];

	(void)state;
	strcpy(fifo, in_tree("fifo"));
	assert_int_equal(mkfifo(fifo, 0755), 0);
	/* Opened for reading it would be: a writer that does not wait would succeed from then on.
	 */
	assert_int_equal(find_for_command((char *[]){"cat", fifo, NULL}, &no_env, NULL, note, &f),
			 0);
	assert_true(has(&f, "/bin/cat"));
	for (int i = 0; i < f.n; i++)
		assert_string_not_equal(f.file[i].path, fifo);
}

static int stop_at_once(void *ctx, const char *path)
{
	(void)path;
	++*(int *)ctx;
	return 77;
}

static void callback_ends_the_search(void **state)
{
	int calls = 0;

	(void)state;
	assert_int_equal(
	    find_for_command((char *[]){"sh", NULL}, &no_env, NULL, stop_at_once, &calls), 77);
	assert_int_equal(calls, 1);
	assert_int_equal(find_in_process("/proc", getpid(), stop_at_once, &calls), 77);
	assert_int_equal(calls, 2);
}

static void this_process(void **state)
{
	struct found f = {0};

	(void)state;
	assert_int_equal(find_in_process("/proc", getpid(), note, &f), 0);
	assert_true(has(&f, "/proc/self/exe"));
	dl_iterate_phdr(object_is_found, &f);
	f.n = 0;
	assert_int_equal(find_in_process("/proc", 0x3ffffff, note, &f), -ESRCH);
}

/* A child runs a copy of this program, which is then deleted and replaced by another file. */
static void deleted_and_replaced(void **state)
{
	char copy[PATH_MAX], command[2 * PATH_MAX + 16], self[PATH_MAX], byte;
	struct found f = {0};
	struct stat st;
	int out[2], in[2];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	pid_t pid;

	(void)state;
	assert_true(n > 0);
	self[n] = '\0';
	strcpy(copy, in_tree("program"));
	snprintf(command, sizeof(command), "cp %s %s", self, copy);
	assert_int_equal(system(command), 0);
	assert_int_equal(stat(copy, &st), 0);
	assert_int_equal(pipe(out), 0);
	assert_int_equal(pipe(in), 0);
	pid = fork();
	if (!pid) {
		dup2(out[1], 1);
		dup2(in[0], 0);
		close(in[1]);
		execl(copy, copy, "--wait", NULL);
		_exit(127);
	}
	assert_int_equal(read(out[0], &byte, 1), 1);
	assert_int_equal(unlink(copy), 0);
	fill("program", "another file", 0755);
	assert_int_equal(find_in_process("/proc", pid, note, &f), 0);
	assert_int_equal(f.file[0].ino, st.st_ino);
	assert_int_equal(f.file[0].dev, st.st_dev);
	/* The new file of that name is not what is mapped, but what the next exec of it will run.
	 */
	assert_true(has_text(&f, "another file"));
	close(in[1]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	close(out[0]);
	close(out[1]);
	close(in[0]);
}

/* A process of another root, from a tree that stands for /proc and that root. */
static void other_root(void **state)
{
	char proc[PATH_MAX], maps[512];
	struct found f = {0};

	(void)state;
	strcpy(proc, in_tree("proc"));
	link_to("proc/77/exe", "/usr/bin/python3.11");
	fill("outside/" LIB, "outside", 0644);
	fill("proc/77/root/opt/lib/mapped.so", "mapped", 0644);
	fill("proc/77/root/opt/lib/data.bin", "data", 0644);
	fill("proc/77/root/opt/lib/replaced.so", "replaced", 0644);
	fill("proc/77/root/usr/lib/python3.11/dist-packages/" LIB, "of its python", 0644);
	fill("proc/77/root/usr/lib/x86_64-linux-gnu/liblogrss.so", "of its system", 0644);
	/* Absolute links, and ".." from the top, stay inside: the host's files are not its own. */
	link_to("proc/77/root/srv/abs", "/real");
	fill("proc/77/root/real/" LIB, "inside abs", 0644);
	link_to("proc/77/root/srv/up/peakphase", "../../../../../outside/peakphase");
	fill("proc/77/root/outside/" LIB, "inside up", 0644);
	link_to("proc/77/cwd", "/srv");
	fill("proc/77/environ", "", 0644);
	{
		static const char env[] = "X=1\0PYTHONPATH=/srv/abs:up\0HOME=/root";
		FILE *e = fopen(in_tree("proc/77/environ"), "we");

		fwrite(env, 1, sizeof(env), e);
		fclose(e);
	}
	/* Devices 0:fffff stand for an overlay, whose numbers differ from stat's. */
	snprintf(maps, sizeof(maps),
		 "1000-2000 r-xp 00000000 00:fffff 5 /opt/lib/mapped.so\n"
		 "3000-4000 r--p 00000000 00:fffff 6 /opt/lib/data.bin\n"
		 "5000-6000 r-xp 00000000 00:fffff 7 /opt/lib/replaced.so (deleted)\n"
		 "7000-8000 r-xp 00000000 00:00 0 [vdso]\n");
	fill("proc/77/maps", maps, 0644);
	assert_int_equal(find_in_process(proc, 77, note, &f), 0);
	assert_true(has_text(&f, "mapped"));
	assert_false(has_text(&f, "data"));
	assert_false(has_text(&f, "replaced"));
	assert_true(has_text(&f, "of its python"));
	assert_true(has_text(&f, "of its system"));
	assert_true(has_text(&f, "inside abs"));
	assert_true(has_text(&f, "inside up"));
	assert_false(has_text(&f, "outside"));
}

static void same_device_other_inode(void **state)
{
	struct proc_map m = {
	    .start = 0x1000, .end = 0x2000, .executable = true, .path = "/lib/a.so"};
	char proc[PATH_MAX], out[PATH_MAX];
	struct stat st;

	(void)state;
	strcpy(proc, in_tree("p"));
	fill("p/5/root/lib/a.so", "a", 0644);
	assert_int_equal(stat(in_tree("p/5/root/lib/a.so"), &st), 0);
	m.dev_major = (uint32_t)(st.st_dev >> 8 & 0xfff);
	m.dev_minor = (uint32_t)(st.st_dev & 0xff);
	m.inode = st.st_ino;
	assert_int_equal(find_mapping(proc, 5, &m, out), 0);
	assert_string_equal(out, in_tree("p/5/root/lib/a.so"));
	m.inode = st.st_ino + 1; /* a file that has taken the name since */
	assert_int_equal(find_mapping(proc, 5, &m, out), -ENOENT);
}

/* As runc and crun run themselves while they start a container. */
static void mount_of_one_file(void **state)
{
	static const char *const names[] = {"/usr/sbin/runc", "/usr/bin/runc", "/usr/bin/crun"};
	struct proc_map m = {.start = 0x1000, .end = 0x2000, .executable = true, .path = "/"};
	char out[PATH_MAX];
	struct stat st;
	int n = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (stat(names[i], &st))
			continue;
		n++;
		m.dev_major = major(st.st_dev);
		m.dev_minor = minor(st.st_dev);
		m.inode = st.st_ino;
		assert_int_equal(find_mapped_here(&m, out), 0);
		assert_true(strstr(out, "run"));
		m.dev_minor++;
		assert_int_equal(find_mapped_here(&m, out), -ENOENT);
	}
	if (!n)
		skip();
}

static int wait_for_end(void)
{
	char byte;

	if (write(STDOUT_FILENO, "r", 1) != 1)
		return 1;
	return read(STDIN_FILENO, &byte, 1) == 0 ? 0 : 2;
}

#define IN_TREE(test) cmocka_unit_test_setup_teardown(test, tree_begin, tree_end)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(libraries_as_the_loader_has_them),
	    IN_TREE(library_path_wins),
	    cmocka_unit_test(command_and_its_wrappers),
	    IN_TREE(scripts),
	    IN_TREE(places_of_the_python_library),
	    IN_TREE(pipes_are_left_alone),
	    cmocka_unit_test(callback_ends_the_search),
	    cmocka_unit_test(this_process),
	    IN_TREE(deleted_and_replaced),
	    IN_TREE(other_root),
	    IN_TREE(same_device_other_inode),
	    cmocka_unit_test(mount_of_one_file),
	};

	if (argc > 1 && !strcmp(argv[1], "--wait"))
		return wait_for_end();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
