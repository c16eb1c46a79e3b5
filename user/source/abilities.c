/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "source/abilities.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "resolve/proc.h"
#include "source/unpreempted.h"

#define MEMBERS_DEPTH 4 /* anonymous structs within structs */

/* Arguments of a tracepoint, without the context that its function gets first; -1: none. */
static int tracepoint_args(const struct btf *btf, const char *name)
{
	char full[64];
	const struct btf_type *t;
	int id;

	snprintf(full, sizeof(full), "btf_trace_%s", name);
	id = btf__find_by_name_kind(btf, full, BTF_KIND_TYPEDEF);
	if (id < 0)
		return -1;
	t = btf__type_by_id(btf, btf__type_by_id(btf, (uint32_t)id)->type);
	if (!t || !btf_is_ptr(t))
		return -1;
	t = btf__type_by_id(btf, t->type);
	return t && btf_is_func_proto(t) && btf_vlen(t) ? btf_vlen(t) - 1 : -1;
}

/* The type behind typedefs and qualifiers. */
static const struct btf_type *plain(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	while (t && (btf_is_mod(t) || btf_is_typedef(t)))
		t = btf__type_by_id(btf, t->type);
	return t;
}

/* The type of a member, also of an anonymous struct or union within. */
static const struct btf_type *member(const struct btf *btf, const struct btf_type *s,
				     const char *name, int depth)
{
	if (!s || !btf_is_composite(s) || depth > MEMBERS_DEPTH)
		return NULL;
	for (int i = 0; i < btf_vlen(s); i++) {
		const struct btf_member *m = btf_members(s) + i;
		const struct btf_type *t = plain(btf, m->type);
		const char *n = btf__name_by_offset(btf, m->name_off);

		if (n && !strcmp(n, name))
			return t;
		t = n && *n ? NULL : member(btf, t, name, depth + 1);
		if (t)
			return t;
	}
	return NULL;
}

static const struct btf_type *struct_named(const struct btf *btf, const char *name)
{
	int id = btf__find_by_name_kind(btf, name, BTF_KIND_STRUCT);

	return id < 0 ? NULL : btf__type_by_id(btf, (uint32_t)id);
}

static enum abilities_counters counters(const struct btf *btf)
{
	const struct btf_type *t = member(btf, struct_named(btf, "mm_struct"), "rss_stat", 0);
	const char *name;

	if (t && btf_is_array(t)) {
		t = plain(btf, btf_array(t)->type);
		name = t ? btf__name_by_offset(btf, t->name_off) : NULL;
		return name && !strcmp(name, "percpu_counter") ? ABILITIES_COUNTERS_PERCPU
							       : ABILITIES_COUNTERS_UNKNOWN;
	}
	t = member(btf, t, "count", 0);
	return t && btf_is_array(t) ? ABILITIES_COUNTERS_ATOMIC : ABILITIES_COUNTERS_UNKNOWN;
}

static bool enumerator(const struct btf *btf, const char *type, const char *name)
{
	int id = btf__find_by_name_kind(btf, type, BTF_KIND_ENUM);
	const struct btf_type *t = id < 0 ? NULL : btf__type_by_id(btf, (uint32_t)id);

	for (int i = 0; t && i < btf_vlen(t); i++) {
		const char *n = btf__name_by_offset(btf, btf_enum(t)[i].name_off);

		if (n && !strcmp(n, name))
			return true;
	}
	return false;
}

void abilities_btf(struct abilities_btf *t, const struct btf *btf)
{
	const struct btf_type *memory = member(btf, struct_named(btf, "mem_cgroup"), "memory", 0);

	t->rss_stat = tracepoint_args(btf, "rss_stat");
	t->exit = tracepoint_args(btf, "sched_process_exit");
	t->exec = tracepoint_args(btf, "sched_process_exec");
	t->fork = tracepoint_args(btf, "sched_process_fork");
	t->mark_victim = tracepoint_args(btf, "mark_victim");
	t->fault_user = tracepoint_args(btf, "page_fault_user");
	t->fault_kernel = tracepoint_args(btf, "page_fault_kernel");
	t->counters = counters(btf);
	t->charge = member(btf, memory, "usage", 0) && member(btf, memory, "max", 0) &&
		    member(btf, struct_named(btf, "css_set"), "subsys", 0) &&
		    member(btf, struct_named(btf, "task_struct"), "cgroups", 0) &&
		    enumerator(btf, "cgroup_subsys_id", "memory_cgrp_id");
	t->ring = enumerator(btf, "bpf_map_type", "BPF_MAP_TYPE_RINGBUF");
	t->uprobe_multi = enumerator(btf, "bpf_attach_type", "BPF_TRACE_UPROBE_MULTI");
}

static int read_below(const char *sysroot, const char *name, char *buf, size_t cap)
{
	char path[PATH_MAX];
	size_t len;

	if (snprintf(path, sizeof(path), "%s%s", sysroot, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	return proc_file(path, buf, cap, &len);
}

static int number(const char *sysroot, const char *name)
{
	char buf[32], *end;
	long v;

	if (read_below(sysroot, name, buf, sizeof(buf)))
		return ABILITIES_UNKNOWN;
	v = strtol(buf, &end, 10);
	return end == buf || v > INT_MAX || v < INT_MIN ? ABILITIES_UNKNOWN : (int)v;
}

/* "none [integrity] confidentiality": the one in force is in brackets. */
static void lockdown(struct abilities *a, const char *sysroot)
{
	char buf[128], *open, *close;

	if (read_below(sysroot, "/sys/kernel/security/lockdown", buf, sizeof(buf)))
		return;
	open = strchr(buf, '[');
	close = open ? strchr(open, ']') : NULL;
	if (close)
		snprintf(a->lockdown, sizeof(a->lockdown), "%.*s", (int)(close - open - 1),
			 open + 1);
}

static void mounts(struct abilities *a, const char *sysroot)
{
	char path[PATH_MAX], *line = NULL;
	size_t cap = 0;
	FILE *f;

	if (snprintf(path, sizeof(path), "%s/proc/self/mountinfo", sysroot) >= (int)sizeof(path))
		return;
	f = fopen(path, "re");
	while (f && getline(&line, &cap, f) > 0) {
		a->bpffs |= strstr(line, " - bpf ") != NULL;
		a->tracefs |= strstr(line, " - tracefs ") != NULL;
	}
	free(line);
	if (f)
		fclose(f);
}

static void types(struct abilities *a, const char *sysroot)
{
	char path[PATH_MAX];
	struct btf *btf;
	struct stat st;

	a->btf_error = -ENAMETOOLONG;
	if (snprintf(path, sizeof(path), "%s/sys/kernel/btf/vmlinux", sysroot) >= (int)sizeof(path))
		return;
	a->btf_error = stat(path, &st) ? -errno : 0;
	if (a->btf_error)
		return;
	a->btf_bytes = (uint64_t)st.st_size;
	btf = btf__parse(path, NULL);
	a->btf_error = (int)libbpf_get_error(btf);
	if (a->btf_error)
		return;
	abilities_btf(&a->types, btf);
	btf__free(btf);
	a->preempts = unpreempted_needed_by(path);
}

/* libbpf warns on stderr where we have words of our own. */
static int silence(enum libbpf_print_level level, const char *fmt, va_list args)
{
	(void)level;
	(void)fmt;
	(void)args;
	return 0;
}

void abilities_get(struct abilities *a, const char *sysroot)
{
	libbpf_print_fn_t print = libbpf_set_print(silence);
	char proc[PATH_MAX], path[PATH_MAX];
	int cpus = libbpf_num_possible_cpus();
	struct utsname u;

	memset(a, 0, sizeof(*a));
	if (!uname(&u)) {
		snprintf(a->release, sizeof(a->release), "%.64s", u.release);
		snprintf(a->machine, sizeof(a->machine), "%.64s", u.machine);
	}
	a->cpus = cpus > 0 ? (unsigned int)cpus : 0;
	types(a, sysroot);
	snprintf(proc, sizeof(proc), "%s/proc", sysroot);
	cgroup_mount_find(proc, sysroot, &a->cgroup);
	lockdown(a, sysroot);
	mounts(a, sysroot);
	a->unprivileged_bpf_disabled =
	    number(sysroot, "/proc/sys/kernel/unprivileged_bpf_disabled");
	a->perf_event_paranoid = number(sysroot, "/proc/sys/kernel/perf_event_paranoid");
	a->ptrace_scope = number(sysroot, "/proc/sys/kernel/yama/ptrace_scope");
	snprintf(path, sizeof(path), "%s/sys/bus/event_source/devices/uprobe/type", sysroot);
	a->uprobes = !access(path, R_OK);
	a->classic = unpreempted_allowed();
	privilege_get(&a->privilege);
	libbpf_set_print(print);
}
