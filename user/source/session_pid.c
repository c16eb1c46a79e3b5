/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "source/session_pid.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/say.h"
#include "resolve/proc.h"
#include "shared.h"
#include "peakphase.skel.h"
#include "source/session_iter.h"

/* PROC_PID_INIT_INO of include/linux/proc_ns.h: the number of the first pid namespace. */
#define INITIAL_PIDNS "pid:[4026531836]"

int session_pid_nested(const char *proc, bool *nested)
{
	char path[64], ns[64] = "";
	struct proc_status st;
	int err = proc_status(proc, 0, &st);

	snprintf(path, sizeof(path), "%s/self/ns/pid", proc);
	/* Without pid namespaces in the kernel there is no such file, and one namespace. */
	*nested = readlink(path, ns, sizeof(ns) - 1) >= 0 && strcmp(ns, INITIAL_PIDNS) != 0;
	/* It lists our pid in its own namespace and in each one inside that we are in. */
	if (!err && st.ns_depth == 1)
		return 0;
	say_error("/proc shows the processes of another pid namespace than this one");
	say_remedy(
	    "mount this namespace's (unshare --mount-proc), or run peakphase in the host's pid namespace (docker run --pid=host)");
	return -ENOTSUP;
}

int session_pid_global(struct peakphase *skel, pid_t pid, uint32_t *tgid)
{
	int err;

	if (!skel->rodata->cfg_nested) {
		*tgid = (uint32_t)pid;
		return 0;
	}
	skel->bss->setup.found = 0;
	err = session_iter(skel->progs.find_process, pid);
	*tgid = skel->bss->setup.found;
	return err ? err : *tgid ? 0 : -ESRCH;
}
