/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What BPF keeps: the state of each traced mm and thread, the maps, and the run's constants.
 *
 * Nothing here is locked: bpf_spin_lock is refused in uprobe programs, and a fault must never wait
 * for a marker. Words that several CPUs change are changed by atomics; what is read beside them
 * carries a key that tells whether it belongs to them.
 */
#ifndef PEAKPHASE_STATE_BPF_H
#define PEAKPHASE_STATE_BPF_H

#include "kernel.bpf.h"
#include "logic.h"
#include "shared.h"

/* Set by the loader before the load; the verifier sees constants. */
extern const volatile u32 cfg_cpus;	     /* possible CPUs: rows of `shadows` per mm */
extern const volatile u32 cfg_slots;	     /* mms that can be traced at once */
extern const volatile u32 cfg_batch;	     /* percpu_counter_batch */
extern const volatile u32 cfg_pages_per_mib; /* of this host's page size */
extern const volatile u32 cfg_page_size;
extern const volatile u32 cfg_where_every; /* --where: one fault in so many */
extern const volatile u32 cfg_follow;
extern const volatile u32 cfg_never;	  /* 0: what hangs on it is never run */
extern const volatile u32 cfg_nested;	  /* the tracer's pid namespace is not the first one */
extern const volatile u32 cfg_wake_edges; /* bytes waiting on a ring before the reader is woken */
extern const volatile u32 cfg_wake_output;

/* Members and moment of a window's maximum; valid for it iff key is the window's word. */
struct co {
	u64 key;
	u64 at_ns;
	u64 members[PP_NMEMBERS];
};

struct mm_state {
	u64 mm; /* the pointer; 0: slot is free */
	u64 mm_id;
	u64 mmap_base; /* random per exec: tells a reused pointer apart */
	u32 pid;       /* of its process, in the tracer's pid namespace */
	u32 users;     /* processes that share the mm (vfork, CLONE_VM) */
	u32 ready;     /* 0 while it is being set up, and after its end: events are ignored */
	u32 lost;      /* edges lost since the last one that went out */
	u32 slot;      /* where it lies in `states` */
	u32 settling;  /* settlings that are under way */
	/* How the process left whose mm it is (pid): told when the last user of the mm leaves. */
	u32 end_kind; /* PP_EXIT, PP_EXEC; 0: it is still there */
	u32 end_code;
	u32 ended; /* once the tracing has stopped: its last edge is out, or it never had one */
	/*
	 * The thread (the kernel's tid) that the mm was taken in with, while it needs no state of
	 * its own: most short-lived processes end before it does. Then this is what there would be.
	 */
	u32 first;
	u64 first_grew, first_shrank, first_min_base, first_maj_base;

	s64 value[PP_NMEMBERS];	  /* pages, exact up to changes whose event is still to come */
	s64 counted[PP_NMEMBERS]; /* the part of them that is in the shared counts */

	u64 word;	 /* window: number and maximum */
	struct co co[2]; /* of the windows with even and odd numbers */
	u64 member_max[PP_NMEMBERS];
	u64 min;
	u64 charge_max, limiter_max;
	u64 charge_max_at; /* of a moment near it where CPUs race */

	u64 grew, shrank, ext_grew, ext_shrank;
	/*
	 * The part of grew and shrank that the mm's only thread has not booked yet: it can do
	 * without atomics and without a look at its own state, until an edge or a second thread.
	 */
	u64 solo_grew, solo_shrank;
	s64 settled_early;	      /* pages that events have seen for a settling under way */
	s64 unowned;		      /* pages that settlings have seen before their events */
	u64 peak;		      /* over all windows that were sent */
	u64 last_sample;	      /* RSS at the last sample */
	u64 usage_addr, limiter_addr; /* of the page counters, refreshed at each edge */
	u64 limit;		      /* pages; of the limiter */
	u32 crossed;		      /* limits of the user that were (cross.bpf.h) */
	u32 end_flags;		      /* PP_EXIT_* */
	struct pp_sender end_sender;
	struct {
		u64 file, inode;
	} std[2];		/* --output: stdout and stderr of its beginning */
	u64 wrote[2];		/* --output: bytes that went to stdout, to stderr */
	u64 code;		/* exec_vm when it was last told (code.bpf.h) */
	u64 faults, next_fault; /* --where: seen; the number that is sampled next */
};

/* A label that is being read. */
struct reading {
	u64 at; /* next byte in the program's memory */
	u64 hash;
	u32 len;   /* kept */
	u32 have;  /* bytes in the chunk */
	u32 flags; /* PP_LABEL_* */
	u32 done;
	u32 handled; /* its page has a handler for faults */
	u32 pad;
	u64 token; /* of a note: the span it is given to */
};

/* Of a thread; lives and dies with its task. */
struct thread_state {
	u64 mm_id; /* the counters below are for this mm */
	u64 grew, shrank;
	u64 min_base, maj_base; /* the task's fault counters when the mm was first traced */
	u32 marks;
	u32 notes; /* number of the last one */
	struct reading reading;
	char label[PP_LABEL_MAX + 1]; /* read before the window is cut: reading may sleep */
	char chunk[PP_LABEL_MAX + 1]; /* the rest of a long label passes through here */
};

extern struct setup setup;
extern struct bucket buckets[BUCKETS];
extern struct last_slot last_slots[MAX_CPUS];
extern u32 left[LEFT];
extern u64 percpu_off[MAX_CPUS]; /* offset of each CPU's area, by the set-up program */
extern u64 losses[PP_LOSS_MAX];
extern u64 next_mm_id;
extern u64 last_wake;	     /* of the reader, for a beginning or an end */
extern volatile u32 stopped; /* set by the loader: nothing new is sent or counted any more */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, u64);
	__type(value, u32);
} mms __weak SEC(".maps"); /* mm pointer → slot */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 4096);
	__type(key, u32);
	__type(value, struct mm_state);
} states __weak SEC(".maps"); /* by slot */

struct shadow {
	s32 local[PP_NMEMBERS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 4096);
	__type(key, u32);
	__type(value, struct shadow);
} shadows __weak SEC(".maps"); /* slot × cfg_cpus + cpu */

/* A queue, not a stack: a slot rests as long as possible before another mm gets it. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 4096);
	__uint(value_size, sizeof(u32));
} free_slots __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192);
	__type(key, u32);
	__type(value, struct proc_state);
} procs __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread_state);
} threads __weak SEC(".maps");

/* Constants for the verifier, by CO-RE: never by version. */
static __always_inline bool counters_percpu(void)
{
	return bpf_core_field_exists(((struct mm_struct *)0)->rss_stat[0].counters);
}

static __always_inline bool counters_atomic(void)
{
	return bpf_core_field_exists(((struct mm_struct___atomic *)0)->rss_stat.count);
}

static __always_inline u32 bucket_of(u64 mmap_base)
{
	/* Page-aligned, random in the bits above; the multiplier spreads them (Knuth's 2^64/phi).
	 */
	return ((mmap_base >> 12) * 0x9e3779b97f4a7c15ull) >> (64 - 14);
}

static __always_inline struct mm_state *state_at(u32 slot)
{
	return bpf_map_lookup_elem(&states, &slot);
}

/* The state of a traced mm, or NULL. For most mms of the machine: one load and one compare. */
static __always_inline struct mm_state *state_of(struct mm_struct *mm)
{
	u64 base = mm->mmap_base;
	struct bucket *b = &buckets[bucket_of(base) & (BUCKETS - 1)];
	struct mm_state *st;
	struct last_slot *last;
	u64 key = (u64)mm;
	u32 *slot;

	if (!b->count)
		return NULL;
	st = state_at(b->slot);
	if (st && st->mm == key && st->mmap_base == base)
		return st->ready ? st : NULL;
	/* Forked mms have one mmap_base, so one bucket. A CPU mostly stays with one of them. */
	last = &last_slots[bpf_get_smp_processor_id() & (MAX_CPUS - 1)];
	st = state_at(last->slot);
	if (st && st->mm == key && st->mmap_base == base)
		return st->ready ? st : NULL;
	slot = bpf_map_lookup_elem(&mms, &key);
	if (!slot)
		return NULL;
	last->slot = *slot;
	st = state_at(*slot);
	return st && st->ready && st->mm == key && st->mmap_base == base ? st : NULL;
}

static __always_inline void count_loss(enum pp_loss class, u64 n)
{
	if (!stopped)
		__sync_fetch_and_add(&losses[class], n);
}

static __always_inline bool is_first(const struct mm_state *st, struct task_struct *task)
{
	return st->first == (u32)task->pid;
}

/*
 * Books what the mm's only thread brought in on it: on its state (ts), on the mm where it needs
 * none yet; NULL and neither: there was no memory for one. To be called in that thread's context,
 * at every edge and before another thread begins.
 */
static __always_inline void book_solo(struct mm_state *st, struct task_struct *task,
				      struct thread_state *ts)
{
	u64 grew = st->solo_grew, shrank = st->solo_shrank;

	if (!grew && !shrank)
		return;
	st->solo_grew = st->solo_shrank = 0;
	__sync_fetch_and_add(&st->grew, grew);
	__sync_fetch_and_add(&st->shrank, shrank);
	if (ts && ts->mm_id == st->mm_id) {
		ts->grew += grew;
		ts->shrank += shrank;
	} else if (is_first(st, task)) {
		st->first_grew += grew;
		st->first_shrank += shrank;
	} else {
		count_loss(PP_LOSS_GROWTH, grew + shrank);
	}
}

#endif
