/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * When a traced process has mapped code that nobody may have looked into yet. Which file it is,
 * perf's side band tells (user/source/mappings); its own wake-ups would be one for each fork, exit
 * and mapping of the whole machine, an interrupt each. No function of a file can run before a page
 * of it is there: so the first page of a file after the mm's executable memory has changed is the
 * time to look.
 */
#ifndef PEAKPHASE_CODE_BPF_H
#define PEAKPHASE_CODE_BPF_H

#include "state.bpf.h"

/* Nothing but the wake-up of who reads it; empty: he has taken the last one. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} ring_code __weak SEC(".maps");

/* The reader takes the word before he looks: who finds it still there need not wake him again. */
static __always_inline void tell_code(void)
{
	u64 word = 0;

	if (!bpf_ringbuf_query(&ring_code, BPF_RB_AVAIL_DATA))
		bpf_ringbuf_output(&ring_code, &word, sizeof(word), BPF_RB_FORCE_WAKEUP);
}

/* A page of a file has come into the mm. */
static __always_inline void look_at_code(struct mm_state *st, struct mm_struct *mm)
{
	u64 code = mm->exec_vm;

	if (code == st->code)
		return;
	st->code = code;
	tell_code();
}

#endif
