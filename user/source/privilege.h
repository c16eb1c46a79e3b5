/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Capabilities: what tracing needs, what is missing, and the dropping of the rest.
 *
 * Measured on 6.1.0-57, 6.12.117 and 7.3.4 (Debian) and 6.18 (docs/doctor.md has the table):
 *
 * - CAP_BPF + CAP_PERFMON: load and attach every program but an ordinary uprobe, iterators, test
 *   runs
 * - CAP_SYS_ADMIN: perf_event_open() of an uprobe: since 6.16 and in every stable series after July
 *   2025 ("perf: Revert to requiring CAP_SYS_ADMIN for uprobes"); Debian asks it for every perf
 *   event while kernel.perf_event_paranoid is 3. BPF_TRACE_UPROBE_MULTI (6.6 and newer) does not
 *   ask it. It stands in for CAP_BPF, CAP_PERFMON and CAP_CHECKPOINT_RESTORE, not for
 *   CAP_SYS_PTRACE
 * - CAP_SYS_PTRACE: /proc/PID/exe, root, maps and ns of another user's process, or of one that
 *   holds capabilities that we have not
 * - CAP_CHECKPOINT_RESTORE: /proc/PID/map_files (besides CAP_SYS_PTRACE): mapped files that were
 *   deleted
 * - CAP_DAC_READ_SEARCH: files of a container that only its root may open, when we are not root;
 *   and the directory map_files itself, which is its owner's alone
 * - CAP_KILL: signals passed on to a command that runs as another user
 * - CAP_DAC_OVERRIDE: a recording in a directory that belongs to someone else, when we are root
 *
 * The BPF object must not ask CO-RE for a type that vmlinux lacks altogether: libbpf then walks the
 * modules, which takes CAP_SYS_ADMIN. Missing members and flavours of a type that exists are fine.
 */
#ifndef PEAKPHASE_SOURCE_PRIVILEGE_H
#define PEAKPHASE_SOURCE_PRIVILEGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bits of a set, numbered as linux/capability.h does. */
#define PRIVILEGE_BIT(cap) (1ull << (cap))

enum {
	PRIVILEGE_KILL = 5,
	PRIVILEGE_SYS_PTRACE = 19,
	PRIVILEGE_SYS_ADMIN = 21,
	PRIVILEGE_DAC_OVERRIDE = 1,
	PRIVILEGE_DAC_READ_SEARCH = 2,
	PRIVILEGE_PERFMON = 38,
	PRIVILEGE_BPF = 39,
	PRIVILEGE_CHECKPOINT_RESTORE = 40,
};

/* Needed wherever we trace. */
#define PRIVILEGE_TRACE (PRIVILEGE_BIT(PRIVILEGE_BPF) | PRIVILEGE_BIT(PRIVILEGE_PERFMON))
/* Uprobes through perf. */
#define PRIVILEGE_UPROBE PRIVILEGE_BIT(PRIVILEGE_SYS_ADMIN)
/* Looking into other processes: markers mapped later need it until the end. */
#define PRIVILEGE_LOOK                                                                             \
	(PRIVILEGE_BIT(PRIVILEGE_SYS_PTRACE) | PRIVILEGE_BIT(PRIVILEGE_CHECKPOINT_RESTORE) |       \
	 PRIVILEGE_BIT(PRIVILEGE_DAC_READ_SEARCH))
#define PRIVILEGE_SIGNAL PRIVILEGE_BIT(PRIVILEGE_KILL)

struct privilege {
	uint64_t effective, permitted;
	bool initial_userns; /* capabilities count for BPF in the initial user namespace only */
};

/* Of the calling thread. 0 or -errno. */
int privilege_get(struct privilege *p);

/* Is cap there, or CAP_SYS_ADMIN where the kernel takes that for it? */
bool privilege_has(uint64_t set, int cap);

/*
 * Names of the capabilities of `need` that are not in effect, ", " between them; the number of
 * them (0: buf is ""), or -errno. In a user namespace of its own everything is missing.
 */
int privilege_missing(uint64_t need, char *buf, size_t cap);
/*
 * The words after "→": how to get what privilege_missing() found missing. multi: this kernel has
 * multi links (6.6 on), and so no need of CAP_SYS_ADMIN, which stands for far more than tracing.
 */
const char *privilege_remedy(const struct privilege *p, bool multi);
/* "CAP_BPF"; NULL for those that are not of interest here. */
const char *privilege_name(int cap);

/*
 * Gives up every capability but `keep`, of the permitted, effective, inheritable, ambient and
 * bounding sets, and all that exec could bring (no_new_privs). Capabilities belong to threads: to
 * be called before the first thread is made, -EBUSY otherwise (nothing is changed then). The
 * command must have been forked before. 0 or -errno.
 */
int privilege_drop(uint64_t keep);

/*
 * What writing `path`, and files beside it, as ourselves needs later: SQLite makes and removes such
 * files while the recording is open. CAP_DAC_OVERRIDE, for root in a user's directory.
 */
uint64_t privilege_for_file(const char *path);

#endif
