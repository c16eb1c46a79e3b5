/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Processes that share one address space.
 *
 *   sharers sibling [FILE]     the first process holds 20 MiB and ends with status 3; its sibling
 *                              (CLONE_VM) goes on and touches 100 MiB more, in the span `left`
 *   sharers pair FILE          both stay: after FILE is there, 10 MiB by the first, 30 by the other
 *   sharers vfork ARGV…        20 MiB, a mark; a vfork child touches 30, marks, and becomes ARGV;
 *                              another mark, status 4
 *   sharers orphan ARGV…       the vfork child kills its parent, touches 50 MiB, and becomes ARGV
 *   sharers leader [FILE]      the first thread ends; another, after FILE is there, takes 20 MiB in
 *                              the span `thread`, and ends the process
 *   sharers threadexec ARGV…   another thread takes 20 MiB there, and becomes ARGV
 *   sharers many N ARGV…       N siblings at once, up to 32, which become ARGV one after the other
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "work.h"

struct sibling {
	pid_t parent;
	const char *go;
};

static char stack[256 << 10] __attribute__((aligned(16)));

static pid_t share(int (*fn)(void *), void *arg, int flags)
{
	pid_t pid = clone(fn, stack + sizeof(stack), CLONE_VM | SIGCHLD | flags, arg);

	if (pid < 0)
		die("clone");
	return pid;
}

/* Not getppid(): whoever takes orphans in may do so late. */
static void wait_for_end_of(pid_t pid)
{
	for (int i = 0; i < 2000 && !kill(pid, 0); i++)
		sleep_ms(5);
}

static int outlive(void *arg)
{
	struct sibling *s = arg;
	uint64_t token;

	wait_for_end_of(s->parent);
	if (s->go)
		wait_file(s->go);
	token = log_rss_begin("left");
	hog(100 * MIB, MADV_NOHUGEPAGE);
	log_rss_end(token);
	_exit(7);
}

static int second_of_pair(void *arg)
{
	struct sibling *s = arg;
	uint64_t token;

	wait_file(s->go);
	token = log_rss_begin("second");
	hog(30 * MIB, MADV_NOHUGEPAGE);
	log_rss_end(token);
	_exit(0);
}

static int become(void *arg)
{
	char **argv = arg;

	hog(30 * MIB, MADV_NOHUGEPAGE);
	log_rss("in the child");
	execv(argv[0], argv);
	die(argv[0]);
}

static int orphan(void *arg)
{
	char **argv = arg;
	pid_t parent = getppid();

	kill(parent, SIGKILL);
	wait_for_end_of(parent);
	hog(50 * MIB, MADV_NOHUGEPAGE);
	execv(argv[0], argv);
	die(argv[0]);
}

static int run_pair(const char *go)
{
	struct sibling s = {.go = go};
	pid_t pid = share(second_of_pair, &s, 0);
	uint64_t token;
	int status;

	say("second %d\n", pid);
	wait_file(go);
	token = log_rss_begin("first");
	hog(10 * MIB, MADV_NOHUGEPAGE);
	log_rss_end(token);
	if (waitpid(pid, &status, 0) != pid)
		die("waitpid");
	return 0;
}

#define MANY 32

struct one_of_many {
	char **argv;
	int number;
};

static volatile int turn = -1;

static int become_in_turn(void *arg)
{
	struct one_of_many *one = arg;

	while (turn != one->number)
		sleep_ms(1);
	execv(one->argv[0], one->argv);
	die(one->argv[0]);
}

static int run_many(int n, char **argv)
{
	struct one_of_many all[MANY];
	pid_t pids[MANY];

	for (int i = 0; i < n && i < MANY; i++) {
		all[i] = (struct one_of_many){argv, i};
		pids[i] = clone(become_in_turn, stack + (size_t)(i + 1) * (sizeof(stack) / MANY),
				CLONE_VM | SIGCHLD, &all[i]);
		if (pids[i] < 0)
			die("clone");
	}
	for (turn = 0; turn < n && turn < MANY; turn++)
		if (waitpid(pids[turn], NULL, 0) < 0)
			die("waitpid");
	return 0;
}

static void *thread(void *arg)
{
	char **argv = arg;
	uint64_t token;

	if (!strcmp(argv[1], "leader")) {
		sleep_ms(100);
		say("there\n");
		if (argv[2])
			wait_file(argv[2]);
	}
	token = log_rss_begin("thread");
	hog(20 * MIB, MADV_NOHUGEPAGE);
	log_rss_end(token);
	if (!strcmp(argv[1], "leader"))
		exit(0);
	execv(argv[2], argv + 2);
	die(argv[2]);
}

static void run_thread(char **argv)
{
	pthread_t t;

	errno = pthread_create(&t, NULL, thread, argv);
	if (errno)
		die("pthread_create");
	if (!strcmp(argv[1], "leader"))
		syscall(SYS_exit, 0);
	pause();
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	struct sibling s = {.parent = getpid(), .go = argc > 2 ? argv[2] : NULL};
	int status;

	settle();
	if (!strcmp(mode, "sibling")) {
		hog(20 * MIB, MADV_NOHUGEPAGE);
		share(outlive, &s, 0);
		_exit(3);
	}
	if (!strcmp(mode, "leader") || (!strcmp(mode, "threadexec") && argc > 2))
		run_thread(argv);
	if (!strcmp(mode, "pair") && argc == 3)
		return run_pair(argv[2]);
	if (!strcmp(mode, "many") && argc > 3)
		return run_many(atoi(argv[2]), argv + 3);
	if (!strcmp(mode, "vfork") && argc > 2) {
		hog(20 * MIB, MADV_NOHUGEPAGE);
		log_rss("before");
		if (waitpid(share(become, argv + 2, CLONE_VFORK), &status, 0) < 0)
			die("waitpid");
		log_rss("after");
		return 4;
	}
	if (!strcmp(mode, "orphan") && argc > 2) {
		hog(20 * MIB, MADV_NOHUGEPAGE);
		share(orphan, argv + 2, CLONE_VFORK);
		return 9;
	}
	return 2;
}
