/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which open file a write goes to, and whether it completes a literal of a pattern.
 *
 * stdout and stderr are what fds 1 and 2 refer to, and what was dup'ed from them: told by the open
 * file, not by the number, so that a program may move them about.
 */
#ifndef PEAKPHASE_OUTPUT_BPF_H
#define PEAKPHASE_OUTPUT_BPF_H

#include "emit.bpf.h"
#include "std.bpf.h"

#define OUT_CHUNK PP_OUT_LARGE /* bytes read at once */
#define OUT_MAX (2u << 20)     /* bytes of one write that are looked at */
#define OUT_PIECES 1024u       /* of one writev: the kernel's own limit */
#define OUT_STEP 64u	       /* bytes looked at in one round: rounds cost more than bytes */

extern const volatile struct out_literal cfg_literals[OUT_LITERALS];
extern const volatile u32 cfg_nliterals;
extern const volatile u8 cfg_ends[256]; /* 1: the last byte of some literal */
/* The same bytes, each eight times: where there are few, eight bytes of output are one look. */
extern const volatile u64 cfg_end_words[OUT_END_WORDS];
extern const volatile u32 cfg_nend_words; /* more than OUT_END_WORDS: each byte is looked at */
extern u32 next_file;

struct file_key {
	u64 mm_id, file;
};

/* An open file that is, or was, stdout or stderr of a process. */
struct out_file {
	u64 inode; /* with the pointer: tells a reused one apart */
	u64 word;  /* the last eight bytes that went to it */
	u64 to;	   /* of pp_write, and */
	u64 reader[PP_READERS];
	u64 hit_ns; /* when its open line completed a literal; 0: it has none */
	u32 number;
	u32 stream; /* 1, 2 */
	u32 open;   /* its last line has no end yet */
	u32 gap;    /* bytes were lost */
	u32 routed; /* `to` and `reader` are known */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct file_key);
	__type(value, struct out_file);
} out_files __weak SEC(".maps");

/*
 * Where bytes are looked at: output.bpf.c's programs cannot be interrupted by each other on a CPU.
 * All that a loop changes is here and not on the stack, for the reason that marker.bpf.c gives.
 */
struct out_scan {
	u64 word, word2; /* the last bytes: of this thread, of all */
	u64 at;
	u64 vector; /* 0: one piece */
	u32 left;   /* bytes of the piece */
	u32 budget; /* bytes of the write that may be looked at */
	u32 pieces;
	u32 n;	   /* bytes in data */
	u32 seen;  /* bytes looked at */
	u32 hit;   /* a literal was completed */
	u32 after; /* and its line has no end yet */
	u32 lines; /* ends of lines */
	u32 fault; /* a part could not be read */
	u32 last;  /* byte */
	u8 data[OUT_CHUNK] __attribute__((aligned(8)));
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct out_scan);
} out_scans __weak SEC(".maps");

/* stdout or stderr under another number? 0: no. */
static __always_inline u32 dup_of(struct task_struct *task, u64 file)
{
	if (file_of(task, 1) == file)
		return 1;
	return file_of(task, 2) == file ? 2 : 0;
}

/* The file that fd is, if it is one of ours; *key is what it is found by. */
static __always_inline struct out_file *out_file_of(struct task_struct *task,
						    const struct mm_state *st, u32 fd,
						    struct file_key *key, u32 *stream)
{
	struct out_file *f, fresh = {};
	u64 file = file_of(task, fd), inode;

	if (!file)
		return NULL;
	*key = (struct file_key){st->mm_id, file};
	inode = inode_of(file);
	*stream = std_of(st, file, inode);
	if (!*stream && (fd == 1 || fd == 2))
		*stream = fd;
	f = bpf_map_lookup_elem(&out_files, key);
	if (f && f->inode == inode) {
		if (!*stream)
			*stream = f->stream;
		return f;
	}
	if (!*stream)
		*stream = dup_of(task, file);
	if (!*stream)
		return NULL;
	fresh.inode = inode;
	fresh.stream = *stream;
	fresh.number = __sync_fetch_and_add(&next_file, 1);
	bpf_map_update_elem(&out_files, key, &fresh, BPF_ANY);
	return bpf_map_lookup_elem(&out_files, key);
}

/* Does the word end in a literal? A function of its own, so that the verifier sees it once. */
__weak int ends_literal(u64 word)
{
	for (u32 i = 0; i < OUT_LITERALS; i++) {
		if (i >= cfg_nliterals)
			break;
		if ((word & cfg_literals[i].mask) == cfg_literals[i].word)
			return 1;
	}
	return 0;
}

struct scanner {
	struct out_scan *s;
};

#define EACH_BYTE 0x0101010101010101ull

/* Not 0: one of the eight bytes is 0. */
static __always_inline u64 zero_byte(u64 v)
{
	return (v - EACH_BYTE) & ~v & (EACH_BYTE << 7);
}

/* Eight bytes without the end of a line or of a literal: most there are. */
static __always_inline bool is_dull(u64 v)
{
	u64 found = zero_byte(v ^ EACH_BYTE * '\n');

	if (cfg_nend_words > OUT_END_WORDS)
		return false;
	for (u32 i = 0; i < OUT_END_WORDS; i++) {
		if (i >= cfg_nend_words)
			break;
		found |= zero_byte(v ^ cfg_end_words[i]);
	}
	return !found;
}

/*
 * Fragments of threads interleave: a literal may be whole in those of one, or in all together. A
 * function of its own, as above.
 */
__weak int scan_bytes(struct out_scan *s, u32 from)
{
	u64 word, word2;

	if (!s)
		return 0;
	word = s->word;
	word2 = s->word2;
	for (u32 k = 0; k < 8; k++) {
		u32 i = from + k, newline, hit;
		u8 c;

		if (i >= s->n)
			break;
		c = s->data[i & (OUT_CHUNK - 1)];
		word = word << 8 | c;
		word2 = word2 << 8 | c;
		/* Without branches, and hidden from the compiler: each doubles what the verifier
		 * of 7.3 looks at. */
		newline = ((u32)(c ^ '\n') - 1) >> 31;
		barrier_var(newline);
		s->lines += newline;
		s->after &= newline - 1;
		if (!cfg_ends[c])
			continue;
		hit = ends_literal(word) | ends_literal(word2);
		s->hit |= hit;
		s->after |= hit;
	}
	s->word = word;
	s->word2 = word2;
	return 0;
}

static long scan_step(u32 step, struct scanner *ctx)
{
	struct out_scan *s = ctx->s;

	for (u32 k = 0; k < OUT_STEP / 8; k++) {
		u32 from = step * OUT_STEP + k * 8;
		u64 v = *(u64 *)&s->data[from & (OUT_CHUNK - 8)];

		if (from >= s->n)
			break;
		if (from + 8 <= s->n && is_dull(v))
			s->word = s->word2 = __builtin_bswap64(v);
		else
			scan_bytes(s, from);
	}
	return 0;
}

static long scan_chunk(u32 i, struct scanner *ctx)
{
	struct out_scan *s = ctx->s;
	u32 n = s->left;

	if (n > OUT_CHUNK)
		n = OUT_CHUNK;
	if (!n)
		return 1;
	if (bpf_probe_read_user(s->data, n, (void *)s->at)) {
		s->fault = 1;
		return 1;
	}
	s->n = n;
	bpf_loop((n + OUT_STEP - 1) / OUT_STEP, scan_step, ctx, 0);
	s->last = s->data[(n - 1) & (OUT_CHUNK - 1)];
	s->seen += n;
	s->at += n;
	s->left -= n;
	return s->left == 0;
}

/* The next piece of a write, within the budget; false: there is none. */
static __always_inline bool next_piece(struct out_scan *s, u32 i)
{
	struct iovec v = {};

	if (i >= s->pieces || !s->budget || s->fault)
		return false;
	if (s->vector) {
		if (bpf_probe_read_user(&v, sizeof(v), (void *)(s->vector + i * sizeof(v)))) {
			s->fault = 1;
			return false;
		}
		s->at = v.base;
		s->left = v.len > s->budget ? s->budget : v.len;
	} else if (s->left > s->budget) {
		s->left = s->budget;
	}
	s->budget -= s->left;
	return true;
}

static long scan_piece(u32 i, struct scanner *ctx)
{
	if (!next_piece(ctx->s, i))
		return 1;
	bpf_loop(OUT_MAX / OUT_CHUNK + 1, scan_chunk, ctx, 0);
	return 0;
}

#endif
