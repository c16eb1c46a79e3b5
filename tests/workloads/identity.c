/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All that a program inherits, as text: two runs are compared line by line, traced and not. What
 * differs between any two runs (pids, times, counters) is left out.
 */
#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "work.h"

static void print_status(void)
{
	static const char *const keys[] = {
	    "Umask:",	"TracerPid:",  "Uid:",	   "Gid:",	   "Groups:",
	    "Threads:", "SigPnd:",     "ShdPnd:",  "SigBlk:",	   "SigIgn:",
	    "SigCgt:",	"CapInh:",     "CapPrm:",  "CapEff:",	   "CapBnd:",
	    "CapAmb:",	"NoNewPrivs:", "Seccomp:", "Cpus_allowed:"};
	FILE *f = fopen("/proc/self/status", "re");
	char line[4096];

	if (!f)
		die("status");
	while (fgets(line, sizeof(line), f))
		for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
			if (!strncmp(line, keys[i], strlen(keys[i])))
				printf("status %s", line);
	fclose(f);
}

static void print_file(const char *path)
{
	FILE *f = fopen(path, "re");
	char line[4096];

	if (!f)
		return;
	while (fgets(line, sizeof(line), f))
		printf("%s: %s%s", path, line, strchr(line, '\n') ? "" : "\n");
	fclose(f);
}

static void print_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	char path[300], target[4096];
	struct dirent *e;

	if (!d)
		die("/proc/self/fd");
	while ((e = readdir(d))) {
		ssize_t n;

		if (e->d_name[0] == '.' || atoi(e->d_name) == dirfd(d))
			continue;
		snprintf(path, sizeof(path), "/proc/self/fd/%s", e->d_name);
		n = readlink(path, target, sizeof(target));
		printf("fd %s → %.*s flags %x %x\n", e->d_name, (int)(n < 0 ? 0 : n), target,
		       (unsigned int)fcntl(atoi(e->d_name), F_GETFL),
		       (unsigned int)fcntl(atoi(e->d_name), F_GETFD));
	}
	closedir(d);
}

static void print_process(void)
{
	int v = 0;

	prctl(PR_GET_PDEATHSIG, &v);
	printf("pdeathsig %d\n", v);
	prctl(PR_GET_CHILD_SUBREAPER, &v);
	printf("subreaper %d\n", v);
	printf("dumpable %d\n", prctl(PR_GET_DUMPABLE));
	printf("timerslack %d\n", prctl(PR_GET_TIMERSLACK));
	printf("thp disabled %d\n", prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0));
	printf("personality %x\n", (unsigned int)personality(0xffffffff));
	printf("nice %d scheduler %d\n", getpriority(PRIO_PROCESS, 0), sched_getscheduler(0));
	/* The group that the terminal's signals go to must be the same one as without a tracer. */
	printf("session and group as the parent's: %d %d\n", getsid(0) == getsid(getppid()),
	       getpgrp() == getpgid(getppid()));
	for (int s = 1; s < NSIG; s++) {
		struct sigaction sa;

		if (!sigaction(s, NULL, &sa) && sa.sa_handler != SIG_DFL)
			printf("signal %d %s\n", s,
			       sa.sa_handler == SIG_IGN ? "ignored" : "caught");
	}
}

int main(int argc, char **argv, char **envp)
{
	char cwd[4096];

	for (int i = 0; i < argc; i++)
		printf("argv %d %s\n", i, argv[i]);
	for (int i = 0; envp[i]; i++)
		printf("env %s\n", envp[i]);
	printf("cwd %s\n", getcwd(cwd, sizeof(cwd)) ? cwd : "?");
	print_status();
	print_file("/proc/self/limits");
	print_file("/proc/self/cgroup");
	print_file("/proc/self/oom_score_adj");
	print_file("/proc/self/coredump_filter");
	print_file("/proc/self/timers");
	print_fds();
	print_process();
	return 0;
}
