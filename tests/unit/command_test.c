/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The command of `run`: real forks and execs. This program is its own command when it is called
 * with an argument, so that the child's view is compared, not guessed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "source/command.h"

static char self[PATH_MAX];

static struct command *spawn(char *const *argv, const char *user)
{
	struct command_options o = {.argv = argv, .user = user};
	struct command *c = NULL;

	assert_int_equal(command_spawn(&c, &o), 0);
	assert_non_null(c);
	return c;
}

/* Runs it to its end; the exit status as a shell would say it. */
static int run(char *const *argv, const char *user)
{
	struct command *c = spawn(argv, user);
	int status = -1;

	if (!command_start(c, &status)) {
		assert_int_equal(command_reap(c, &status), 0);
		assert_int_equal(command_reap(c, &status), -ECHILD);
		status = command_exit_status(status);
	}
	command_free(&c);
	assert_null(c);
	return status;
}

#define RUN(...) run((char *[]){__VA_ARGS__, NULL}, NULL)
#define SH(script) RUN("/bin/sh", "-c", script)

static void temp_file(char path[static 64])
{
	int fd;

	strcpy(path, "/tmp/peakphase-command-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
}

static void read_back(const char *path, char *buf, size_t cap)
{
	FILE *f = fopen(path, "re");
	size_t n;

	assert_non_null(f);
	n = fread(buf, 1, cap - 1, f);
	buf[n] = '\0';
	fclose(f);
}

/* What goes to stdout or stderr while it lasts. */
struct capture {
	char path[64];
	int fd, saved;
};

static void capture_begin(struct capture *c, int fd)
{
	int to;

	fflush(NULL);
	temp_file(c->path);
	to = open(c->path, O_WRONLY | O_APPEND | O_CLOEXEC);
	assert_true(to >= 0);
	c->fd = fd;
	c->saved = fcntl(fd, F_DUPFD_CLOEXEC, 10);
	dup2(to, fd);
	close(to);
}

static void capture_end(struct capture *c, char *buf, size_t cap)
{
	fflush(NULL);
	dup2(c->saved, c->fd);
	close(c->saved);
	read_back(c->path, buf, cap);
	unlink(c->path);
}

static void statuses(void **state)
{
	(void)state;
	assert_int_equal(RUN("true"), 0);
	assert_int_equal(SH("exit 7"), 7);
	assert_int_equal(SH("exit 255"), 255);
	assert_int_equal(SH("kill -KILL $$"), 128 + 9);
	assert_int_equal(SH("kill -SEGV $$"), 128 + 11);
}

static void expect_failure(char *const *argv, int status, const char *words)
{
	char text[4096];
	struct capture cap;
	int got;

	capture_begin(&cap, STDERR_FILENO);
	got = run(argv, NULL);
	capture_end(&cap, text, sizeof(text));
	assert_int_equal(got, status);
	if (!strstr(text, words))
		fail_msg("\"%s\" is not in \"%s\"", words, text);
	assert_non_null(strstr(text, "\n")); /* said at all, and once */
	assert_null(strstr(strstr(text, "error:") + 1, "error:"));
}

static void failures_to_execute(void **state)
{
	static const struct {
		const char *text, *words;
		mode_t mode;
		int status;
	} file[] = {
	    {"#!/no/such/interp -x\n", "interpreter /no/such/interp is missing", 0755, 127},
	    {"#!/bin/sh\r\necho\r\n", "interpreter /bin/sh\\r is missing", 0755, 127},
	    {"#!/bin/sh\n", "not executable", 0644, 126},
	};
	char path[64];

	(void)state;
	expect_failure((char *[]){"no-such-command-anywhere", NULL}, 127,
		       "no command of this name");
	expect_failure((char *[]){"/no/such/file", NULL}, 127, "there is no such file");
	expect_failure((char *[]){"/tmp", NULL}, 126, "it is a directory");
	expect_failure((char *[]){"/no/such\033[31m\n", NULL}, 127, "/no/such\\x1b[31m\\n");
	expect_failure((char *[]){"", NULL}, 127, "cannot run");
	if (geteuid() != 0) { /* a directory in PATH that we may not enter hides nothing */
		char *path_was = strdup(getenv("PATH"));

		setenv("PATH", "/proc/1/fd:/bin", 1);
		expect_failure((char *[]){"no-such-command", NULL}, 127, "no command of this");
		setenv("PATH", path_was, 1);
		free(path_was);
	}
	for (size_t i = 0; i < sizeof(file) / sizeof(file[0]); i++) {
		FILE *f;

		temp_file(path);
		f = fopen(path, "we");
		fputs(file[i].text, f);
		fclose(f);
		chmod(path, file[i].mode);
		expect_failure((char *[]){path, NULL}, file[i].status, file[i].words);
		unlink(path);
	}
}

static void waits_at_the_gate(void **state)
{
	char path[64], script[128], text[64];
	struct command *c;
	int status;

	(void)state;
	temp_file(path);
	snprintf(script, sizeof(script), "echo ran > %s", path);
	c = spawn((char *[]){"sh", "-c", script, NULL}, NULL);
	/* A shell that was let go needs some milliseconds: 100 are long enough to see it run. */
	usleep(100000);
	read_back(path, text, sizeof(text));
	assert_string_equal(text, "");
	assert_int_equal(kill(command_pid(c), 0), 0);
	assert_int_equal(command_start(c, &status), 0);
	assert_int_equal(command_reap(c, &status), 0);
	read_back(path, text, sizeof(text));
	assert_string_equal(text, "ran\n");
	command_free(&c);
	unlink(path);
}

static void freed_at_the_gate(void **state)
{
	struct command *c = spawn((char *[]){"true", NULL}, NULL);
	pid_t pid = command_pid(c);

	(void)state;
	command_free(&c);
	assert_null(c);
	assert_int_equal(kill(pid, 0), -1);
	assert_int_equal(errno, ESRCH);
	command_free(&c);
}

/* A tracer that dies, before or after the start; we inherit its child and see how it ends. */
static int orphan_status(bool started)
{
	int fds[2], status = -1;
	pid_t pid = 0, tracer;

	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	tracer = fork();
	if (!tracer) {
		struct command_options o = {.argv =
						(char *[]){"sh", "-c", "sleep 0.2; exit 5", NULL}};
		struct command *c;

		if (command_spawn(&c, &o))
			_exit(1);
		pid = command_pid(c);
		if (write(fds[1], &pid, sizeof(pid)) != sizeof(pid))
			_exit(2);
		if (started && command_start(c, &status))
			_exit(3);
		kill(getpid(), SIGKILL);
	}
	assert_int_equal(read(fds[0], &pid, sizeof(pid)), sizeof(pid));
	close(fds[0]);
	close(fds[1]);
	assert_int_equal(waitpid(tracer, &status, 0), tracer);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	prctl(PR_SET_CHILD_SUBREAPER, 0);
	return command_exit_status(status);
}

static void tracer_dies(void **state)
{
	(void)state;
	assert_int_equal(orphan_status(false), 127);
	assert_int_equal(orphan_status(true), 5);
}

/* --look: what the command sees of itself, on stdout. */
static int look(void)
{
	char line[256];
	struct dirent *e;
	DIR *d = opendir("/proc/self/fd");
	FILE *f = fopen("/proc/self/status", "re");

	while ((e = readdir(d))) {
		if (atoi(e->d_name) > 2 && atoi(e->d_name) != dirfd(d) &&
		    atoi(e->d_name) != fileno(f))
			printf("fd %s\n", e->d_name);
	}
	while (fgets(line, sizeof(line), f)) {
		/* SigQ counts those of all processes of the user. */
		if ((!strncmp(line, "Sig", 3) && line[3] != 'Q') || !strncmp(line, "Cap", 3) ||
		    !strncmp(line, "NoNewPrivs", 10))
			fputs(line, stdout);
	}
	fclose(f);
	closedir(d);
	f = fopen("/proc/self/limits", "re");
	while (fgets(line, sizeof(line), f))
		fputs(line, stdout);
	fclose(f);
	printf("pgrp %d sid %d umask %o nice %d death %s\n", getpgrp(), getsid(0), umask(0),
	       nice(0), getenv("PEAKPHASE_TEST"));
	return 0;
}

static void nothing_of_ours_goes_with_it(void **state)
{
	char plain[8192], traced[8192];
	struct command_inherit in;
	struct rlimit more;
	struct capture cap;
	struct command *c;
	sigset_t set;
	int status;
	pid_t pid;

	(void)state;
	setenv("PEAKPHASE_TEST", "here", 1);
	signal(SIGUSR2, SIG_IGN); /* what was ignored at the start stays so, as under nohup */
	capture_begin(&cap, STDOUT_FILENO);
	pid = fork();
	if (!pid) {
		execl(self, self, "--look", NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	capture_end(&cap, plain, sizeof(plain));
	assert_int_equal(status, 0);

	command_inherit_save(&in);
	/* All that a tracer may do to itself before it spawns. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGUSR2, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	more = in.files;
	more.rlim_cur--;
	setrlimit(RLIMIT_NOFILE, &more);
	capture_begin(&cap, STDOUT_FILENO);
	assert_int_equal(command_spawn(&c,
				       &(struct command_options){
					   .argv = (char *[]){self, "--look", NULL},
					   .inherit = &in,
				       }),
			 0);
	/* And what it does afterwards. */
	assert_int_equal(command_signal_setup(c), 0);
	assert_int_equal(command_start(c, &status), 0);
	assert_int_equal(command_reap(c, &status), 0);
	capture_end(&cap, traced, sizeof(traced));
	command_free(&c);
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	setrlimit(RLIMIT_NOFILE, &in.files);
	assert_int_equal(status, 0);
	assert_non_null(strstr(plain, "death here"));
	assert_string_equal(traced, plain);
}

static void pidfd_tells_the_end(void **state)
{
	struct command *c = spawn((char *[]){"sh", "-c", "sleep 0.1", NULL}, NULL);
	struct pollfd p = {.fd = command_pidfd(c), .events = POLLIN};
	int status;

	(void)state;
	assert_int_equal(getpgid(command_pid(c)), getpgrp());
	assert_true(fcntl(p.fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(command_start(c, &status), 0);
	assert_int_equal(poll(&p, 1, 0), 0);
	assert_int_equal(poll(&p, 1, 5000), 1);
	assert_int_equal(command_reap(c, &status), 0);
	assert_int_equal(status, 0);
	command_free(&c);
}

static void other_users(void **state)
{
	char text[1024];
	struct capture cap;
	struct command *c = NULL;
	struct command_options o = {.argv = (char *[]){"true", NULL}, .user = "no such user"};
	int status;

	(void)state;
	capture_begin(&cap, STDERR_FILENO);
	assert_int_equal(command_spawn(&c, &o), -EINVAL);
	assert_null(c);
	if (geteuid() != 0) {
		o.user = "root";
		assert_int_equal(command_spawn(&c, &o), -EPERM);
	}
	capture_end(&cap, text, sizeof(text));
	assert_non_null(strstr(text, "there is no such user"));
	if (geteuid() != 0)
		return;
	capture_begin(&cap, STDOUT_FILENO);
	status = run((char *[]){"sh", "-c",
				"id -u; id -ru; id -gn; id -Gn; echo $USER $LOGNAME $HOME; "
				"grep CapEff /proc/self/status",
				NULL},
		     "nobody");
	capture_end(&cap, text, sizeof(text));
	assert_int_equal(status, 0);
	assert_string_equal(text, "65534\n65534\nnogroup\nnogroup\nnobody nobody /nonexistent\n"
				  "CapEff:\t0000000000000000\n");
	/* The same by number. */
	capture_begin(&cap, STDOUT_FILENO);
	assert_int_equal(run((char *[]){"id", "-u", NULL}, "65534"), 0);
	capture_end(&cap, text, sizeof(text));
	assert_string_equal(text, "65534\n");
}

static void looks_up_names(void **state)
{
	char out[PATH_MAX];

	(void)state;
	assert_int_equal(command_lookup("sh", "/nonexistent:/bin", out), 0);
	assert_string_equal(out, "/bin/sh");
	assert_int_equal(command_lookup("/bin/sh", "", out), 0);
	assert_string_equal(out, "/bin/sh");
	assert_int_equal(command_lookup("passwd", "/etc", out), -EACCES);
	assert_int_equal(command_lookup("no-such-command", "/bin::/etc", out), -ENOENT);
	assert_int_equal(command_lookup("", "/bin", out), -ENOENT);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(statuses),
	    cmocka_unit_test(failures_to_execute),
	    cmocka_unit_test(waits_at_the_gate),
	    cmocka_unit_test(freed_at_the_gate),
	    cmocka_unit_test(tracer_dies),
	    cmocka_unit_test(nothing_of_ours_goes_with_it),
	    cmocka_unit_test(pidfd_tells_the_end),
	    cmocka_unit_test(other_users),
	    cmocka_unit_test(looks_up_names),
	};
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n < 0)
		return 1;
	self[n] = '\0';
	(void)argv;
	if (argc > 1)
		return look();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
