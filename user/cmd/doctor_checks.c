/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/doctor.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/text.h"

static void __attribute__((format(printf, 3, 4)))
say(struct doctor_finding *out, enum answer answer, const char *fmt, ...)
{
	va_list ap;

	out->answer = answer;
	va_start(ap, fmt);
	vsnprintf(out->detail, sizeof(out->detail), fmt, ap);
	va_end(ap);
}

static enum answer yes_if(bool yes)
{
	return yes ? ANSWER_YES : ANSWER_NO;
}

/* Without types nothing about them is known; one check says why. */
static bool no_types(const struct doctor_facts *f, struct doctor_finding *out)
{
	if (!f->abilities.btf_error)
		return false;
	say(out, ANSWER_UNKNOWN, "the kernel's types cannot be read");
	return true;
}

static void check_types(const struct doctor_facts *f, struct doctor_finding *out)
{
	const struct abilities *a = &f->abilities;
	char size[24];

	if (a->btf_error)
		say(out, ANSWER_NO, "/sys/kernel/btf/vmlinux: %s", strerror(-a->btf_error));
	else
		say(out, ANSWER_YES, "/sys/kernel/btf/vmlinux, %s MiB",
		    text_mib(size, (int64_t)a->btf_bytes));
}

static const char *types_remedy(const struct doctor_facts *f)
{
	(void)f;
	return "use a kernel built with CONFIG_DEBUG_INFO_BTF=y: those of Debian 11, Ubuntu 20.10, RHEL 8.2 and newer are";
}

static void check_capabilities(const struct doctor_facts *f, struct doctor_finding *out)
{
	const struct privilege *p = &f->abilities.privilege;
	char missing[256];

	if (!p->initial_userns)
		say(out, ANSWER_NO,
		    "this is a user namespace of its own: its capabilities do not count for BPF");
	else if (privilege_missing(PRIVILEGE_TRACE, missing, sizeof(missing)))
		say(out, ANSWER_NO, "missing: %s", missing);
	else
		/* Kernels differ in whether probing asks for the third: trying tells. */
		say(out, ANSWER_YES, "CAP_BPF, CAP_PERFMON%s",
		    privilege_has(p->effective, PRIVILEGE_SYS_ADMIN) ? ", CAP_SYS_ADMIN"
								     : ", but not CAP_SYS_ADMIN");
}

static const char *capabilities_remedy(const struct doctor_facts *f)
{
	return privilege_remedy(&f->abilities.privilege, f->abilities.types.uprobe_multi);
}

static void check_others(const struct doctor_facts *f, struct doctor_finding *out)
{
	char missing[256];
	int n = privilege_missing(PRIVILEGE_LOOK, missing, sizeof(missing));

	(void)f;
	if (n)
		say(out, ANSWER_NO, "missing: %s", missing);
	else
		say(out, ANSWER_YES, "programs, libraries and roots of other users' processes");
}

static void check_lockdown(const struct doctor_facts *f, struct doctor_finding *out)
{
	const char *mode = f->abilities.lockdown;

	say(out, yes_if(strcmp(mode, "confidentiality") != 0), "%s%s",
	    *mode ? "lockdown: " : "no lockdown in this kernel", mode);
}

static const char *lockdown_remedy(const struct doctor_facts *f)
{
	(void)f;
	return "boot with lockdown=integrity; it allows reading, which is all that is needed";
}

static void check_rss(const struct doctor_facts *f, struct doctor_finding *out)
{
	int n = f->abilities.types.rss_stat;

	if (no_types(f, out))
		return;
	say(out, yes_if(n >= 2),
	    n < 0 ? "kmem:rss_stat is not there" : "kmem:rss_stat, %d arguments", n);
}

static void check_counters(const struct doctor_facts *f, struct doctor_finding *out)
{
	if (no_types(f, out))
		return;
	switch (f->abilities.types.counters) {
	case ABILITIES_COUNTERS_PERCPU:
		say(out, ANSWER_YES, "per CPU (Linux 6.2 and newer): exact to the page");
		break;
	case ABILITIES_COUNTERS_ATOMIC:
		say(out, ANSWER_YES,
		    "atomic (before Linux 6.2): a thread may be up to 64 pages ahead, and every report says so");
		break;
	case ABILITIES_COUNTERS_UNKNOWN:
		say(out, ANSWER_NO,
		    "mm_struct.rss_stat has a shape that this version does not know");
		break;
	}
}

static const char *newer_kernel(const struct doctor_facts *f)
{
	(void)f;
	return "use Linux 6.1 or newer; tested are 6.1, 6.12, 6.18 and 7.3";
}

static const char *newer_tracer(const struct doctor_facts *f)
{
	(void)f;
	return "use a newer peakphase";
}

static void check_lifecycle(const struct doctor_facts *f, struct doctor_finding *out)
{
	const struct abilities_btf *t = &f->abilities.types;

	if (no_types(f, out))
		return;
	say(out, yes_if(t->fork >= 0 && t->exec >= 0 && t->exit >= 0),
	    "sched:sched_process_fork, _exec, _exit (%d argument%s)", t->exit,
	    t->exit == 1 ? "" : "s");
}

static void check_preemption(const struct doctor_facts *f, struct doctor_finding *out)
{
	const struct abilities *a = &f->abilities;

	if (a->btf_error)
		say(out, ANSWER_UNKNOWN, "needs BTF");
	else if (!a->preempts)
		say(out, ANSWER_YES, "programs on tracepoints are not preempted");
	else if (a->classic)
		say(out, ANSWER_YES, "by classic tracepoints, whose programs are not preempted");
	else
		say(out, ANSWER_NO, "programs are preempted, and classic tracepoints refused");
}

static const char *preemption_remedy(const struct doctor_facts *f)
{
	return f->abilities.tracefs
		   ? "run as root"
		   : "mount -t tracefs tracefs /sys/kernel/tracing, and run as root";
}

static void check_uprobes(const struct doctor_facts *f, struct doctor_finding *out)
{
	if (f->abilities.uprobes)
		say(out, ANSWER_YES, "CONFIG_UPROBE_EVENTS%s",
		    !f->abilities.btf_error && f->abilities.types.uprobe_multi
			? ", many in one link"
			: "");
	else
		say(out, ANSWER_NO, "/sys/bus/event_source/devices/uprobe is not there");
}

static const char *uprobes_remedy(const struct doctor_facts *f)
{
	(void)f;
	return "use a kernel built with CONFIG_UPROBE_EVENTS=y, and mount sysfs on /sys";
}

static void check_programs(const struct doctor_facts *f, struct doctor_finding *out)
{
	const struct doctor_program *bad = NULL;
	unsigned int refused = 0;

	if (!f->tried) {
		say(out, ANSWER_UNKNOWN, "not tried: not allowed to load programs");
		return;
	}
	for (unsigned int i = 0; i < f->nprograms; i++) {
		if (f->program[i].error && !f->program[i].optional) {
			bad = bad ? bad : &f->program[i];
			refused++;
		}
	}
	if (bad)
		say(out, ANSWER_NO, "%u of %u refused; %s (%s): %s%s%s", refused, f->nprograms,
		    bad->name, bad->section, strerror(-bad->error), *bad->why ? ": " : "",
		    bad->why);
	else
		say(out, ANSWER_YES, "%u loaded for real, one by one", f->nprograms);
}

static const char *programs_remedy(const struct doctor_facts *f)
{
	for (unsigned int i = 0; i < f->nprograms; i++) {
		if (f->program[i].error == -EPERM)
			return "a seccomp filter (docker run --security-opt seccomp=unconfined) or a security module forbids bpf(2)";
	}
	return "send the output of `PEAKPHASE_DEBUG=1 peakphase run -- true` with a bug report";
}

static void check_site(const struct doctor_facts *f, struct doctor_finding *out)
{
	const struct probe_calibration *c = &f->calibration;

	if (!f->tried)
		say(out, ANSWER_UNKNOWN, "not tried: not allowed to load programs");
	else if (f->calibration_error)
		say(out, ANSWER_NO, "no site of the marker can be probed: %s",
		    strerror(-f->calibration_error));
	else
		say(out, ANSWER_YES, "%s%s", probe_site_name(c->site),
		    c->site == PROBE_NOP1 ? ": a trap for each mark" : ": becomes a call, no trap");
}

static const char *site_remedy(const struct doctor_facts *f)
{
	if (f->calibration_error == -EACCES || f->calibration_error == -EPERM)
		return "give it CAP_SYS_ADMIN: kernels without multi links (before 6.6) ask it for uprobes";
	return uprobes_remedy(f);
}

static void check_faults(const struct doctor_facts *f, struct doctor_finding *out)
{
	const struct abilities_btf *t = &f->abilities.types;

	if (no_types(f, out))
		return;
	if (t->fault_user >= 0 && t->fault_kernel >= 0)
		say(out, ANSWER_YES, "exceptions:page_fault_user, page_fault_kernel");
	else
		say(out, ANSWER_NO, "no exceptions:page_fault_* on %s", f->abilities.machine);
}

static const char *faults_remedy(const struct doctor_facts *f)
{
	(void)f;
	return "none on this architecture (x86 and RISC-V have them); leave --where away";
}

static void check_memory_cgroup(const struct doctor_facts *f, struct doctor_finding *out)
{
	const struct cgroup_mount *m = &f->abilities.cgroup;
	char dir[PATH_MAX];

	text_escape(dir, sizeof(dir) < 256 ? sizeof(dir) : 256, m->dir, strlen(m->dir));
	switch (m->version) {
	case CGROUP_V1:
		say(out, ANSWER_YES, "version 1%s, on %s", m->hybrid ? " (hybrid)" : "", dir);
		break;
	case CGROUP_V2:
		say(out, ANSWER_YES, "version 2, on %s", dir);
		break;
	case CGROUP_NONE:
		say(out, ANSWER_NO, "no memory controller is mounted");
		break;
	}
}

static const char *memory_cgroup_remedy(const struct doctor_facts *f)
{
	(void)f;
	return "mount cgroup2 on /sys/fs/cgroup, or boot with cgroup_enable=memory";
}

static void check_charge(const struct doctor_facts *f, struct doctor_finding *out)
{
	if (no_types(f, out))
		return;
	say(out, yes_if(f->abilities.types.charge), "mem_cgroup.memory.usage and max%s",
	    f->abilities.types.charge ? "" : " are not there: CONFIG_MEMCG is off");
}

static const char *charge_remedy(const struct doctor_facts *f)
{
	(void)f;
	return "use a kernel built with CONFIG_MEMCG=y";
}

static void check_victims(const struct doctor_facts *f, struct doctor_finding *out)
{
	int n = f->abilities.types.mark_victim;

	if (no_types(f, out))
		return;
	say(out, yes_if(n >= 0),
	    n < 0 ? "oom:mark_victim is not there" : "oom:mark_victim, %d argument%s", n,
	    n == 1 ? "" : "s");
}

/* In the order of the report. */
const struct doctor_check doctor_checks[] = {
    {"btf", "kernel types (BTF)", true, check_types, "programs cannot be fitted to this kernel",
     types_remedy},
    {"capabilities", "capabilities", true, check_capabilities, "tracing is refused",
     capabilities_remedy},
    {"lockdown", "lockdown allows reading", true, check_lockdown,
     "BPF programs may not read the kernel's memory", lockdown_remedy},
    {"rss_stat", "tracepoint of the RSS", true, check_rss, "peaks cannot be seen", newer_kernel},
    {"counters", "layout of the RSS counters", true, check_counters,
     "the RSS cannot be read exactly", newer_tracer},
    {"lifecycle", "tracepoints of processes", true, check_lifecycle, "processes cannot be followed",
     newer_kernel},
    {"preemption", "no fork, exec or exit skipped", false, check_preemption,
     "in a storm of short processes some may be missing (missed_events counts what was skipped)",
     preemption_remedy},
    {"uprobes", "probes in programs", true, check_uprobes, "markers cannot be heard",
     uprobes_remedy},
    {"programs", "BPF programs load", true, check_programs, "tracing is refused", programs_remedy},
    {"site", "marker can be probed", true, check_site, "markers cannot be heard", site_remedy},
    {"others", "other users' processes", false, check_others,
     "attach and -u find markers only in processes of this user", capabilities_remedy},
    {"faults", "tracepoints of page faults", false, check_faults,
     "--where cannot tell which mappings grew; peaks and counts of faults are not touched",
     faults_remedy},
    {"memory_cgroup", "memory controller", false, check_memory_cgroup,
     "no charge, no limit, no headroom in reports", memory_cgroup_remedy},
    {"charge", "charge can be read at each mark", false, check_charge,
     "no charge, no limit, no headroom in reports", charge_remedy},
    {"oom", "tracepoint of the OOM killer", false, check_victims,
     "a process killed for memory shows as killed by signal 9", newer_kernel},
};
const size_t ndoctor_checks = sizeof(doctor_checks) / sizeof(doctor_checks[0]);

bool doctor_can_trace(const struct doctor_facts *f)
{
	for (size_t i = 0; i < ndoctor_checks; i++) {
		struct doctor_finding found = {ANSWER_UNKNOWN, ""};

		if (!doctor_checks[i].needed)
			continue;
		doctor_checks[i].run(f, &found);
		if (found.answer != ANSWER_YES)
			return false;
	}
	return true;
}
