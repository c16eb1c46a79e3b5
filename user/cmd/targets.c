/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/targets.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/say.h"
#include "lib/text.h"
#include "resolve/proc.h"
#include "source/find.h"
#include "source/target.h"

/* A container's first marks should be heard when it starts again; a look costs a few ms. */
#define LOOK_NS 100000000ull
/* Children of what is not followed yet come until none is new: a storm of them may go on for ever.
 */
#define ROUNDS_MAX 64

struct targets {
	bool wait;
	uint64_t looked_ns;
	unsigned int n;
	struct target v[];
};

/* One reading of the processes. */
struct taking {
	struct session *s;
	unsigned int fresh;
};

bool targets_in_cgroups(const struct trace_options *opt)
{
	for (unsigned int i = 0; i < opt->nnamed; i++)
		if (opt->named[i].kind != TARGET_COMM)
			return true;
	return false;
}

int targets_open(struct targets **out, const struct trace_options *opt)
{
	unsigned int n = opt->npids + opt->nnamed;
	struct targets *t = calloc(1, sizeof(*t) + n * sizeof(t->v[0]));
	int err = t ? 0 : -ENOMEM;

	for (unsigned int i = 0; t && i < opt->npids; i++)
		t->v[t->n++] = (struct target){.kind = TARGET_PID, .pid = opt->pid[i]};
	for (unsigned int i = 0; t && i < opt->nnamed; i++)
		t->v[t->n++] =
		    (struct target){.kind = opt->named[i].kind, .text = opt->named[i].text};
	for (unsigned int i = 0; t && i < t->n && !err; i++)
		err = target_find(&t->v[i], opt->wait);
	if (err) {
		free(t);
		return err;
	}
	t->wait = opt->wait;
	*out = t;
	return 0;
}

void targets_close(struct targets **t)
{
	free(*t);
	*t = NULL;
}

const char *targets_name(const struct targets *t)
{
	return t->v[0].text ? t->v[0].text : t->v[0].name;
}

static int probe(void *ctx, const char *path)
{
	session_probe(ctx, path);
	return 0;
}

static int take(void *ctx, pid_t pid)
{
	struct taking *k = ctx;
	int err;

	/* Of this very tracer nobody wants to know. */
	if (pid == getpid())
		return 0;
	err = session_watch(k->s, pid);
	if (err == -EEXIST || err == -ESRCH)
		return 0;
	if (err)
		return err;
	find_in_process("/proc", pid, probe, k->s);
	k->fresh++;
	return 0;
}

static int watch_cgroups(const struct targets *t, struct session *s)
{
	int err = 0;

	for (unsigned int i = 0; i < t->n && !err; i++) {
		const struct target *one = &t->v[i];

		if (t->wait)
			err = target_await(one, s);
		if (!err && one->found && one->whole)
			err = session_watch_cgroup(s, one->place.hierarchy, one->place.id);
	}
	return err;
}

/*
 * Who comes into a cgroup is told by the kernel from the watch on. Who is there already is read;
 * and read again, since a process that is read but not followed yet may fork.
 */
int targets_take_in(struct targets *t, struct session *s)
{
	struct taking k = {.s = s};
	int err;

	/* Each start of a container makes a cgroup anew: after a thousand the table is full of old
	 * ones. */
	if (watch_cgroups(t, s) == -E2BIG)
		session_forget_cgroups(s);
	err = watch_cgroups(t, s);
	for (int round = 0; !err && round < ROUNDS_MAX && (!round || k.fresh); round++) {
		k.fresh = 0;
		for (unsigned int i = 0; i < t->n && !err; i++) {
			err = target_each_process(&t->v[i], take, &k);
			if (err == -ENOENT)
				err = 0; /* gone */
		}
		if (!err && k.fresh)
			err = session_adopt(s);
	}
	session_forget_ended(s);
	if (err == -E2BIG) {
		say_error("there are more processes than can be traced at once");
		say_remedy("--processes N makes room for N");
	} else if (err) {
		say_error("cannot take in the processes: %s", strerror(-err));
	}
	return err;
}

/* A security module may hide a process from BPF, and leave it in /proc. */
static bool lives(pid_t pid)
{
	struct proc_stat st;

	return !proc_stat("/proc", pid, &st) && !st.exiting && st.state != 'Z' && st.state != 'X';
}

int targets_say_none(const struct targets *t)
{
	const struct target *first = &t->v[0];
	char shown[256];

	text_escape(shown, sizeof(shown), first->name, strlen(first->name));
	switch (first->kind) {
	case TARGET_PID:
		if (lives(first->pid))
			say_error(
			    "process %d cannot be traced: it is there, but this kernel does not show it to BPF",
			    first->pid);
		else
			say_error("process %d ended before it could be traced", first->pid);
		break;
	case TARGET_COMM:
		say_error("%s ended before it could be traced", shown);
		break;
	case TARGET_CONTAINER:
		say_error("the container %s ended before it could be traced", shown);
		break;
	case TARGET_CGROUP:
		say_error("no process is in the cgroup %s", shown);
		say_remedy("--wait waits for the first one");
		return -ESRCH;
	}
	if (first->kind == TARGET_PID)
		say_remedy("trace the program from its start: peakphase run -- COMMAND");
	else
		say_remedy("--wait waits for the next one");
	return -ESRCH;
}

/* Is the cgroup that was found still that cgroup? One of the same name has another number. */
static bool stands(const struct target *t)
{
	struct stat st;

	return t->found && t->whole && !stat(t->place.dir, &st) && st.st_ino == t->place.id;
}

int targets_poll(struct targets *t, struct session *s)
{
	bool joins = session_facts(s)->joins, look = false;
	uint64_t now = clock_mono_ns();

	if (now - t->looked_ns < LOOK_NS)
		return 0;
	t->looked_ns = now;
	for (unsigned int i = 0; i < t->n; i++) {
		struct target *one = &t->v[i];

		if (one->kind == TARGET_PID)
			continue;
		if (stands(one)) {
			look |= !joins;
			continue;
		}
		if (!t->wait)
			continue;
		/* What cannot be told apart today may be told tomorrow: it is said once. */
		if (!target_find(one, true) && one->found)
			look = true;
	}
	return look ? targets_take_in(t, s) : 0;
}
