/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What programs write to stdout and stderr: write(2) and writev(2).
 *
 * A write that completes a literal of a pattern ends the window at its entry: that is the instant
 * of the mark. What was written is known at its exit: fewer bytes, or none, and a buffer that
 * nobody had read (a literal in a mapped file) is resident only then. Whole lines without a literal
 * are not sent at all.
 */
#include "adopt.bpf.h"
#include "output.bpf.h"
#include "route.bpf.h"

const volatile struct out_literal cfg_literals[OUT_LITERALS];
const volatile u32 cfg_nliterals = 0;
const volatile u8 cfg_ends[256];
const volatile u64 cfg_end_words[OUT_END_WORDS];
const volatile u32 cfg_nend_words = 0;
const volatile u32 cfg_every = 0; /* a pattern without a literal: each write ends a window */
const volatile u32 cfg_keep = 0;  /* streams to be recorded: bit 1 stdout, bit 2 stderr */
const volatile u32 cfg_wake_output = 0;
const volatile u32 cfg_room_edges = 0; /* bytes on the edge ring that output leaves to others */

u32 next_file = 1;
u64 next_write = 1;

/*
 * What is kept of a stream is copied as fast as this, on an average over OUT_BURST bytes: some
 * percent of a CPU. What is written faster is counted.
 */
#define OUT_BYTE_NS 8ull
#define OUT_BURST (16u << 20)

/* Until when what was sent of a stream has used up that rate. Races of CPUs let a little more
 * through. */
u64 out_spent_ns[2];

/* A line whose literal came so long ago has been taken as it stood: its end is an edge of its own.
 */
#define LINE_OLD_NS 500000000ull

/* What a thread is writing, from the entry of the call to its exit, and what it wrote before. */
struct out_thread {
	struct file_key key;
	u64 write; /* its number; 0: none under way */
	u64 time_ns;
	u64 at, count; /* the buffer; or the vector and its pieces */
	u64 word;      /* the last bytes that it wrote to file `number` */
	u64 next;      /* the same after this write */
	u64 base;      /* --output: where in its stream the next piece begins */
	u32 vector;
	u32 number;
	u32 stream;
	u32 open; /* its own last line there has no end yet */
	u32 seen, last, lines, after, hit;
	u32 cold; /* the buffer could not be read at entry */
	u32 edge; /* an edge was sent */
	u32 lost; /* and counted: a write is lost once, whatever of it is */
	u32 flags;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct out_thread);
} out_threads SEC(".maps");

static __always_inline void lose_write(struct out_thread *ot)
{
	if (!ot->lost)
		count_loss(PP_LOSS_OUTPUT, 1);
	ot->lost = 1;
}

static __always_inline void aim(struct out_scan *s, const struct out_thread *ot, u32 budget)
{
	s->vector = ot->vector ? ot->at : 0;
	s->pieces = !ot->vector ? 1 : ot->count > OUT_PIECES ? OUT_PIECES : ot->count;
	s->at = ot->at;
	s->left = ot->vector ? 0 : ot->count > OUT_MAX ? OUT_MAX : ot->count;
	s->budget = budget;
	s->seen = s->hit = s->after = s->lines = s->fault = s->last = 0;
}

/* Looks at the first `budget` bytes of the write. */
static __always_inline void scan(struct out_thread *ot, const struct out_file *f,
				 struct out_scan *s, u32 budget)
{
	struct scanner ctx = {.s = s};

	aim(s, ot, budget);
	s->word = ot->word;
	s->word2 = f->word;
	bpf_loop(OUT_PIECES, scan_piece, &ctx, 0);
	ot->next = s->word;
	ot->seen = s->seen;
	ot->last = s->last;
	ot->lines = s->lines;
	ot->after = s->after;
	ot->hit = s->hit;
	ot->cold = s->fault;
}

/* Ends the window. */
static __always_inline void cut_write(struct out_thread *ot, struct out_file *f,
				      struct mm_state *st, struct task_struct *task)
{
	struct thread_state *ts;
	struct pp_write *w;

	/* Marks of programs that call them, ends and forks are dearer than lines. */
	if (bpf_ringbuf_query(&ring_edges, BPF_RB_AVAIL_DATA) > cfg_room_edges) {
		lose_write(ot);
		return;
	}
	ts = bpf_task_storage_get(&threads, task, 0, 0);
	if (!ts || ts->mm_id != st->mm_id)
		ts = thread_adopt(task, st);
	if (!ts) {
		count_loss(PP_LOSS_MARKS, 1);
		return;
	}
	find_route(f, ot->key.file);
	w = edge_reserve(st, sizeof(*w));
	if (!w)
		return;
	fill_route(w, f, task);
	book_solo(st, task, ts);
	ts->marks = 1;
	settle(st);
	fill_edge(&w->edge, PP_WRITE, sizeof(*w), st, task, ts);
	w->write = ot->write;
	ot->edge = 1;
	edge_submit(w, false);
}

static __always_inline bool cuts(const struct out_thread *ot, const struct out_file *f)
{
	if (cfg_every || ot->hit)
		return true;
	return f->hit_ns && ot->lines && ot->time_ns - f->hit_ns > LINE_OLD_NS;
}

static __always_inline bool wanted(u32 stream)
{
	return cfg_every || cfg_nliterals || cfg_keep >> stream & 1;
}

/* The instant of the write: its entry. Only of a write that fell short it is the exit. */
static __always_inline void take_time(struct out_thread *ot)
{
	if (!ot->time_ns)
		ot->time_ns = bpf_ktime_get_ns();
}

static __always_inline bool kept(const struct out_thread *ot)
{
	return cfg_keep >> ot->stream & 1;
}

static __always_inline void begins(u32 fd, u64 at, u64 count, bool vector)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct mm_struct *mm = task->mm;
	struct file_key key;
	struct out_thread *ot;
	struct mm_state *st;
	struct out_scan *s;
	struct out_file *f;
	u32 zero = 0, stream = 0;

	if (!mm || !count)
		return;
	st = state_of(mm);
	if (!st)
		return;
	f = out_file_of(task, st, fd, &key, &stream);
	if (!f || !wanted(stream))
		return;
	ot = bpf_task_storage_get(&out_threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	s = bpf_map_lookup_elem(&out_scans, &zero);
	if (!ot || !s) {
		count_loss(PP_LOSS_OUTPUT, 1);
		return;
	}
	/* Nobody saw its last write end: before 6.2 the kernel may refuse a thread's state. */
	if (ot->write) {
		lose_write(ot);
		f->gap = 1;
	}
	if (ot->number != f->number) {
		ot->number = f->number;
		ot->word = f->word;
		ot->open = 0;
	}
	ot->key = key;
	ot->stream = stream;
	ot->write = __sync_fetch_and_add(&next_write, 1);
	ot->time_ns = 0;
	ot->at = at;
	ot->count = count;
	ot->vector = vector;
	ot->edge = ot->lost = ot->cold = ot->hit = ot->seen = 0;
	if (!cfg_every && !cfg_nliterals) {
		take_time(ot);
		return;
	}
	scan(ot, f, s, OUT_MAX);
	/* Whole lines without a literal are not sent: nobody asks when they were. */
	if (ot->cold || ot->hit || ot->last != '\n' || f->hit_ns || f->open || ot->open ||
	    cfg_every || kept(ot))
		take_time(ot);
	if (!ot->cold && cuts(ot, f))
		cut_write(ot, f, st, task);
}

/* Sending: the pieces of a write, each in chunks. */
struct sending {
	struct out_thread *ot;
	struct out_scan *s;
	const struct mm_state *st;
	struct out_file *f;
	bool needed; /* for the lines */
};

static __always_inline long send_chunk_of(struct sending *ctx, const u32 room)
{
	struct out_thread *ot = ctx->ot;
	struct out_scan *s = ctx->s;
	struct pp_output *o = output_reserve(room);
	u32 n = s->left;

	if (n > room)
		n = room;
	if (!o) {
		if (ctx->needed) {
			lose_write(ot);
			ctx->f->gap = 1;
		}
		s->fault = 1;
		return 1;
	}
	fill_header(&o->hdr, PP_OUTPUT, sizeof(*o) + room, ctx->st, bpf_get_current_task_btf());
	o->hdr.time_ns = ot->time_ns;
	o->write = ot->write;
	o->at = ot->base;
	o->file = ctx->f->number;
	o->stream = ot->stream;
	o->flags = (ot->edge ? PP_OUT_EDGE : 0) | (ctx->f->gap ? PP_OUT_GAP : 0);
	o->len = n;
	o->pad = 0;
	if (n && bpf_probe_read_user(o->data, n, (void *)s->at)) {
		/* Unmapped by another thread meanwhile: what was written is not known. */
		o->len = 0;
		o->flags |= PP_OUT_GAP;
		s->fault = 1;
	}
	ot->base += o->len;
	ctx->f->gap = 0;
	s->at += n;
	s->left -= n;
	if (!s->left && !s->budget)
		o->flags |= PP_OUT_LAST | ot->flags;
	output_submit(o);
	return s->left == 0 || s->fault;
}

static long send_chunk(u32 i, struct sending *ctx)
{
	if (ctx->s->left > PP_OUT_SMALL)
		return send_chunk_of(ctx, PP_OUT_LARGE);
	return send_chunk_of(ctx, PP_OUT_SMALL);
}

static long send_piece(u32 i, struct sending *ctx)
{
	if (!next_piece(ctx->s, i))
		return 1;
	if (ctx->s->left || !ctx->s->budget)
		bpf_loop(OUT_MAX / OUT_CHUNK + 1, send_chunk, ctx, 0);
	return 0;
}

static __always_inline void send(struct out_thread *ot, struct out_scan *s, struct mm_state *st,
				 struct out_file *f, u32 bytes, bool needed)
{
	struct sending ctx = {.ot = ot, .s = s, .st = st, .f = f, .needed = needed};

	aim(s, ot, bytes);
	if (bytes) {
		bpf_loop(OUT_PIECES, send_piece, &ctx, 0);
	} else {
		s->left = s->budget = 0;
		send_chunk_of(&ctx, PP_OUT_SMALL);
	}
}

/* It was written: what the lines look like now. */
static __always_inline void advance(struct out_thread *ot, struct out_file *f)
{
	u32 open = ot->last != '\n';

	f->word = ot->word = ot->next;
	f->open = ot->open = open;
	if (ot->after)
		f->hit_ns = ot->time_ns;
	else if (ot->lines)
		f->hit_ns = 0;
}

/* Large writes leave room for small ones: an error's text behind a flood of data. */
static __always_inline bool within_rate(u32 stream, u32 bytes)
{
	u64 *spent_ns = &out_spent_ns[(stream - 1) & 1];
	u64 most = OUT_BURST * OUT_BYTE_NS / (bytes > PP_OUT_LARGE ? 2 : 1);
	u64 now = bpf_ktime_get_ns(), spent = *spent_ns;

	if (spent < now)
		spent = now;
	if (spent - now > most)
		return false;
	*spent_ns = spent + bytes * OUT_BYTE_NS;
	return true;
}

static __always_inline void send_kept(struct out_thread *ot, struct out_scan *s,
				      struct mm_state *st, struct out_file *f, long ret, u32 bytes,
				      bool needed)
{
	u64 end;

	ot->base = __sync_fetch_and_add(&st->wrote[(ot->stream - 1) & 1], ret);
	end = ot->base + ret;
	if (needed || within_rate(ot->stream, bytes))
		send(ot, s, st, f, bytes, needed);
	if (ot->base < end)
		count_loss(PP_LOSS_BYTES, end - ot->base);
}

static __always_inline void ends(struct out_thread *ot, struct out_file *f, struct out_scan *s,
				 struct mm_state *st, struct task_struct *task, long ret)
{
	u32 bytes = ret > (long)OUT_MAX ? OUT_MAX : ret;
	bool scans = cfg_every || cfg_nliterals, cold = ot->cold, needed;

	ot->flags = ret > (long)OUT_MAX ? PP_OUT_CUT : 0;
	ot->base = 0;
	if (ret <= 0) {
		if (ot->edge)
			send(ot, s, st, f, 0, true);
		return;
	}
	if (scans && (cold || ot->seen != bytes)) {
		scan(ot, f, s, bytes);
		take_time(ot);
	}
	if (cold && cuts(ot, f))
		cut_write(ot, f, st, task);
	if (scans && ot->flags)
		lose_write(ot);
	needed = scans && (cfg_every || ot->edge || f->open || ot->open || ot->last != '\n');
	if (needed)
		take_time(ot); /* another thread has left its line open meanwhile */
	if (kept(ot))
		send_kept(ot, s, st, f, ret, bytes, needed);
	else if (needed)
		send(ot, s, st, f, bytes, true);
	if (scans)
		advance(ot, f);
	if (ot->flags)
		f->gap = 1;
}

static __always_inline void ended(long ret)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct mm_struct *mm = task->mm;
	struct out_thread *ot;
	struct mm_state *st;
	struct out_scan *s;
	struct out_file *f;
	u32 zero = 0;

	ot = bpf_task_storage_get(&out_threads, task, 0, 0);
	if (!ot || !ot->write || !mm)
		return;
	st = state_of(mm);
	s = bpf_map_lookup_elem(&out_scans, &zero);
	f = bpf_map_lookup_elem(&out_files, &ot->key);
	if (st && s && f && st->mm_id == ot->key.mm_id)
		ends(ot, f, s, st, task, ret);
	ot->write = 0;
}

SEC("tp/syscalls/sys_enter_write")
int on_write(struct sys_enter *ctx)
{
	begins(ctx->args[0], ctx->args[1], ctx->args[2], false);
	return PASS;
}

SEC("tp/syscalls/sys_enter_writev")
int on_writev(struct sys_enter *ctx)
{
	begins(ctx->args[0], ctx->args[1], ctx->args[2], true);
	return PASS;
}

SEC("tp/syscalls/sys_exit_write")
int on_written(struct sys_exit *ctx)
{
	ended(ctx->ret);
	return PASS;
}

SEC("tp/syscalls/sys_exit_writev")
int on_writtenv(struct sys_exit *ctx)
{
	ended(ctx->ret);
	return PASS;
}

/*
 * The same where the kernel leaves preemption on around tp/syscalls (trace_call_bpf_faultable; 7.3
 * has it): a program that is preempted there is skipped for everybody else on that CPU until it
 * goes on, for whole time slices. Of six writers on two CPUs a quarter of the writes went unseen.
 * Probes of functions run with preemption disabled.
 */
static __always_inline int call_begins(struct pt_regs *ctx, bool vector)
{
	struct pt_regs *user = (struct pt_regs *)PT_REGS_PARM1(ctx);

	begins(PT_REGS_PARM1_CORE(user), PT_REGS_PARM2_CORE(user), PT_REGS_PARM3_CORE(user),
	       vector);
	return 0;
}

SEC("kprobe.multi")
int on_write_unpreempted(struct pt_regs *ctx)
{
	return call_begins(ctx, false);
}

SEC("kprobe.multi")
int on_writev_unpreempted(struct pt_regs *ctx)
{
	return call_begins(ctx, true);
}

SEC("kretprobe.multi")
int on_written_unpreempted(struct pt_regs *ctx)
{
	ended(PT_REGS_RC(ctx));
	return 0;
}
