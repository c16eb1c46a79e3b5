/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * --where: one of every N page faults of traced mms, with the mapping that it fell in. How many
 * faults there were comes from the threads' own counters, not from here.
 */
#include "adopt.bpf.h"

struct where {
	struct pp_fault *rec;
	u64 brk, start_brk, start_stack;
};

static long describe(struct task_struct *task, struct vm_area_struct *vma, struct where *w)
{
	struct file *file = vma->vm_file;
	struct pp_fault *rec = w->rec;
	const unsigned char *name;
	struct inode *inode;

	if (!file) {
		if (vma->vm_start <= w->brk && vma->vm_end >= w->start_brk)
			rec->mapping = PP_MAP_HEAP;
		else if (vma->vm_start <= w->start_stack && vma->vm_end >= w->start_stack)
			rec->mapping = PP_MAP_STACK;
		else
			rec->mapping = PP_MAP_ANON;
		return 0;
	}
	inode = BPF_CORE_READ(file, f_path.dentry, d_inode);
	name = BPF_CORE_READ(file, f_path.dentry, d_name.name);
	rec->ino = BPF_CORE_READ(inode, i_ino);
	rec->dev = BPF_CORE_READ(inode, i_sb, s_dev);
	rec->mapping =
	    BPF_CORE_READ(inode, i_sb, s_magic) == TMPFS_MAGIC ? PP_MAP_SHMEM : PP_MAP_FILE;
	bpf_probe_read_kernel_str(rec->name, sizeof(rec->name), name);
	return 0;
}

static __always_inline int faulted(u64 addr)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct mm_struct *mm = task->mm;
	struct mm_state *st;
	struct where w = {};

	if (!mm || stopped)
		return 0;
	st = state_of(mm);
	if (!st)
		return 0;
	/* Threads race here; a fault more or less between two samples is what sampling is. */
	if (++st->faults < st->next_fault)
		return 0;
	st->next_fault = st->faults + cfg_where_every;
	w.rec = bpf_ringbuf_reserve(&ring_faults, sizeof(*w.rec), 0);
	if (!w.rec) {
		count_loss(PP_LOSS_FAULTS, 1);
		return 0;
	}
	__builtin_memset(w.rec, 0, sizeof(*w.rec));
	fill_header(&w.rec->hdr, PP_FAULT, sizeof(*w.rec), st, task);
	w.rec->hdr.pid = st->pid;
	w.rec->seq = word_seq(st->word);
	w.rec->addr = addr;
	w.brk = mm->brk;
	w.start_brk = mm->start_brk;
	w.start_stack = mm->start_stack;
	/* Fails while somebody changes the address space: then the mapping stays unknown. */
	bpf_find_vma(task, addr, describe, &w, 0);
	bpf_ringbuf_submit(w.rec, BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("tp_btf/page_fault_user")
int BPF_PROG(on_fault_user, unsigned long addr, struct pt_regs *regs, unsigned long error)
{
	return faulted(addr);
}

/* read(2) into fresh memory and the like. */
SEC("tp_btf/page_fault_kernel")
int BPF_PROG(on_fault_kernel, unsigned long addr, struct pt_regs *regs, unsigned long error)
{
	return faulted(addr);
}
