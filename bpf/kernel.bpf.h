/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel types we touch, and of them only the fields we touch: CO-RE finds the rest. A
 * generated vmlinux.h would be a hundred thousand lines that tie the build to one kernel.
 * Flavours (___name) are the same type on other kernels; each says on which.
 */
#ifndef PEAKPHASE_KERNEL_BPF_H
#define PEAKPHASE_KERNEL_BPF_H

/* Tells bpf_tracing.h to use the kernel's own names of registers. */
#define __VMLINUX_H__

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u64 __be64;
typedef __u32 __wsum;
typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;
typedef _Bool bool;
#define true 1
#define false 0

/* uapi/linux/bpf.h: only what is used here. */
enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_QUEUE = 22,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};
enum { BPF_ANY = 0, BPF_NOEXIST = 1 };
enum { BPF_F_NO_PREALLOC = 1 };
enum { BPF_LOCAL_STORAGE_GET_F_CREATE = 1 };
/* What programs on classic tracepoints return: 0 would take the event away from whoever else counts
 * or records it with perf. */
enum { PASS = 1 };

enum { BPF_RB_NO_WAKEUP = 1, BPF_RB_FORCE_WAKEUP = 2 };
enum { BPF_RB_AVAIL_DATA = 0 };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	s64 counter;
} atomic_long_t;

struct refcount_struct {
	atomic_t refs;
};

enum btf_kfunc_hook { BTF_KFUNC_HOOK_COMMON }; /* since 6.2 */

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip,
	    cs, flags, sp, ss;
};
#elif defined(__TARGET_ARCH_arm64)
struct user_pt_regs {
	__u64 regs[31], sp, pc, pstate;
};
struct pt_regs {
	struct user_pt_regs user_regs;
};
#endif

struct percpu_counter {
	s64 count;
	s32 *counters;
};

struct super_block {
	u32 s_dev;
	unsigned long s_magic;
};

struct inode {
	u16 i_mode;
	u32 i_rdev;
	unsigned long i_ino;
	struct super_block *i_sb;
};

struct qstr {
	const unsigned char *name;
};

struct dentry {
	struct qstr d_name;
	struct inode *d_inode;
};

struct path {
	struct dentry *dentry;
};

struct file {
	u32 f_mode;
	void *private_data;
	struct inode *f_inode;
	struct path f_path;
};

struct list_head {
	struct list_head *next;
};

struct tty_struct {
	struct tty_struct *link; /* of a pseudo terminal: the other end */
	struct list_head tty_files;
};

struct tty_file_private { /* of a terminal's open file */
	struct tty_struct *tty;
	struct file *file;
	struct list_head list;
};

struct socket {
	struct file *file;
	struct sock *sk;
};

struct sock_common {
	unsigned short skc_family;
};

struct sock {
	struct sock_common __sk_common;
	struct socket *sk_socket;
};

struct unix_sock {
	struct sock *peer;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct task_struct;

struct mm_struct {
	atomic_t mm_users;
	unsigned long exec_vm; /* pages of executable memory */
	unsigned long mmap_base, start_brk, brk, start_stack, arg_start, arg_end;
	struct percpu_counter rss_stat[4]; /* since 6.2 (f1a7941243c1) */
	struct task_struct *owner;	   /* with CONFIG_MEMCG */
};

struct mm_struct___atomic { /* before 6.2 */
	struct {
		atomic_long_t count[4];
	} rss_stat;
};

struct vm_userfaultfd_ctx {
	void *ctx; /* with CONFIG_USERFAULTFD */
};

struct vm_area_struct {
	unsigned long vm_start, vm_end;
	struct file *vm_file;
	struct vm_userfaultfd_ctx vm_userfaultfd_ctx;
};

struct page_counter {
	atomic_long_t usage;
	unsigned long max;
};

struct cgroup;
struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
};

struct kernfs_node {
	const char *name;
	u64 id;
};

struct cgroup_root {
	int hierarchy_id;
};

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
	struct cgroup_root *root;
};

struct mem_cgroup {
	struct cgroup_subsys_state css;
	struct page_counter memory;
};

struct css_set {
	struct cgroup_subsys_state *subsys[4];
	struct cgroup *dfl_cgrp;
};

enum cgroup_subsys_id { memory_cgrp_id = 4 };

struct pid_namespace;

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

struct signal_struct {
	atomic_t live;
	int nr_threads;
	unsigned int flags;
	int group_exit_code;
	struct mm_struct *oom_mm; /* set when the OOM killer chose it */
};

struct kernel_siginfo {
	int si_code;
};

struct sigaction {
	void *sa_handler;
};

struct k_sigaction {
	struct sigaction sa;
};

struct sighand_struct {
	struct k_sigaction action[64];
};

struct completion;

struct thread_struct {
	unsigned long fsbase; /* x86 */
};

struct task_struct {
	unsigned int flags;
	int pid, tgid;
	u64 start_time, start_boottime;
	int exit_code;
	unsigned long min_flt, maj_flt;
	struct mm_struct *mm;
	struct files_struct *files;
	struct task_struct *real_parent, *group_leader;
	struct pid *thread_pid;
	struct signal_struct *signal;
	struct sighand_struct *sighand;
	struct css_set *cgroups;
	struct completion *vfork_done;
	struct thread_struct thread;
	char comm[16];
};

struct task_struct___cached { /* before 6.2: faults counted here first */
	struct {
		int count[4];
	} rss_stat;
};

struct linux_binprm {
	int argc;
};

struct seq_file;
struct bpf_iter_meta {
	struct seq_file *seq;
};
struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

/* Its later fields came together with the tracepoint's argument: a task, not a pid. */
struct trace_event_raw_mark_victim {
	int pid;
	unsigned long anon_rss;
};

/* The child's id in the first pid namespace. */
struct trace_event_raw_sched_process_fork {
	int child_pid;
};

struct bpf_array {
	void *pptrs[1];
};

#pragma clang attribute pop

/* Contexts of tp/syscalls: the same on every kernel (include/linux/syscalls.h). */
struct sys_enter {
	u64 common;
	long id;
	unsigned long args[6];
};
struct sys_exit {
	u64 common;
	long id;
	long ret;
};

struct iovec {
	u64 base, len;
};

#define TMPFS_MAGIC 0x01021994
#define S_IFMT 0170000
#define S_IFSOCK 0140000
#define S_IFCHR 0020000
#define S_IFIFO 0010000
#define UNIX98_PTY_SLAVE_MAJOR 136 /* eight of them */
#define FMODE_READ 1
#define AF_UNIX 1
#define SIGNAL_GROUP_EXIT 4 /* include/linux/sched/signal.h */

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#endif
