/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What comes into a cgroup. Loaded only where cgroups are asked for. */
#include "cgroup.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, struct awaited_key);
	__type(value, u32);
} awaited SEC(".maps");

/* task: the leader of the process that was moved, or a single thread of it (v1, threaded v2). */
SEC("tp_btf/cgroup_attach_task")
int BPF_PROG(on_cgroup_attach, struct cgroup *cgroup, const char *path, struct task_struct *task,
	     bool whole)
{
	if (watched(cgroup))
		take_in(task, false);
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork_into_cgroup, struct task_struct *parent, struct task_struct *child)
{
	return forked_into(parent, child);
}

#define PATH_BYTES 512 /* a power of two; longer paths are left to userspace */

/*
 * Cgroups are made under the kernel's one lock for that, so this is nobody else's. Not on the
 * stack: verifiers before 6.7 take what a loop's function finds there for constants.
 */
static struct making {
	u64 path, name;
	char s[PATH_BYTES];
} making;

static long hash_next(u32 at, void *unused)
{
	u8 c = making.s[at & (PATH_BYTES - 1)];

	if (!c)
		return 1;
	making.path = hash_byte(making.path, c);
	making.name = c == '/' ? PP_HASH_INIT : hash_byte(making.name, c);
	return 0;
}

/* A container that starts: before anything can be in its cgroup. */
SEC("tp_btf/cgroup_mkdir")
int BPF_PROG(on_cgroup_made, struct cgroup *cgroup, const char *path)
{
	struct awaited_key key = {.hierarchy = BPF_CORE_READ(cgroup, root, hierarchy_id)};
	struct cgroup_key new = {.hierarchy = key.hierarchy};
	u32 one = 1;

	making.path = making.name = PP_HASH_INIT;
	if (bpf_probe_read_kernel_str(making.s, PATH_BYTES, path) >= PATH_BYTES)
		return 0;
	bpf_loop(PATH_BYTES, hash_next, NULL, 0);
	key.hash = making.path;
	if (!bpf_map_lookup_elem(&awaited, &key)) {
		key.hash = making.name;
		key.by_name = 1;
		if (!bpf_map_lookup_elem(&awaited, &key))
			return 0;
	}
	new.id = id_of_cgroup((u64)cgroup);
	bpf_map_update_elem(&cgroups, &new, &one, BPF_ANY);
	return 0;
}
