/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "source/privilege.h"

#include <dirent.h>
#include <errno.h>
#include <libgen.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "resolve/proc.h"

/* PROC_USER_INIT_INO of include/linux/proc_ns.h: the number of the initial user namespace. */
#define INITIAL_USERNS "user:[4026531837]"

static const struct {
	int cap;
	const char *name;
} names[] = {
    {PRIVILEGE_BPF, "CAP_BPF"},
    {PRIVILEGE_PERFMON, "CAP_PERFMON"},
    {PRIVILEGE_SYS_ADMIN, "CAP_SYS_ADMIN"},
    {PRIVILEGE_SYS_PTRACE, "CAP_SYS_PTRACE"},
    {PRIVILEGE_CHECKPOINT_RESTORE, "CAP_CHECKPOINT_RESTORE"},
    {PRIVILEGE_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH"},
    {PRIVILEGE_DAC_OVERRIDE, "CAP_DAC_OVERRIDE"},
    {PRIVILEGE_KILL, "CAP_KILL"},
};

#define NNAMES (sizeof(names) / sizeof(names[0]))

const char *privilege_name(int cap)
{
	for (size_t i = 0; i < NNAMES; i++) {
		if (names[i].cap == cap)
			return names[i].name;
	}
	return NULL;
}

static int caps_get(struct __user_cap_data_struct data[2])
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};

	return syscall(SYS_capget, &head, data) ? -errno : 0;
}

static uint64_t join(uint32_t low, uint32_t high)
{
	return (uint64_t)high << 32 | low;
}

int privilege_get(struct privilege *p)
{
	struct __user_cap_data_struct data[2];
	char ns[64] = "";
	int err = caps_get(data);

	if (err)
		return err;
	p->effective = join(data[0].effective, data[1].effective);
	p->permitted = join(data[0].permitted, data[1].permitted);
	/* Without namespaces in the kernel there is no such file, and one namespace. */
	p->initial_userns =
	    readlink("/proc/self/ns/user", ns, sizeof(ns) - 1) < 0 || !strcmp(ns, INITIAL_USERNS);
	return 0;
}

bool privilege_has(uint64_t set, int cap)
{
	bool admin =
	    cap == PRIVILEGE_BPF || cap == PRIVILEGE_PERFMON || cap == PRIVILEGE_CHECKPOINT_RESTORE;

	if (cap == PRIVILEGE_DAC_READ_SEARCH && (set & PRIVILEGE_BIT(PRIVILEGE_DAC_OVERRIDE)))
		return true;
	return set & (PRIVILEGE_BIT(cap) | (admin ? PRIVILEGE_BIT(PRIVILEGE_SYS_ADMIN) : 0));
}

int privilege_missing(uint64_t need, char *buf, size_t cap)
{
	struct privilege p;
	size_t used = 0;
	int n = 0, err = privilege_get(&p);

	*buf = '\0';
	if (err)
		return err;
	if (!p.initial_userns)
		p.effective = 0;
	for (size_t i = 0; i < NNAMES; i++) {
		if (!(need & PRIVILEGE_BIT(names[i].cap)) ||
		    privilege_has(p.effective, names[i].cap))
			continue;
		if (used < cap)
			used += (size_t)snprintf(buf + used, cap - used, "%s%s", n ? ", " : "",
						 names[i].name);
		n++;
	}
	return n;
}

#define SETCAP "cap_bpf,cap_perfmon,cap_sys_ptrace,cap_dac_read_search"

const char *privilege_remedy(const struct privilege *p, bool multi)
{
	if (!p->initial_userns)
		return "run it on the host, or in a container with --privileged and no user namespace of its own";
	if (geteuid() == 0)
		return "add the capabilities to the container or service (docker run --cap-add …, AmbientCapabilities=…)";
	return multi ? "use sudo, or once: sudo setcap " SETCAP "+ep PEAKPHASE"
		     : "use sudo, or once: sudo setcap " SETCAP ",cap_sys_admin+ep PEAKPHASE";
}

static int count_threads(void *ctx, pid_t tid)
{
	(void)tid;
	++*(int *)ctx;
	return 0;
}

int privilege_drop(uint64_t keep)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];
	int threads = 0, err = proc_threads_each("/proc", 0, count_threads, &threads);
	uint64_t left;

	if (!err && threads > 1)
		return -EBUSY;
	if (!err)
		err = caps_get(data);
	if (err)
		return err;
	left = join(data[0].permitted, data[1].permitted) & keep;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) && errno != EINVAL)
		return -errno;
	/* Shrinking the bounding set takes CAP_SETPCAP; without it no_new_privs has to do. */
	for (int cap = 0; cap < 64; cap++) {
		if (!(keep & PRIVILEGE_BIT(cap)) && prctl(PR_CAPBSET_READ, cap, 0, 0, 0) == 1 &&
		    prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) && errno != EPERM)
			return -errno;
	}
	memset(data, 0, sizeof(data));
	data[0].permitted = data[0].effective = (uint32_t)left;
	data[1].permitted = data[1].effective = (uint32_t)(left >> 32);
	return syscall(SYS_capset, &head, data) ? -errno : 0;
}

uint64_t privilege_for_file(const char *path)
{
	struct stat st;
	char *copy;
	int err;

	if (geteuid() != 0)
		return 0;
	copy = strdup(path);
	err = copy ? stat(dirname(copy), &st) : -1;
	free(copy);
	if (err)
		return 0;
	/* A sticky directory (/tmp) lets owners remove their own files. */
	if ((st.st_uid == 0 && (st.st_mode & 0300) == 0300) ||
	    (st.st_uid != 0 && (st.st_mode & 0003) == 0003))
		return 0;
	return PRIVILEGE_BIT(PRIVILEGE_DAC_OVERRIDE);
}
