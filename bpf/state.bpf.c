/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The run's constants, which the loader sets, and what all programs share (state.bpf.h). */
#include "state.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile u32 cfg_cpus = 1;
const volatile u32 cfg_slots = 4096;
const volatile u32 cfg_batch = 32;
const volatile u32 cfg_pages_per_mib = 256;
const volatile u32 cfg_page_size = 4096;
const volatile u32 cfg_where_every = 64;
const volatile u32 cfg_follow = 1;
const volatile u32 cfg_never = 0;
const volatile u32 cfg_nested = 0;
const volatile u32 cfg_wake_edges = 1 << 20;
const volatile u64 cfg_ceiling = 0;
const volatile u64 cfg_headroom = 0;

struct setup setup;
struct bucket buckets[BUCKETS];
struct last_slot last_slots[MAX_CPUS];
u32 left[LEFT];
u64 percpu_off[MAX_CPUS];
u64 losses[PP_LOSS_MAX];
u64 next_mm_id = 1;
u64 last_wake;
volatile u32 stopped;
