/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a kernel's types say: small kernels made here, and the one that runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <bpf/btf.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "source/abilities.h"

/* A tracepoint's typedef: pointer to a function of the context and n arguments. */
static void add_tracepoint(struct btf *b, const char *name, int n, int type)
{
	int proto = btf__add_func_proto(b, 0);
	char full[64];

	assert_true(proto > 0);
	for (int i = 0; i < n + 1; i++)
		assert_int_equal(btf__add_func_param(b, i ? "arg" : "ctx", type), 0);
	snprintf(full, sizeof(full), "btf_trace_%s", name);
	assert_true(btf__add_typedef(b, full, btf__add_ptr(b, proto)) > 0);
}

/* int, unsigned long, and the struct mm_struct of the layout asked for. */
static struct btf *kernel(enum abilities_counters layout)
{
	struct btf *b = btf__new_empty();
	int number, array, counter, stat, inner;

	assert_non_null(b);
	number = btf__add_int(b, "long", 8, BTF_INT_SIGNED);
	switch (layout) {
	case ABILITIES_COUNTERS_PERCPU:
		counter = btf__add_struct(b, "percpu_counter", 8);
		btf__add_field(b, "count", number, 0, 0);
		stat = btf__add_array(b, number, counter, 4);
		/* Since 6.x the members of mm_struct lie in an anonymous struct. */
		inner = btf__add_struct(b, NULL, 40);
		btf__add_field(b, "mmap_base", number, 0, 0);
		btf__add_field(b, "rss_stat", stat, 64, 0);
		btf__add_struct(b, "mm_struct", 40);
		btf__add_field(b, NULL, inner, 0, 0);
		break;
	case ABILITIES_COUNTERS_ATOMIC:
		array = btf__add_array(b, number, number, 4);
		stat = btf__add_struct(b, "mm_rss_stat", 32);
		btf__add_field(b, "count", array, 0, 0);
		btf__add_struct(b, "mm_struct", 32);
		btf__add_field(b, "rss_stat", stat, 0, 0);
		break;
	case ABILITIES_COUNTERS_UNKNOWN:
		btf__add_struct(b, "mm_struct", 8);
		btf__add_field(b, "rss_stat", number, 0, 0);
		break;
	}
	return b;
}

static void layouts(void **state)
{
	static const enum abilities_counters all[] = {
	    ABILITIES_COUNTERS_PERCPU, ABILITIES_COUNTERS_ATOMIC, ABILITIES_COUNTERS_UNKNOWN};
	struct abilities_btf t;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct btf *b = kernel(all[i]);

		memset(&t, 0, sizeof(t));
		abilities_btf(&t, b);
		assert_int_equal(t.counters, all[i]);
		assert_int_equal(t.rss_stat, -1);
		assert_false(t.charge);
		btf__free(b);
	}
}

static void tracepoints(void **state)
{
	struct btf *b = kernel(ABILITIES_COUNTERS_ATOMIC);
	struct abilities_btf t = {0};

	(void)state;
	add_tracepoint(b, "rss_stat", 3, 1);
	add_tracepoint(b, "sched_process_exit", 1, 1);
	add_tracepoint(b, "mark_victim", 2, 1);
	/* A struct of that name is no tracepoint. */
	btf__add_struct(b, "btf_trace_page_fault_user", 0);
	abilities_btf(&t, b);
	assert_int_equal(t.rss_stat, 3);
	assert_int_equal(t.exit, 1);
	assert_int_equal(t.mark_victim, 2);
	assert_int_equal(t.exec, -1);
	assert_int_equal(t.fault_user, -1);
	btf__free(b);
}

static void memory_controller(void **state)
{
	static const char *const part[] = {"css_set", "task_struct"};
	static const char *const field[] = {"subsys", "cgroups"};
	struct btf *b = kernel(ABILITIES_COUNTERS_PERCPU);
	struct abilities_btf t = {0};
	int counter = btf__add_struct(b, "page_counter", 16);

	(void)state;
	btf__add_field(b, "usage", 1, 0, 0);
	btf__add_field(b, "max", 1, 64, 0);
	btf__add_struct(b, "mem_cgroup", 16);
	btf__add_field(b, "memory", counter, 0, 0);
	for (size_t i = 0; i < 2; i++) {
		btf__add_struct(b, part[i], 8);
		btf__add_field(b, field[i], 1, 0, 0);
	}
	abilities_btf(&t, b);
	assert_false(t.charge); /* the controller's index is missing yet */
	btf__add_enum(b, "cgroup_subsys_id", 4);
	btf__add_enum_value(b, "memory_cgrp_id", 4);
	abilities_btf(&t, b);
	assert_true(t.charge);
	assert_false(t.uprobe_multi);
	btf__add_enum(b, "bpf_attach_type", 4);
	btf__add_enum_value(b, "BPF_TRACE_UPROBE_MULTI", 48);
	abilities_btf(&t, b);
	assert_true(t.uprobe_multi);
	btf__free(b);
}

static char root[64];

static void fill(const char *name, const void *content, size_t len)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	for (char *p = strchr(path + strlen(root) + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		mkdir(path, 0755);
		*p = '/';
	}
	f = fopen(path, "we");
	assert_non_null(f);
	assert_int_equal(fwrite(content, 1, len, f), len);
	fclose(f);
}

#define FILL(name, text) fill(name, text, sizeof(text) - 1)

static int root_begin(void **state)
{
	(void)state;
	strcpy(root, "/tmp/peakphase-abilities-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static int root_end(void **state)
{
	(void)state;
	return nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void machine_with_nothing(void **state)
{
	struct abilities a;

	(void)state;
	abilities_get(&a, root);
	assert_int_equal(a.btf_error, -ENOENT);
	assert_int_equal(a.cgroup.version, CGROUP_NONE);
	assert_string_equal(a.lockdown, "");
	assert_int_equal(a.perf_event_paranoid, ABILITIES_UNKNOWN);
	assert_int_equal(a.unprivileged_bpf_disabled, ABILITIES_UNKNOWN);
	assert_false(a.uprobes || a.bpffs || a.tracefs);
	assert_true(a.cpus > 0);
	assert_string_not_equal(a.release, "");
}

static void machine_of_files(void **state)
{
	struct btf *b = kernel(ABILITIES_COUNTERS_ATOMIC);
	struct abilities a;
	const void *raw;
	uint32_t size;

	(void)state;
	add_tracepoint(b, "rss_stat", 3, 1);
	raw = btf__raw_data(b, &size);
	fill("sys/kernel/btf/vmlinux", raw, size);
	FILL("sys/kernel/security/lockdown", "none integrity [confidentiality]\n");
	FILL("proc/sys/kernel/perf_event_paranoid", "-1\n");
	FILL("proc/sys/kernel/unprivileged_bpf_disabled", "garbage\n");
	FILL("sys/bus/event_source/devices/uprobe/type", "9\n");
	FILL("sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
	FILL("proc/self/mountinfo", "30 1 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
				    "31 1 0:31 / /sys/fs/bpf rw - bpf bpf rw\n");
	abilities_get(&a, root);
	assert_int_equal(a.btf_error, 0);
	assert_int_equal(a.btf_bytes, size);
	assert_int_equal(a.types.rss_stat, 3);
	assert_int_equal(a.types.counters, ABILITIES_COUNTERS_ATOMIC);
	assert_string_equal(a.lockdown, "confidentiality");
	assert_int_equal(a.perf_event_paranoid, -1);
	assert_int_equal(a.unprivileged_bpf_disabled, ABILITIES_UNKNOWN);
	assert_int_equal(a.cgroup.version, CGROUP_V2);
	assert_true(a.uprobes && a.bpffs);
	assert_false(a.tracefs);
	assert_false(a.preempts);
	assert_true(btf__add_struct(b, "srcu_ctr", 8) > 0);
	assert_true(btf__add_struct(b, "tracepoint_srcu_srcu_data", 8) > 0);
	raw = btf__raw_data(b, &size);
	fill("sys/kernel/btf/vmlinux", raw, size);
	abilities_get(&a, root);
	assert_true(a.preempts);
	btf__free(b);
	/* Types that are none: an error, not a crash. */
	FILL("sys/kernel/btf/vmlinux", "not BTF at all, and short");
	abilities_get(&a, root);
	assert_true(a.btf_error < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(layouts),
	    cmocka_unit_test(tracepoints),
	    cmocka_unit_test(memory_controller),
	    cmocka_unit_test_setup_teardown(machine_with_nothing, root_begin, root_end),
	    cmocka_unit_test_setup_teardown(machine_of_files, root_begin, root_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
