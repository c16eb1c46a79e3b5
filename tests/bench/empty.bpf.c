/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the kernel charges for a program that does nothing: the floor to compare with. */
#include "kernel.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("tp_btf/rss_stat")
int empty_rss_stat(void *ctx)
{
	return 0;
}

SEC("tp_btf/page_fault_user")
int empty_user(void *ctx)
{
	return 0;
}

SEC("tp_btf/page_fault_kernel")
int empty_kernel(void *ctx)
{
	return 0;
}

SEC("uprobe.s")
int empty_uprobe(void *ctx)
{
	return 0;
}
