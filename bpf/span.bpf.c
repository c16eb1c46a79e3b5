/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions as spans (--span): a probe at the entry, and one at each instruction by which control
 * leaves for good. No return probes where something may be thrown: they replace the return address,
 * and a C++ exception that has to pass it ends in std::terminate().
 *
 * A call is told by where its return address lies: the stack pointer at the entry, and again at the
 * `ret`. So a `ret` that other calls share, of a function that ours ends in a jump to, ends ours
 * alone; recursion needs no counting; and what lies below the stack pointer of a later event, on
 * the same stack, was left without a return: by longjmp, or by an exception.
 */
#include "mark.bpf.h"
#include "unpreempted.bpf.h"

#define SPAN_DEPTH 256 /* calls that are open at once in a thread; a power of two */
#define SPAN_TOKEN                                                                                 \
	(1ull << 63)	  /* those of the program are an address times a number, and count         \
			   */
#define NEAR (128u << 10) /* for one stack where the kernel is too busy to tell */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SPAN_FUNCTIONS);
	__type(key, u32);
	__type(value, struct span_label);
} span_labels SEC(".maps");

struct span_frame {
	u64 sp;	    /* where its return address lies */
	u64 token;  /* 0: it was left */
	u64 cookie; /* of the probe at its entry */
};

/* Of a thread. What the loop over the frames changes is here: see struct reader of the markers. */
struct span_thread {
	u64 mm_id;    /* of the frames */
	u64 sp;	      /* of the event */
	u64 from, to; /* the mapping that it lies in; 0: not asked for yet */
	u32 n;
	u32 top;    /* n when the loop began */
	u32 deeper; /* only frames below sp, not the one at it */
	u32 all;    /* the thread is gone */
	u32 kind;   /* enum entry */
	u32 pad;
	struct span_frame frame[SPAN_DEPTH];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct span_thread);
} span_threads SEC(".maps");

static u64 next_span;

struct leaving {
	struct span_thread *th;
	struct mm_state *st;
	struct thread_state *ts;
};

static long keep_range(struct task_struct *task, struct vm_area_struct *vma, struct leaving *ctx)
{
	ctx->th->from = vma->vm_start;
	ctx->th->to = vma->vm_end;
	return 0;
}

/* Coroutines and signal stacks: what lies on another stack is not left because this one is used. */
static __always_inline bool same_stack(struct leaving *ctx, u64 sp)
{
	struct span_thread *th = ctx->th;

	if (!th->to) {
		th->from = th->sp > NEAR ? th->sp - NEAR : 0;
		th->to = th->sp + 1;
		bpf_find_vma(bpf_get_current_task_btf(), th->sp, keep_range, ctx, 0);
	}
	return sp >= th->from && sp < th->to;
}

static __always_inline int send_end(struct leaving *ctx, u64 token)
{
	struct thread_state *ts = ctx->ts;

	if (!ts || !ctx->st)
		return 0;
	__builtin_memset(&ts->reading, 0, sizeof(ts->reading));
	if (ctx->th->all)
		send_mark(ctx->st, bpf_get_current_task_btf(), ts, PP_END, token, PP_LABEL_SMALL,
			  false);
	else
		send_mark(ctx->st, bpf_get_current_task_btf(), ts, PP_END, token, PP_LABEL_SMALL,
			  true);
	return 0;
}

/* The innermost first. */
static long leave_frame(u32 i, struct leaving *ctx)
{
	struct span_thread *th = ctx->th;
	struct span_frame *f;
	u64 token;

	if (i >= th->top)
		return 1;
	f = &th->frame[(th->top - 1 - i) & (SPAN_DEPTH - 1)];
	token = f->token;
	if (!token)
		return 0;
	if (!th->all) {
		if (f->sp > th->sp || (f->sp == th->sp && th->deeper))
			return 0;
		if (f->sp < th->sp && !same_stack(ctx, f->sp))
			return 0;
	}
	f->token = 0;
	send_end(ctx, token);
	return 0;
}

static long drop_frame(u32 i, struct leaving *ctx)
{
	struct span_thread *th = ctx->th;
	u32 n = th->n;

	if (!n || th->frame[(n - 1) & (SPAN_DEPTH - 1)].token)
		return 1;
	th->n = n - 1;
	return 0;
}

/* Ends the frame at sp, and those below it. */
static __always_inline void leave(struct leaving *ctx)
{
	struct span_thread *th = ctx->th;

	th->from = th->to = 0;
	th->top = th->n;
	bpf_loop(SPAN_DEPTH, leave_frame, ctx, 0);
	bpf_loop(SPAN_DEPTH, drop_frame, ctx, 0);
}

/* The thread's frames, and what else an event is about; false: nothing to be done. */
static __always_inline bool find_thread(struct leaving *ctx, struct task_struct *task)
{
	struct mm_struct *mm = task->mm;

	if (!mm)
		return false;
	ctx->st = state_of(mm);
	if (!ctx->st)
		return false;
	ctx->th = bpf_task_storage_get(&span_threads, task, 0, 0);
	if (!ctx->th || ctx->th->mm_id != ctx->st->mm_id)
		ctx->th = NULL;
	ctx->ts = bpf_task_storage_get(&threads, task, 0, 0);
	if (!ctx->ts || ctx->ts->mm_id != ctx->st->mm_id)
		ctx->ts = NULL;
	return true;
}

/* What the thread has on its stack at sp was left (deeper: what lies below that alone). */
static __noinline int was_left(u64 sp, u64 deeper)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct leaving ctx = {};

	if (!find_thread(&ctx, task) || !ctx.th || !ctx.ts || !ctx.th->n)
		return 0;
	book_solo(ctx.st, task, ctx.ts);
	ctx.th->sp = sp;
	ctx.th->deeper = deeper;
	ctx.th->all = 0;
	leave(&ctx);
	return 0;
}

static __always_inline void send_begin(struct leaving *ctx, struct task_struct *task,
				       const struct span_label *label, u64 token)
{
	struct thread_state *ts = ctx->ts;

	ts->reading.hash = label->hash;
	ts->reading.len = label->len;
	ts->reading.flags = label->flags;
	ts->marks = 1;
	__builtin_memcpy(ts->label, label->bytes, sizeof(ts->label));
	if (label->len <= PP_LABEL_SMALL)
		send_mark(ctx->st, task, ts, PP_BEGIN, token, PP_LABEL_SMALL, true);
	else
		send_mark(ctx->st, task, ts, PP_BEGIN, token, PP_LABEL_MAX + 1, true);
}

/* One more frame; NULL: there is no room, and it goes without a span. */
static __always_inline struct span_frame *new_frame(struct leaving *ctx, struct task_struct *task)
{
	struct span_thread *th = ctx->th;
	u32 n;

	if (!th) {
		th = bpf_task_storage_get(&span_threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
		if (!th)
			return NULL;
		/* Of another program, before an exec, if of any. */
		th->mm_id = ctx->st->mm_id;
		th->n = 0;
	}
	n = th->n;
	if (n >= SPAN_DEPTH)
		return NULL;
	th->n = n + 1;
	return &th->frame[n & (SPAN_DEPTH - 1)];
}

enum entry { ENTRY_NEW, ENTRY_AGAIN, ENTRY_OVER };

struct entering {
	struct span_thread *th;
	u64 cookie;
};

/* From the innermost out, as long as they share the stack pointer of this entry. */
static long look_at_frame(u32 i, struct entering *ctx)
{
	struct span_thread *th = ctx->th;
	struct span_frame *f;

	if (i >= th->n)
		return 1;
	f = &th->frame[(th->n - 1 - i) & (SPAN_DEPTH - 1)];
	if (f->sp != th->sp)
		return 1;
	if (f->cookie == ctx->cookie && ctx->cookie & SPAN_AGAIN)
		th->kind = ENTRY_AGAIN;
	else if (!i && !(f->cookie & SPAN_TAILS))
		th->kind = ENTRY_OVER;
	return th->kind != ENTRY_NEW;
}

/*
 * Where the innermost frame has the stack pointer of this entry, it has jumped here as its last
 * act, or this is a jump back to the beginning of one that is open; else it was left, as all below
 * it.
 */
static __always_inline enum entry kind_of_entry(struct span_thread *th, u64 sp, u64 cookie)
{
	struct entering e = {.th = th, .cookie = cookie};
	struct span_frame *f;
	u32 n = th->n;

	if (!n)
		return ENTRY_NEW;
	f = &th->frame[(n - 1) & (SPAN_DEPTH - 1)];
	if (f->sp > sp)
		return ENTRY_NEW;
	if (f->sp < sp)
		return ENTRY_OVER;
	th->sp = sp;
	th->kind = ENTRY_NEW;
	bpf_loop(SPAN_DEPTH, look_at_frame, &e, 0);
	return th->kind;
}

static __always_inline int entered(u64 sp, u64 cookie)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct leaving ctx = {};
	u32 function = cookie & (SPAN_FUNCTIONS - 1);
	struct span_label *label = bpf_map_lookup_elem(&span_labels, &function);
	enum entry kind = ENTRY_NEW;
	struct span_frame *f;

	if (!label || !find_thread(&ctx, task))
		return 0;
	if (!ctx.ts)
		ctx.ts = thread_adopt(task, ctx.st);
	if (!ctx.ts) {
		count_loss(PP_LOSS_MARKS, 1);
		return 0;
	}
	book_solo(ctx.st, task, ctx.ts);
	if (ctx.th)
		kind = kind_of_entry(ctx.th, sp, cookie);
	if (kind == ENTRY_AGAIN)
		return 0;
	if (kind == ENTRY_OVER && ctx.th) {
		ctx.th->sp = sp;
		ctx.th->deeper = ctx.th->all = 0;
		leave(&ctx);
	}
	f = new_frame(&ctx, task);
	if (!f) {
		count_loss(PP_LOSS_MARKS, 1);
		return 0;
	}
	f->sp = sp;
	f->cookie = cookie;
	f->token = SPAN_TOKEN | __sync_fetch_and_add(&next_span, 1);
	send_begin(&ctx, task, label, f->token);
	return 0;
}

SEC("uprobe")
int on_span_entry(struct pt_regs *ctx)
{
	keep_own_stack(ctx);
	return entered(PT_REGS_SP(ctx), bpf_get_attach_cookie(ctx));
}

/* A `ret`, or a jump to what cannot be followed, where the stack is as it was at the entry. */
SEC("uprobe")
int on_span_exit(struct pt_regs *ctx)
{
	keep_own_stack(ctx);
	return was_left(PT_REGS_SP(ctx), 0);
}

/* The function ended in a jump to one that throws nothing, and that one has returned. */
SEC("uretprobe")
int on_span_return(struct pt_regs *ctx)
{
	keep_own_stack(ctx);
	return was_left(PT_REGS_SP(ctx) - sizeof(u64), 0);
}

/*
 * An exception has been caught. Called by who caught it, with a return address that may lie where
 * that of the call that threw was.
 */
SEC("uprobe")
int on_caught(struct pt_regs *ctx)
{
	keep_own_stack(ctx);
	return was_left(PT_REGS_SP(ctx), 0);
}

#define JB_RSP 6 /* of x86-64: glibc's sysdeps/x86_64/jmpbuf-offsets.h, musl's longjmp.s */
#define POINTER_GUARD 0x30 /* glibc's tcbhead_t */
#define STACK_MAX (1ull << 30)

/*
 * The stack pointer that a longjmp goes back to; glibc mixes it with a word that the thread has,
 * and turns it by 17 bits (PTR_MANGLE). 0: not to be told; then what was left ends at the next
 * event.
 */
static __always_inline u64 jump_to(u64 env, u64 sp)
{
	struct task_struct *task = bpf_get_current_task_btf();
	u64 to = 0, guard = 0, fs;

	if (bpf_probe_read_user(&to, sizeof(to), (void *)(env + JB_RSP * sizeof(u64))))
		return 0;
	if (to > sp && to - sp < STACK_MAX)
		return to;
	if (!bpf_core_field_exists(task->thread.fsbase))
		return 0;
	fs = task->thread.fsbase;
	if (bpf_probe_read_user(&guard, sizeof(guard), (void *)(fs + POINTER_GUARD)))
		return 0;
	to = (to >> 17 | to << 47) ^ guard;
	return to > sp && to - sp < STACK_MAX ? to : 0;
}

SEC("uprobe")
int on_longjmp(struct pt_regs *ctx)
{
	u64 to;

	keep_own_stack(ctx);
	to = jump_to(PT_REGS_PARM1(ctx), PT_REGS_SP(ctx));
	return to ? was_left(to, 1) : 0;
}

static __noinline int left_all(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct leaving ctx = {};
	u32 tgid = task->tgid;
	struct proc_state *p = bpf_map_lookup_elem(&procs, &tgid);

	ctx.st = p ? state_of_proc(p) : NULL;
	ctx.th = bpf_task_storage_get(&span_threads, task, 0, 0);
	ctx.ts = bpf_task_storage_get(&threads, task, 0, 0);
	if (!ctx.st || !ctx.th || !ctx.ts || !ctx.th->n || ctx.th->mm_id != ctx.st->mm_id ||
	    ctx.ts->mm_id != ctx.st->mm_id)
		return 0;
	if (task->mm && (u64)task->mm == ctx.st->mm && ctx.st->ready)
		settle(ctx.st);
	book_solo(ctx.st, task, ctx.ts);
	ctx.th->all = 1;
	leave(&ctx);
	return 0;
}

/* A thread ends within them (pthread_exit); where all do, they are open at exit. Before on_exit. */
static __always_inline int exited_in_span(struct task_struct *task)
{
	if (BPF_CORE_READ(task, signal, live.counter) <= 0)
		return 0;
	return left_all();
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit_in_span, struct task_struct *task)
{
	return exited_in_span(task);
}

SEC("tp/sched/sched_process_exit")
int on_exit_in_span_unpreempted(void *ctx)
{
	return with_current(exited_in_span);
}
