/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who can read what a process prints, and print it again: who has it from a pipe as its stdin
 * (`a | b`), and who holds the other end of what a process below it prints to: a shell with
 * `$(…)`, a parent that reads its children's output, script(1) with its terminal.
 *
 * The latter are looked for when a process prints a mark to a file for the first time. Then the
 * other end is open; when its reader prints, it may have been closed for long.
 */
#ifndef PEAKPHASE_ROUTE_BPF_H
#define PEAKPHASE_ROUTE_BPF_H

#include "output.bpf.h"

#define ROUTE_FILES 64u /* looked at in one round: the kernel's tables hold multiples of that */
#define ROUTE_ROUNDS 64u
#define ROUTE_LEVELS 16u /* processes, from the writer upwards */

/* What loops change is in a map, for the reason that marker.bpf.c gives. */
struct route_walk {
	u64 task; /* whose files are looked through */
	u64 files;
	u64 pipe; /* what is looked for: a reading file of this inode */
	u64 end;  /* or this file */
	u32 holds;
	u32 n;
	u64 reader[PP_READERS];
	u64 file[ROUTE_FILES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct route_walk);
} route_walks __weak SEC(".maps");

struct route_walker {
	struct route_walk *w;
};

static __always_inline u32 sort_of(u64 inode)
{
	return BPF_CORE_READ((struct inode *)inode, i_mode) & S_IFMT;
}

static __always_inline bool is_terminal(u64 inode)
{
	u32 major = BPF_CORE_READ((struct inode *)inode, i_rdev) >> 20;

	return sort_of(inode) == S_IFCHR && major / 8 == UNIX98_PTY_SLAVE_MAJOR / 8;
}

static __always_inline u64 number_of_file(u64 inode)
{
	struct inode *i = (struct inode *)inode;

	return (u64)BPF_CORE_READ(i, i_sb, s_dev) << 32 ^ BPF_CORE_READ(i, i_ino);
}

/* The open file of a unix socket's other end. */
static __always_inline u64 peer_of(u64 file)
{
	struct socket *s = BPF_CORE_READ((struct file *)file, private_data);
	struct sock *sk = BPF_CORE_READ(s, sk);

	if (BPF_CORE_READ(sk, __sk_common.skc_family) != AF_UNIX)
		return 0;
	return (u64)BPF_CORE_READ((struct unix_sock *)sk, peer, sk_socket, file);
}

/* The open file of a pseudo terminal's master. */
static __always_inline u64 master_of(u64 file)
{
	struct tty_file_private *p = BPF_CORE_READ((struct file *)file, private_data);
	u64 at = (u64)BPF_CORE_READ(p, tty, link, tty_files.next);

	at -= bpf_core_field_offset(struct tty_file_private, list);
	return (u64)BPF_CORE_READ((struct tty_file_private *)at, file);
}

static long look_at_file(u32 i, struct route_walker *ctx)
{
	struct route_walk *w = ctx->w;
	u64 file = w->file[i & (ROUTE_FILES - 1)];

	if (!file)
		return 0;
	if (w->pipe)
		w->holds = inode_of(file) == w->pipe &&
			   BPF_CORE_READ((struct file *)file, f_mode) & FMODE_READ;
	else
		w->holds = file == w->end;
	return w->holds != 0;
}

static long look_at_files(u32 i, struct route_walker *ctx)
{
	struct route_walk *w = ctx->w;
	u64 at = w->files + i * sizeof(w->file);

	if (bpf_probe_read_kernel(w->file, sizeof(w->file), (void *)at))
		return 1;
	bpf_loop(ROUTE_FILES, look_at_file, ctx, 0);
	return w->holds != 0;
}

/* The processes above those that are traced are not looked at: they print no marks. */
static long look_at_process(u32 i, struct route_walker *ctx)
{
	struct route_walk *w = ctx->w;
	struct task_struct *task = (struct task_struct *)w->task;
	struct fdtable *fdt = BPF_CORE_READ(task, files, fdt);
	u32 tgid = BPF_CORE_READ(task, tgid);
	u32 rounds = BPF_CORE_READ(fdt, max_fds) / ROUTE_FILES;
	const struct proc_state *p = bpf_map_lookup_elem(&procs, &tgid);

	if (!p)
		return 1;
	w->holds = 0;
	w->files = (u64)BPF_CORE_READ(fdt, fd);
	bpf_loop(rounds < ROUTE_ROUNDS ? rounds : ROUTE_ROUNDS, look_at_files, ctx, 0);
	if (w->holds) {
		w->reader[w->n & (PP_READERS - 1)] = p->mm_id;
		w->n++;
	}
	w->task = (u64)BPF_CORE_READ(task, real_parent);
	return w->n >= PP_READERS;
}

/* Into the CPU's walk. A function of its own, so that the verifier sees it once. */
__weak int find_readers(u64 file)
{
	struct route_walker ctx;
	u32 zero = 0;
	u64 inode;

	ctx.w = bpf_map_lookup_elem(&route_walks, &zero);
	if (!ctx.w)
		return 0;
	__builtin_memset(ctx.w->reader, 0, sizeof(ctx.w->reader));
	ctx.w->n = 0;
	ctx.w->task = number_of(bpf_get_current_task_btf());
	inode = inode_of(file);
	ctx.w->pipe = sort_of(inode) == S_IFIFO ? inode : 0;
	ctx.w->end = 0;
	if (sort_of(inode) == S_IFSOCK)
		ctx.w->end = peer_of(file);
	else if (is_terminal(inode))
		ctx.w->end = master_of(file);
	if (ctx.w->pipe || ctx.w->end)
		bpf_loop(ROUTE_LEVELS, look_at_process, &ctx, 0);
	return 0;
}

static __always_inline void find_route(struct out_file *f, u64 file)
{
	struct route_walk *w;
	u32 zero = 0;

	if (f->routed)
		return;
	if (sort_of(f->inode) != S_IFIFO && sort_of(f->inode) != S_IFSOCK &&
	    !is_terminal(f->inode)) {
		f->routed = 1;
		return;
	}
	f->to = number_of_file(f->inode);
	find_readers(file);
	w = bpf_map_lookup_elem(&route_walks, &zero);
	if (w)
		__builtin_memcpy(f->reader, w->reader, sizeof(f->reader));
	f->routed = 1;
}

static __always_inline void fill_route(struct pp_write *w, const struct out_file *f,
				       struct task_struct *task)
{
	u64 in = inode_of(file_of(task, 0));

	w->to = f->to;
	w->from = in && sort_of(in) == S_IFIFO ? number_of_file(in) : 0;
	__builtin_memcpy(w->reader, f->reader, sizeof(w->reader));
}

#endif
