/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "source/session_load.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/say.h"
#include "shared.h"
#include "peakphase.skel.h"
#include "source/session_output.h"
#include "source/session_pid.h"
#include "source/session_spans.h"
#include "source/unpreempted.h"

#define DEFAULT_MMS 4096u
/* 90,000 marks: as many as a flat-out loop makes in the time that a busy machine may keep us
 * waiting. */
#define DEFAULT_RING_EDGES (32u << 20)
#define DEFAULT_RING_SAMPLES (1u << 20)
#define DEFAULT_RING_FAULTS (4u << 20)
/* TASK_RSS_EVENTS_THRESH of mm/memory.c before 6.2: faults that a thread counts for itself first.
 */
#define CACHED_FAULTS 64u

/* libbpf's own words only when asked for: an error of ours says what and the remedy. */
static int print_libbpf(enum libbpf_print_level level, const char *fmt, va_list args)
{
	const char *debug = getenv("PEAKPHASE_DEBUG");

	if (!debug || (level == LIBBPF_DEBUG && strcmp(debug, "2") != 0))
		return 0;
	return vfprintf(stderr, fmt, args);
}

static int set_sizes(struct peakphase *skel, const struct session_options *opt,
		     const struct session_facts *facts)
{
	uint32_t mms = opt->mms ? opt->mms : DEFAULT_MMS, page = facts->page_size;
	uint32_t edges = session_ring_size(opt->ring_edges, DEFAULT_RING_EDGES, page);
	uint64_t rows = (uint64_t)mms * facts->cpus;
	int err;

	if (rows > UINT32_MAX)
		return -E2BIG;
	err = bpf_map__set_max_entries(skel->maps.mms, mms);
	err = err ? err : bpf_map__set_max_entries(skel->maps.states, mms);
	err = err ? err : bpf_map__set_max_entries(skel->maps.free_slots, mms);
	err = err ? err : bpf_map__set_max_entries(skel->maps.procs, 2 * mms);
	err = err ? err : bpf_map__set_max_entries(skel->maps.senders, 2 * mms);
	err = err ? err : bpf_map__set_max_entries(skel->maps.shadows, (uint32_t)rows);
	err = err ? err : bpf_map__set_max_entries(skel->maps.ring_edges, edges);
	err = err ? err
		  : bpf_map__set_max_entries(
			skel->maps.ring_samples,
			session_ring_size(opt->ring_samples, DEFAULT_RING_SAMPLES, page));
	err = err ? err
		  : bpf_map__set_max_entries(
			skel->maps.ring_faults,
			opt->where_every
			    ? session_ring_size(opt->ring_faults, DEFAULT_RING_FAULTS, page)
			    : page);
	err = err ? err : bpf_map__set_max_entries(skel->maps.ring_code, page);
	err = err ? err : output_sizes(skel, &opt->output, page, edges);
	skel->rodata->cfg_slots = mms;
	skel->rodata->cfg_wake_edges = edges / 8;
	return err;
}

/* The first number of pages that reaches so many bytes. */
static uint64_t pages_above(uint64_t bytes, uint32_t page)
{
	return bytes / page + (bytes % page != 0);
}

static void set_constants(struct peakphase *skel, const struct session_options *opt,
			  const struct session_facts *facts, bool nested)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	uint32_t batch = online > 16 ? 2 * (uint32_t)online : 32;

	skel->rodata->cfg_cpus = facts->cpus;
	skel->rodata->cfg_batch = batch; /* lib/percpu_counter.c: compute_batch_value() */
	skel->rodata->cfg_page_size = facts->page_size;
	skel->rodata->cfg_pages_per_mib =
	    (1u << 20) / facts->page_size ? (1u << 20) / facts->page_size : 1;
	skel->rodata->cfg_follow = !opt->no_follow;
	skel->rodata->cfg_ceiling = pages_above(opt->ceiling, facts->page_size);
	skel->rodata->cfg_headroom = opt->headroom / facts->page_size;
	skel->rodata->cfg_where_every = opt->where_every ? opt->where_every : 1;
	skel->rodata->cfg_nested = nested;
	bpf_program__set_autoload(skel->progs.find_process, nested);
	bpf_program__set_autoload(skel->progs.on_cgroup_attach, facts->joins);
	bpf_program__set_autoload(skel->progs.on_cgroup_made, facts->joins);
	either_choose(&EITHER(skel, on_exit, on_exit_unpreempted), true, facts->unpreempted);
	either_choose(&EITHER(skel, on_exec, on_exec_unpreempted), true, facts->unpreempted);
	either_choose(&EITHER(skel, on_fork, on_fork_unpreempted), true, facts->unpreempted);
	either_choose(&EITHER(skel, on_fork_into_cgroup, on_fork_into_unpreempted), opt->cgroups,
		      facts->unpreempted);
	output_constants(skel, &opt->output);
	bpf_program__set_autoload(skel->progs.on_fault_user, opt->where_every != 0);
	bpf_program__set_autoload(skel->progs.on_fault_kernel, opt->where_every != 0);
}

static void say_load_error(int err)
{
	/* EACCES is the verifier's word too, for a program that it does not like. */
	if (err == -EPERM) {
		say_error("not allowed to load BPF programs: %s", strerror(-err));
		say_remedy("run as root, or with CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE");
	} else if (err == -ESRCH || err == -ENOENT) {
		say_error("this kernel has no BTF: /sys/kernel/btf/vmlinux is missing");
		say_remedy(
		    "peakphase needs a kernel built with CONFIG_DEBUG_INFO_BTF (distributions' kernels since 5.10 are)");
	} else {
		say_error("this kernel refused peakphase's BPF programs: %s", strerror(-err));
		say_remedy(
		    "`peakphase doctor` says which and why; PEAKPHASE_DEBUG=1 shows the verifier's words");
	}
}

static int run_set_up(struct peakphase *skel, struct session_facts *facts)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	uint64_t per_cpu = 0;
	int err = bpf_prog_test_run_opts(bpf_program__fd(skel->progs.set_up), &opts);

	if (err) {
		say_error("the set-up program did not run: %s", strerror(-err));
		return err;
	}
	switch (skel->bss->setup.counters) {
	case COUNTERS_PERCPU:
		facts->counters = SESSION_COUNTERS_PERCPU;
		break;
	case COUNTERS_ATOMIC:
		facts->counters = SESSION_COUNTERS_ATOMIC;
		per_cpu = (uint64_t)CACHED_FAULTS * facts->page_size;
		break;
	default:
		say_error("this kernel counts RSS in a way that peakphase does not know");
		say_remedy("use a newer peakphase; known are the layouts of Linux 5.10 to 7.3");
		return -ENOTSUP;
	}
	facts->error_per_thread = per_cpu;
	facts->charge = skel->bss->setup.charge;
	if (facts->counters == SESSION_COUNTERS_PERCPU && skel->bss->setup.offsets != facts->cpus) {
		say_error("the areas of %u of %u CPUs could not be found",
			  facts->cpus - skel->bss->setup.offsets, facts->cpus);
		return -ENOTSUP;
	}
	return 0;
}

int session_load(const struct session_options *opt, enum probe_way way, struct peakphase **out,
		 struct session_facts *facts)
{
	int cpus = libbpf_num_possible_cpus(), err;
	struct peakphase *skel;
	bool nested;

	libbpf_set_print(print_libbpf);
	if (cpus <= 0)
		return cpus ? cpus : -EINVAL;
	err = session_pid_nested("/proc", &nested);
	if (err)
		return err;
	facts->cpus = (uint32_t)cpus;
	facts->page_size = (uint32_t)sysconf(_SC_PAGESIZE);
	/* Where the kernel has no such tracepoint, the cgroups are looked into again and again. */
	facts->joins = opt->cgroups &&
		       libbpf_find_vmlinux_btf_id("cgroup_attach_task", BPF_TRACE_RAW_TP) > 0 &&
		       libbpf_find_vmlinux_btf_id("cgroup_mkdir", BPF_TRACE_RAW_TP) > 0;
	facts->unpreempted = unpreempted_wanted();
	skel = peakphase__open();
	if (!skel) {
		err = -errno;
		say_load_error(err);
		return err;
	}
	set_constants(skel, opt, facts, nested);
	if (way == PROBE_MULTI)
		bpf_program__set_expected_attach_type(skel->progs.on_marker,
						      PROBE_MULTI_ATTACH_TYPE);
	err = set_sizes(skel, opt, facts);
	err = err ? err : session_spans_prepare(skel, opt, way, facts->unpreempted);
	if (!err) {
		err = peakphase__load(skel);
		if (err)
			say_load_error(err);
	}
	if (!err)
		err = run_set_up(skel, facts);
	if (err)
		peakphase__destroy(skel);
	else
		*out = skel;
	return err;
}

int session_attach(struct peakphase *skel, const struct session_options *opt,
		   const struct session_facts *facts)
{
	int err = session_spans_attach(skel);

	err = err ? err : either_attach(&EITHER(skel, on_exit, on_exit_unpreempted));
	err = err ? err : either_attach(&EITHER(skel, on_exec, on_exec_unpreempted));
	err = err ? err : either_attach(&EITHER(skel, on_fork, on_fork_unpreempted));
	err = err ? err : attach_one(skel->progs.on_signal, &skel->links.on_signal);
	err = err ? err : attach_one(skel->progs.on_mark_victim, &skel->links.on_mark_victim);
	err = err ? err : attach_one(skel->progs.on_rss_stat, &skel->links.on_rss_stat);
	if (facts->joins)
		err = err ? err
			  : attach_one(skel->progs.on_cgroup_attach, &skel->links.on_cgroup_attach);
	if (facts->joins)
		err =
		    err ? err : attach_one(skel->progs.on_cgroup_made, &skel->links.on_cgroup_made);
	err =
	    err ? err : either_attach(&EITHER(skel, on_fork_into_cgroup, on_fork_into_unpreempted));
	if (opt->where_every) {
		err = err ? err : attach_one(skel->progs.on_fault_user, &skel->links.on_fault_user);
		err = err ? err
			  : attach_one(skel->progs.on_fault_kernel, &skel->links.on_fault_kernel);
	}
	return err || !opt->output.piece ? err : output_attach(skel);
}
