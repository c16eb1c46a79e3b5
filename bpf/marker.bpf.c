/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Markers. Sleepable, because a label may lie on a page that nobody has read yet.
 *
 * The order matters: read the label (it may sleep), then reserve, then settle and cut, then submit.
 * Nothing may come between the cut and the record of the edge.
 */
#include "mark.bpf.h"

#define LABEL_CHUNKS 65 /* a label is hashed up to 16 KiB */
#define CHUNK PP_LABEL_MAX
#define SHORT 64 /* with its end */
/* Rounds for a note: its pieces, shorter ones at the ends of pages, pages that have to be faulted
 * in. */
#define NOTE_PIECES 3000

/*
 * A label as it is read. All that changes is in the thread's state, not on the stack: verifiers
 * before 6.7 look at a callback once only, take the stack's first values for
 * constants, and leave out the tests that these pass: the one of the length was, on 6.1, and long
 * labels were written over the kernel's memory. Values in a map are unknown to them.
 */
struct reader {
	struct thread_state *ts;
};

static long take_byte(u32 i, struct reader *ctx)
{
	struct thread_state *ts = ctx->ts;
	struct reading *r = &ts->reading;
	u32 len = r->len;
	u8 c;

	if (i >= r->have)
		return 1;
	c = ts->chunk[i & 0xff];
	if (!c) {
		r->done = 1;
		return 1;
	}
	r->hash = hash_byte(r->hash, c);
	if (len < PP_LABEL_MAX) {
		ts->label[len & 0xff] = c;
		r->len = len + 1;
	} else {
		r->flags |= PP_LABEL_CUT;
	}
	return 0;
}

static long look_for_handler(struct task_struct *task, struct vm_area_struct *vma,
			     struct reader *ctx)
{
	if (!bpf_core_field_exists(vma->vm_userfaultfd_ctx.ctx))
		return 0;
	if (vma->vm_userfaultfd_ctx.ctx)
		ctx->ts->reading.handled = 1;
	return 0;
}

/*
 * Faults of this page are answered by the program itself (userfaultfd), or never: reading would
 * make its thread wait for what it would not wait for untraced, and hold up our detaching. While
 * another thread changes the address space this cannot be told; then the page is taken for an
 * ordinary one.
 */
static __always_inline bool has_handler(u64 at, struct reader *ctx)
{
	bpf_find_vma(bpf_get_current_task_btf(), at, look_for_handler, ctx, 0);
	return ctx->ts->reading.handled;
}

/* A fixed length can run into the next, unmapped page: never read across a page's end. */
static long read_chunk(u32 i, struct reader *ctx)
{
	struct thread_state *ts = ctx->ts;
	struct reading *r = &ts->reading;
	u32 n = cfg_page_size - (r->at & (cfg_page_size - 1));

	if (n > CHUNK)
		n = CHUNK;
	/* Mostly resident; else it is faulted in. */
	if (bpf_probe_read_user(ts->chunk, n, (void *)r->at) &&
	    (has_handler(r->at, ctx) || bpf_copy_from_user(ts->chunk, n, (void *)r->at))) {
		r->flags |= PP_LABEL_UNREADABLE;
		r->done = 1;
		return 1;
	}
	r->have = n;
	bpf_loop(CHUNK, take_byte, ctx, 0);
	r->at += n;
	return r->done != 0;
}

/*
 * Nearly all labels: short, and resident. Inside one call, without a callback for each byte. False:
 * it is neither, and nothing has been kept of it.
 */
static __always_inline bool read_short(struct thread_state *ts, u64 at)
{
	struct reading *r = &ts->reading;
	long got = bpf_probe_read_user_str(ts->label, SHORT + 1, (void *)at);
	u64 hash = PP_HASH_INIT;

	if (got < 1 || got > SHORT)
		return false;
	for (u32 i = 0; i < SHORT - 1; i++) {
		if (i >= got - 1)
			break;
		hash = hash_byte(hash, ts->label[i]);
	}
	r->hash = hash;
	r->len = got - 1;
	return true;
}

static __always_inline void read_label(struct thread_state *ts, u64 at)
{
	struct reader ctx = {.ts = ts};
	struct reading *r = &ts->reading;

	if (!at) {
		r->flags = PP_LABEL_NULL;
		return;
	}
	if (read_short(ts, at))
		return;
	r->at = at;
	bpf_loop(LABEL_CHUNKS, read_chunk, &ctx, 0);
	if (!r->done)
		r->flags |= PP_LABEL_CUT;
}

struct noting {
	struct thread_state *ts;
	struct mm_state *st;
};

static __always_inline void send_piece(struct pp_note *n, struct noting *ctx, u32 len, u32 flags)
{
	struct thread_state *ts = ctx->ts;

	fill_header(&n->hdr, PP_NOTE, sizeof(*n), ctx->st, bpf_get_current_task_btf());
	n->token = ts->reading.token;
	n->number = ts->notes;
	n->at = ts->reading.len;
	n->len = len;
	n->flags = flags;
	n->pad = 0;
	ts->reading.len += len;
	bpf_ringbuf_submit(n, flags ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
}

/*
 * One piece, to the end of a page at most; straight into the ring, where nothing may sleep: a page
 * that is not resident is faulted in without a record in hand, and read in the next round.
 */
static long read_piece(u32 i, struct noting *ctx)
{
	struct thread_state *ts = ctx->ts;
	struct reading *r = &ts->reading;
	u64 at = r->at;
	u32 room = cfg_page_size - (at & (cfg_page_size - 1));
	struct reader reader = {.ts = ts};
	struct pp_note *n;
	long got;

	if (r->len > PP_NOTE_MAX - PP_NOTE_CHUNK) {
		r->flags = PP_NOTE_CUT;
		return 1;
	}
	n = bpf_ringbuf_reserve(&ring_notes, sizeof(*n), 0);
	if (!n) {
		count_loss(PP_LOSS_NOTES, 1);
		r->done = 1;
		return 1;
	}
	if (room > PP_NOTE_CHUNK)
		room = PP_NOTE_CHUNK;
	if (room > 1) {
		/* The length with a NUL; a string that fills the room has lost its last byte to
		 * one. */
		got = bpf_probe_read_user_str(n->text, room, (void *)at);
		r->done = got > 0 && got < room;
	} else {
		got = bpf_probe_read_user(n->text, 1, (void *)at) ? -1 : n->text[0] ? 2 : 1;
		r->done = got == 1;
	}
	if (got > 0 && got <= PP_NOTE_CHUNK + 1) {
		r->at = at + got - 1;
		send_piece(n, ctx, got - 1, r->done ? PP_NOTE_LAST : 0);
		return r->done != 0;
	}
	bpf_ringbuf_discard(n, BPF_RB_NO_WAKEUP);
	if (has_handler(at, &reader) || bpf_copy_from_user(ts->chunk, 1, (void *)at)) {
		r->flags = PP_NOTE_UNREADABLE;
		return 1;
	}
	return 0;
}

/* No edge: a note is of a moment, and cuts no window. */
static __noinline int noted(struct mm_state *st, struct thread_state *ts)
{
	struct noting ctx = {.ts = ts, .st = st};
	struct pp_note *n;

	ts->notes++;
	if (ts->reading.at)
		bpf_loop(NOTE_PIECES, read_piece, &ctx, 0);
	else
		ts->reading.flags = PP_NOTE_UNREADABLE;
	if (ts->reading.done)
		return 0;
	n = bpf_ringbuf_reserve(&ring_notes, sizeof(*n), 0);
	if (n)
		send_piece(n, &ctx, 0, PP_NOTE_LAST | ts->reading.flags);
	else
		count_loss(PP_LOSS_NOTES, 1);
	return 0;
}

static __noinline int marked(u64 op, u64 label, u64 token)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct mm_struct *mm = task->mm;
	struct thread_state *ts;
	struct mm_state *st;
	u16 kind;

	if (!mm || op > 3)
		return 0;
	st = state_of(mm);
	if (!st)
		return 0;
	kind = op == 0 ? PP_MARK : op == 1 ? PP_BEGIN : PP_END;
	ts = bpf_task_storage_get(&threads, task, 0, 0);
	if (!ts || ts->mm_id != st->mm_id)
		ts = thread_adopt(task, st);
	if (!ts) {
		count_loss(op == 3 ? PP_LOSS_NOTES : PP_LOSS_MARKS, 1);
		return 0;
	}
	__builtin_memset(&ts->reading, 0, sizeof(ts->reading));
	if (op == 3) {
		ts->reading.at = label;
		ts->reading.token = token;
		return noted(st, ts);
	}
	ts->reading.hash = PP_HASH_INIT;
	if (kind != PP_END)
		read_label(ts, label);
	book_solo(st, task, ts);
	ts->marks = 1;
	if (ts->reading.len <= PP_LABEL_SMALL)
		send_mark(st, task, ts, kind, token, PP_LABEL_SMALL, true);
	else
		send_mark(st, task, ts, kind, token, PP_LABEL_MAX + 1, true);
	return 0;
}

/*
 * Our own marker, at any of its three sites: nothing has been changed since the call. Or, by the
 * probe's cookie, a program's own log_rss(const char *): one program for both, as each that is
 * loaded takes 8 ms of every start.
 */
SEC("uprobe.s")
int BPF_KPROBE(on_marker, u64 op, u64 label, u64 token)
{
	bool own = bpf_get_attach_cookie(ctx) == MARKER_OWN;

	keep_own_stack(ctx);
	return marked(own ? 0 : op, own ? op : label, own ? 0 : token);
}
