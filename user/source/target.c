/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "source/target.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/say.h"
#include "lib/text.h"
#include "resolve/proc.h"
#include "source/session.h"
#include "source/target_container.h"

/* Can pid be traced? 0, or said and -errno. A thread's id stands for its process. */
static int find_pid(struct target *t)
{
	struct proc_status st;
	pid_t tgid = t->pid;

	switch (proc_kind("/proc", t->pid, &tgid)) {
	case PROC_GONE:
		say_error("there is no process %d", t->pid);
		say_remedy("`pgrep -a NAME` lists processes by name");
		return -ESRCH;
	case PROC_ZOMBIE:
		say_error("process %d has ended already: its parent has not collected it", t->pid);
		say_remedy("trace the program from its start: peakphase run -- COMMAND");
		return -ESRCH;
	case PROC_KERNEL:
		say_error("%d is a kernel thread: it has no memory of its own", t->pid);
		say_remedy("give the pid of a program");
		return -EINVAL;
	case PROC_THREAD:
	case PROC_USER:
		break;
	}
	if (tgid != t->pid) {
		say_info("%d is a thread of process %d: tracing the process", t->pid, tgid);
		t->pid = tgid;
	}
	if (tgid == getpid()) {
		say_error("%d is this tracer itself", tgid);
		say_remedy("give the pid of another program");
		return -EINVAL;
	}
	if (!proc_status("/proc", tgid, &st) && st.tracer)
		say_info(
		    "process %d is also traced by process %u (a debugger?): while that one stops it, nothing happens in it",
		    tgid, st.tracer);
	snprintf(t->name, sizeof(t->name), "pid-%d", tgid);
	t->found = true;
	return 0;
}

/* The kernel keeps 15 bytes of a program's name. */
static bool has_comm(pid_t pid, const char *name)
{
	char comm[PROC_COMM_MAX + 1];
	struct proc_stat st;

	if (proc_comm("/proc", pid, comm) || strncmp(comm, name, 15) != 0 || pid == getpid())
		return false;
	return !proc_stat("/proc", pid, &st) && !st.kernel_thread && st.state != 'Z';
}

static int each_of_comm(const char *name, int (*fn)(void *, pid_t), void *ctx)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	int err = 0;

	if (!d)
		return -errno;
	while (!err && (e = readdir(d))) {
		pid_t pid = isdigit((unsigned char)e->d_name[0]) ? (pid_t)atoi(e->d_name) : 0;

		if (pid && has_comm(pid, name))
			err = fn(ctx, pid);
	}
	closedir(d);
	return err;
}

static int one_is_enough(void *ctx, pid_t pid)
{
	(void)ctx;
	return pid;
}

static int find_comm(struct target *t, bool wait)
{
	int found = each_of_comm(t->text, one_is_enough, NULL);
	char shown[128];

	text_escape(shown, sizeof(shown), t->text, strlen(t->text));
	if (found < 0) {
		say_error("cannot look for processes: %s", strerror(-found));
		return found;
	}
	snprintf(t->name, sizeof(t->name), "%s", t->text);
	t->found = found > 0;
	if (found || wait)
		return 0;
	say_error("no process is called %s", shown);
	say_remedy("`ps -eo comm` shows names; --wait waits until there is one");
	return -ESRCH;
}

static int find_cgroup(struct target *t, bool wait)
{
	int err = cgroup_place_find("/proc", "", t->text, &t->place);
	char shown[256];

	t->found = t->whole = !err;
	snprintf(t->name, sizeof(t->name), "%s", t->text);
	if (!err || (err == -ENOENT && wait))
		return 0;
	text_escape(shown, sizeof(shown), t->text, strlen(t->text));
	if (err == -EINVAL) {
		say_error("not a cgroup: %s", *shown ? shown : "(an empty name)");
		say_remedy("give its folder, or its path as in /proc/PID/cgroup, without \"..\"");
		return err;
	}
	if (err == -ENOENT) {
		say_error("there is no cgroup %s", shown);
		say_remedy(
		    "`cat /proc/PID/cgroup` shows those of a process; --wait waits until it is there");
		return err;
	}
	say_error("cannot look at the cgroup %s: %s", shown, strerror(-err));
	return err;
}

int target_find(struct target *t, bool wait)
{
	t->found = t->whole = false;
	switch (t->kind) {
	case TARGET_PID:
		return find_pid(t);
	case TARGET_COMM:
		return find_comm(t, wait);
	case TARGET_CONTAINER:
		return target_find_container(t, wait);
	case TARGET_CGROUP:
		return find_cgroup(t, wait);
	}
	return -EINVAL;
}

int target_await(const struct target *t, struct session *s)
{
	char folder[CGROUP_FOLDER_MAX];
	struct cgroup_place p;
	int err = 0;

	if (t->kind == TARGET_CGROUP) {
		if (cgroup_place_expect("/proc", "", t->text, &p))
			return 0;
		return session_await_cgroup(s, p.hierarchy, p.path, false);
	}
	if (t->kind != TARGET_CONTAINER || !t->id[0] || cgroup_place_find("/proc", "", "/", &p))
		return 0;
	for (unsigned int i = 0; !err && cgroup_container_folder(t->id, i, folder); i++)
		err = session_await_cgroup(s, p.hierarchy, folder, true);
	return err;
}

int target_each_process(const struct target *t, int (*fn)(void *, pid_t), void *ctx)
{
	if (!t->found)
		return -ENOENT;
	if (t->whole)
		return cgroup_each_process("/proc", t->place.dir, fn, ctx);
	if (t->kind == TARGET_COMM)
		return each_of_comm(t->text, fn, ctx);
	return fn(ctx, t->pid);
}
