/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What stdout and stderr of a process are: the open files behind 1 and 2 when it began. A shell's
 * `echo text >&2` writes to 1, which is then its stderr.
 */
#ifndef PEAKPHASE_STD_BPF_H
#define PEAKPHASE_STD_BPF_H

#include "state.bpf.h"

extern const volatile u32 cfg_keep;

static __always_inline u64 file_of(struct task_struct *task, u32 fd)
{
	struct fdtable *t = task->files->fdt;
	struct file *f = NULL;

	if (fd >= t->max_fds)
		return 0;
	bpf_probe_read_kernel(&f, sizeof(f), t->fd + fd);
	return (u64)f;
}

/* With the file's address: tells a reused one apart. */
static __always_inline u64 inode_of(u64 file)
{
	return file ? (u64)BPF_CORE_READ((struct file *)file, f_inode) : 0;
}

static __always_inline void note_std(struct mm_state *st, struct task_struct *task)
{
	if (!cfg_keep)
		return;
	for (u32 i = 0; i < 2; i++) {
		st->std[i].file = file_of(task, i + 1);
		st->std[i].inode = inode_of(st->std[i].file);
	}
}

/* 1, 2; 0: neither, or both are one file. */
static __always_inline u32 std_of(const struct mm_state *st, u64 file, u64 inode)
{
	if (!cfg_keep || st->std[0].file == st->std[1].file)
		return 0;
	for (u32 i = 0; i < 2; i++)
		if (st->std[i].file == file && st->std[i].inode == inode)
			return i + 1;
	return 0;
}

#endif
