/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which inode a file really has. A uprobe belongs to the inode that the kernel maps: on an overlay
 * that is the one of a layer, which several containers share, though each shows numbers of its own
 * to stat(2). The tracer maps the file and runs this in its own context.
 */
#include "state.bpf.h"

struct mapped mapped;

static long look(struct task_struct *task, struct vm_area_struct *vma, void *unused)
{
	struct file *file = vma->vm_file;

	if (file)
		mapped.inode = (u64)BPF_CORE_READ(file, f_inode);
	return 0;
}

SEC("raw_tp")
int find_inode(void *ctx)
{
	mapped.inode = 0;
	bpf_find_vma(bpf_get_current_task_btf(), mapped.at, look, NULL, 0);
	return 0;
}
