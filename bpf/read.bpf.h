/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reading the kernel's memory by address: what the verifier has no pointer for, in callbacks and
 * behind indices. Never fails: what cannot be read is 0.
 */
#ifndef PEAKPHASE_READ_BPF_H
#define PEAKPHASE_READ_BPF_H

#include "kernel.bpf.h"

#ifndef NULL
#define NULL ((void *)0)
#endif

#ifdef CAST_TO_READ
/*
 * Since 6.2: an address as a pointer to a struct of the kernel, which is then read by one
 * instruction with a fault handler, where the helper is a call of some 10 ns. Both types are of
 * every kernel, and have what we want as a number. Only rss.bpf.c asks for it: libbpf's linker
 * (1.1) takes a function of the kernel from one object only.
 */
extern void *bpf_rdonly_cast(const void *obj, u32 btf_id) __ksym __weak;

/* It came with this value (cfe1456440c8, a35b9af4ec2c); a constant for the verifier, by CO-RE. */
static __always_inline bool can_cast(void)
{
	return bpf_core_enum_value_exists(enum btf_kfunc_hook, BTF_KFUNC_HOOK_COMMON);
}

static __always_inline void *cast(u64 addr, u32 type)
{
	return bpf_rdonly_cast((void *)addr, type);
}
#else
static __always_inline bool can_cast(void)
{
	return false;
}
static __always_inline void *cast(u64 addr, u32 type)
{
	return NULL;
}
#endif

static __always_inline u64 read_u64(u64 addr)
{
	u64 v = 0;

	if (can_cast()) {
		struct percpu_counter *c =
		    cast(addr - bpf_core_field_offset(struct percpu_counter, count),
			 bpf_core_type_id_kernel(struct percpu_counter));

		return *(volatile s64 *)&c->count;
	}
	bpf_probe_read_kernel(&v, sizeof(v), (void *)addr);
	return v;
}

static __always_inline s32 read_s32(u64 addr)
{
	s32 v = 0;

	if (can_cast()) {
		struct refcount_struct *r =
		    cast(addr, bpf_core_type_id_kernel(struct refcount_struct));

		return *(volatile s32 *)&r->refs.counter;
	}
	bpf_probe_read_kernel(&v, sizeof(v), (void *)addr);
	return v;
}

/* The verifier keeps pointers from becoming numbers; a read of the stack slot does not. */
static __always_inline u64 number_of(const void *p)
{
	u64 n = 0;

	bpf_probe_read_kernel(&n, sizeof(n), &p);
	return n;
}

#endif
