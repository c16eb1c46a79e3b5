/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whom a session follows, and the code that they map. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

#include "lib/say.h"
#include "logic.h"
#include "source/session_iter.h"
#include "source/session_own.h"
#include "source/session_pid.h"

/* Any thread. */
static int global_pid(struct session *s, pid_t pid, uint32_t *tgid)
{
	int err;

	pthread_mutex_lock(&s->lock);
	err = session_pid_global(s->skel, pid, tgid);
	pthread_mutex_unlock(&s->lock);
	return err;
}

/* -ESRCH: it is not followed. */
static int find_proc(struct session *s, pid_t pid, struct proc_state *v)
{
	uint32_t key;
	int err = global_pid(s, pid, &key);

	if (err)
		return err;
	if (bpf_map_lookup_elem(bpf_map__fd(s->skel->maps.procs), &key, v))
		return errno == ENOENT ? -ESRCH : -errno;
	return 0;
}

static bool has_ended(const struct session *s, pid_t pid)
{
	return __atomic_load_n(&s->skel->bss->left[pid & (LEFT - 1)], __ATOMIC_ACQUIRE) ==
	       (uint32_t)pid;
}

/*
 * What is not exec'ed yet is traced too: its program is mapped before that is told. And what ended
 * meanwhile: in this order, it is in the second table before it leaves the first.
 */
static bool was_traced(void *ctx, pid_t pid)
{
	struct session *s = ctx;
	struct proc_state v;

	return find_proc(s, pid, &v) == 0 || has_ended(s, pid);
}

void session_open_late(struct session *s)
{
	struct late_options opt = {
	    .probes = s->probes,
	    .code_ring = -1,
	    .traced = was_traced,
	    .ctx = s,
	};
	int err;

	/* Before 6.2 threads count faults for themselves first: no event tells of a first page. */
	if (s->facts.counters == SESSION_COUNTERS_PERCPU)
		opt.code_ring = bpf_map__fd(s->skel->maps.ring_code);
	err = late_open(&s->late, &opt);
	if (!err)
		return;
	say_warning("cannot see what is mapped later: %s: its marks may be missing",
		    strerror(-err));
	say_remedy("perf_event_open(2) must be allowed (seccomp, CAP_PERFMON)");
}

int session_watch(struct session *s, pid_t pid)
{
	struct proc_state v = {.slot = NO_SLOT};
	uint32_t key;
	int err = global_pid(s, pid, &key);

	if (err)
		return err;
	if (bpf_map_update_elem(bpf_map__fd(s->skel->maps.procs), &key, &v, BPF_NOEXIST))
		return -errno;
	return 0;
}

int session_watch_cgroup(struct session *s, uint32_t hierarchy, uint64_t id)
{
	struct cgroup_key key = {.id = id, .hierarchy = hierarchy};
	uint32_t one = 1;

	if (bpf_map_update_elem(bpf_map__fd(s->skel->maps.cgroups), &key, &one, BPF_ANY))
		return -errno;
	return 0;
}

void session_forget_cgroups(struct session *s)
{
	int fd = bpf_map__fd(s->skel->maps.cgroups);
	struct cgroup_key key;

	while (!bpf_map_get_next_key(fd, NULL, &key) && !bpf_map_delete_elem(fd, &key))
		;
}

int session_await_cgroup(struct session *s, uint32_t hierarchy, const char *path, bool by_name)
{
	struct awaited_key key = {.hash = PP_HASH_INIT, .hierarchy = hierarchy, .by_name = by_name};
	uint32_t one = 1;

	if (!s->facts.joins)
		return 0;
	for (const char *c = path; *c; c++)
		key.hash = hash_byte(key.hash, (uint8_t)*c);
	if (bpf_map_update_elem(bpf_map__fd(s->skel->maps.awaited), &key, &one, BPF_ANY))
		return -errno;
	return 0;
}

int session_follows(struct session *s, pid_t pid)
{
	struct proc_state v;
	int err = find_proc(s, pid, &v);

	if (err)
		return err == -ESRCH ? 0 : err;
	return v.slot != NO_SLOT;
}

void session_listen(struct session *s)
{
	int err = s->late ? late_start(s->late) : 0;

	if (err)
		say_warning("cannot look at what is mapped later: %s: its marks may be missing",
			    strerror(-err));
}

bool session_listens(const struct session *s)
{
	return s->late != NULL;
}

void session_look(struct session *s, pid_t pid, uint64_t from_ns)
{
	if (s->late)
		late_look(s->late, pid, from_ns);
}

uint64_t session_unseen(const struct session *s)
{
	return s->late ? late_lost(s->late) : 0;
}

int session_adopt(struct session *s)
{
	return session_iter(s->skel->progs.adopt_running, 0);
}

void session_forget_ended(struct session *s)
{
	int fd = bpf_map__fd(s->skel->maps.procs);
	uint32_t key, next;
	struct proc_state v;
	bool more;

	for (more = !bpf_map_get_next_key(fd, NULL, &key); more; key = next) {
		/* Before it goes: after it, the kernel would begin from the first again. */
		more = !bpf_map_get_next_key(fd, &key, &next);
		if (!bpf_map_lookup_elem(fd, &key, &v) && v.slot == NO_SLOT)
			bpf_map_delete_elem(fd, &key);
	}
}

bool session_follows_any(struct session *s)
{
	uint32_t key;

	return !bpf_map_get_next_key(bpf_map__fd(s->skel->maps.procs), NULL, &key);
}
