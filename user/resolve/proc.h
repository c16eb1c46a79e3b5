/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Readers of /proc/PID. `proc` is the directory: "/proc", or a fixture in tests.
 *
 * All return 0 or -errno; a process that is gone is -ESRCH, whatever the kernel called it, and text
 * that is not what proc(5) promises is -EBADMSG. Names and paths come from the process: any
 * bytes, to be escaped by whoever prints them. Thread-safe.
 */
#ifndef PEAKPHASE_RESOLVE_PROC_H
#define PEAKPHASE_RESOLVE_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Longest comm that /proc shows: kernel workers get 64 bytes, everyone else 15. */
#define PROC_COMM_MAX 64

struct proc_stat {
	char comm[PROC_COMM_MAX + 1];
	char state; /* R, S, D, Z, T, … */
	bool kernel_thread;
	bool exiting; /* its first thread is ending, or has */
	uint32_t ppid;
	uint32_t threads;
	uint64_t
	    start_ticks; /* since boot, sysconf(_SC_CLK_TCK) a second: with the pid, the identity */
};

struct proc_status {
	uint32_t tgid;	   /* differs from the pid asked for if that was a thread */
	uint32_t ns_pid;   /* in the process's own pid namespace */
	uint32_t ns_depth; /* 1: the namespace of this /proc */
	uint32_t uid, euid, gid, tracer;
	uint64_t cap_effective;
};

struct proc_map {
	uint64_t start, end, offset, inode;
	uint32_t dev_major, dev_minor;
	bool executable;
	bool deleted;	  /* the name had " (deleted)" behind it; a file may be called so as well */
	const char *path; /* "" for anonymous memory, "[heap]" and so on as they come */
};

/* Can this process be traced at all? */
enum proc_kind {
	PROC_GONE,   /* no such process */
	PROC_THREAD, /* a thread of another process: its tgid is to be traced */
	PROC_KERNEL, /* a kernel thread: no memory of its own */
	PROC_ZOMBIE, /* ended, not yet reaped: no memory left */
	PROC_USER,
};

int proc_stat_parse(const char *text, size_t len, struct proc_stat *out);
int proc_stat(const char *proc, pid_t pid, struct proc_stat *out);
int proc_status_parse(const char *text, struct proc_status *out);
int proc_status(const char *proc, pid_t pid, struct proc_status *out);

/*
 * The thread whose maps, exe and root are those of process pid: its leader, unless that has ended
 * before the others: then one of them, which has a folder in /proc too.
 */
pid_t proc_living(const char *proc, pid_t pid);

/* What pid is; *tgid is set for PROC_THREAD and PROC_USER. */
enum proc_kind proc_kind(const char *proc, pid_t pid, pid_t *tgid);

/* Arguments with a NUL behind each, cut at cap; *len bytes. Empty for kernel threads and zombies.
 */
int proc_cmdline(const char *proc, pid_t pid, char *buf, size_t cap, size_t *len);
int proc_comm(const char *proc, pid_t pid, char comm[static PROC_COMM_MAX + 1]);
/* Where exe points, without " (deleted)", which *deleted (may be NULL) tells. */
int proc_exe(const char *proc, pid_t pid, char *buf, size_t cap, bool *deleted);
/* Takes away the " (deleted)" that the kernel puts behind names; was it there? */
bool proc_cut_deleted(char *path);
/* Resident bytes by a walk of the page tables (smaps_rollup): exact, and as dear as it sounds. */
int proc_rss(const char *proc, pid_t pid, uint64_t *bytes);

/* Cuts and decodes the line (without its newline) in place; m->path points into it. */
int proc_map_parse(char *line, struct proc_map *m);
/* fn returns 0 to go on; anything else ends it and is returned. */
int proc_maps_each(const char *proc, pid_t pid, int (*fn)(void *, const struct proc_map *),
		   void *ctx);
int proc_threads_each(const char *proc, pid_t pid, int (*fn)(void *, pid_t), void *ctx);

/* A whole small file of any kind, NUL-terminated, cut at cap - 1. */
int proc_file(const char *path, char *buf, size_t cap, size_t *len);
/* The same of a name in a folder. */
int proc_file_in(const char *dir, const char *name, char *buf, size_t cap);
/* The same below proc, NUL-terminated, cut at cap - 1; pid 0 stands for "self". */
int proc_read(const char *proc, pid_t pid, const char *name, char *buf, size_t cap, size_t *len);

#endif
