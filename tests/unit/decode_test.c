/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Records, byte by byte, into events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "decode/decode.h"

#define PAGE 4096u

static void head(void *rec, uint16_t kind, size_t size)
{
	struct pp_hdr h = {
	    .kind = kind,
	    .size = (uint32_t)size,
	    .time_ns = 11,
	    .mm_id = 12,
	    .pid = 13,
	    .tid = 14,
	};

	memset(rec, 0, size);
	memcpy(rec, &h, sizeof(h));
}

/* From a copy of exactly `size` bytes, so that the sanitizers see any read past it. */
static int decode(const void *rec, size_t size, uint32_t page, struct event *out)
{
	void *copy = malloc(size ? size : 1);
	int err;

	assert_non_null(copy);
	memcpy(copy, rec, size);
	err = decode_record(copy, size, page, out);
	free(copy);
	return err;
}

static void edge_values(void **state)
{
	struct pp_edge rec;
	struct event ev;

	(void)state;
	head(&rec, PP_THREAD, sizeof(rec));
	rec.hdr.flags = PP_F_CO_INEXACT;
	for (int i = 0; i < PP_NMEMBERS; i++) {
		rec.now[i] = 1 + (pp_u64)i;
		rec.win.max_members[i] = 10 + (pp_u64)i;
		rec.win.member_max[i] = 20 + (pp_u64)i;
	}
	rec.win.seq = 0xffffff;
	rec.win.max = 100;
	rec.win.max_at_ns = 101;
	rec.win.min = 2;
	rec.win.charge_max = 300;
	rec.win.charge_max_at_ns = 301;
	rec.win.limiter_max = PP_NO_LIMIT;
	rec.thread_grew = 31;
	rec.thread_shrank = 32;
	rec.mm_grew = 33;
	rec.mm_shrank = 34;
	rec.ext_grew = 35;
	rec.ext_shrank = 36;
	rec.minflt = 37;
	rec.majflt = 38;
	rec.charge = 39;
	rec.limit = PP_NO_LIMIT;
	rec.limiter = PP_NO_LIMIT;
	rec.peak = 40;
	rec.limit_level = 3;
	rec.lost = 5;
	assert_int_equal(decode(&rec, sizeof(rec), PAGE, &ev), 0);
	assert_int_equal(ev.kind, PP_THREAD);
	assert_int_equal(ev.flags, PP_F_CO_INEXACT);
	assert_int_equal(ev.time_ns, 11);
	assert_int_equal(ev.mm_id, 12);
	assert_int_equal(ev.pid, 13);
	assert_int_equal(ev.tid, 14);
	assert_int_equal(ev.edge.now.m[PP_SHMEM], 4 * PAGE);
	assert_int_equal(ev_rss(&ev.edge.now), (1 + 2 + 4) * PAGE); /* swap is not RSS */
	assert_int_equal(ev.edge.win.seq, 0xffffff);
	assert_int_equal(ev.edge.win.max, 100 * PAGE);
	assert_int_equal(ev.edge.win.max_at_ns, 101);
	assert_int_equal(ev.edge.win.max_members.m[PP_SWAP], 12 * PAGE);
	assert_int_equal(ev.edge.win.member_max.m[PP_FILE], 20 * PAGE);
	assert_int_equal(ev.edge.win.min, 2 * PAGE);
	assert_int_equal(ev.edge.win.charge_max, 300 * PAGE);
	assert_int_equal(ev.edge.win.charge_max_at_ns, 301);
	assert_true(ev.edge.win.limiter_max == EV_NONE);
	assert_int_equal(ev.edge.thread_grew, 31 * PAGE);
	assert_int_equal(ev.edge.thread_shrank, 32 * PAGE);
	assert_int_equal(ev.edge.mm_grew, 33 * PAGE);
	assert_int_equal(ev.edge.mm_shrank, 34 * PAGE);
	assert_int_equal(ev.edge.ext_grew, 35 * PAGE);
	assert_int_equal(ev.edge.ext_shrank, 36 * PAGE);
	assert_int_equal(ev.edge.minflt, 37); /* counts, not pages */
	assert_int_equal(ev.edge.majflt, 38);
	assert_int_equal(ev.edge.charge, 39 * PAGE);
	assert_true(ev.edge.limit == EV_NONE && ev.edge.limiter == EV_NONE);
	assert_int_equal(ev.edge.peak, 40 * PAGE);
	assert_int_equal(ev.edge.limit_level, 3);
	assert_int_equal(ev.edge.lost, 5);
}

static void page_sizes(void **state)
{
	struct pp_edge rec;
	struct event ev;

	(void)state;
	head(&rec, PP_THREAD_EXIT, sizeof(rec));
	rec.peak = 3;
	assert_int_equal(decode(&rec, sizeof(rec), 65536, &ev), 0);
	assert_int_equal(ev.edge.peak, 3 * 65536);
	assert_int_equal(decode(&rec, sizeof(rec), 0, &ev), -EBADMSG);
	assert_int_equal(decode(&rec, sizeof(rec), 4097, &ev), -EBADMSG);
}

/* Pages whose bytes do not fit are refused, or held at an end: they never wrap. */
static void overflow(void **state)
{
	struct pp_edge rec;
	struct event ev;

	(void)state;
	head(&rec, PP_THREAD, sizeof(rec));
	rec.now[PP_ANON] = (1ull << 52) + 1; /* 2^64 + 4096 bytes would be 4096 */
	assert_int_equal(decode(&rec, sizeof(rec), PAGE, &ev), -EBADMSG);
	rec.now[PP_ANON] = 1ull << 48; /* 2^60 bytes: the most that is taken */
	assert_int_equal(decode(&rec, sizeof(rec), PAGE, &ev), 0);
	assert_true(ev.edge.now.m[PP_ANON] == 1ull << 60);
	rec.now[PP_ANON] = 0;
	rec.mm_grew = 1ull << 60;
	rec.limit = 0x7ffffffffffffull;	     /* v1's sentinel, a number like others */
	rec.limiter = 0x7fffffffffffffffull; /* no room for its bytes, but not "none" */
	assert_int_equal(decode(&rec, sizeof(rec), PAGE, &ev), 0);
	assert_true(ev.edge.mm_grew == 1ull << 60);
	assert_true(ev.edge.limit == 0x7ffffffffffff000ull);
	assert_true(ev.edge.limiter == EV_NONE - 1);
	rec.win.seq = 0x1000000;
	assert_int_equal(decode(&rec, sizeof(rec), PAGE, &ev), -EBADMSG);
}

static void base_record(void **state)
{
	struct pp_base rec;
	struct event ev;

	(void)state;
	head(&rec, PP_BASE, sizeof(rec));
	rec.parent_mm_id = 1;
	rec.start_ns = 2;
	rec.start_boot_ns = 3;
	rec.ppid = 4;
	rec.ns_pid = 5;
	rec.reason = PP_BY_FORK;
	rec.cgroup_id = 5881;
	rec.threads = 6;
	rec.args_len = PP_ARGS_MAX;
	memset(rec.comm, 'c', sizeof(rec.comm)); /* not terminated */
	memset(rec.args, 'a', sizeof(rec.args));
	assert_int_equal(decode(&rec, sizeof(rec), PAGE, &ev), 0);
	assert_string_equal(ev.edge.comm, "cccccccccccccccc");
	assert_int_equal(ev.edge.args_len, PP_ARGS_MAX);
	assert_int_equal(ev.edge.args[PP_ARGS_MAX - 1], 'a');
	assert_int_equal(ev.edge.parent_mm_id, 1);
	assert_int_equal(ev.edge.start_ns, 2);
	assert_int_equal(ev.edge.start_boot_ns, 3);
	assert_int_equal(ev.edge.ppid, 4);
	assert_int_equal(ev.edge.ns_pid, 5);
	assert_int_equal(ev.edge.reason, PP_BY_FORK);
	assert_int_equal(ev.edge.cgroup_id, 5881);
	assert_int_equal(ev.edge.threads, 6);
	rec.args_len = PP_ARGS_MAX + 1;
	assert_int_equal(decode(&rec, sizeof(rec), PAGE, &ev), -EBADMSG);
	rec.args_len = 0;
	rec.reason = 0;
	assert_int_equal(decode(&rec, sizeof(rec), PAGE, &ev), -EBADMSG);
	rec.reason = PP_BY_JOIN + 1;
	assert_int_equal(decode(&rec, sizeof(rec), PAGE, &ev), -EBADMSG);
}

static void marks(void **state)
{
	_Alignas(8) char rec[sizeof(struct pp_mark) + PP_LABEL_MAX + 1];
	struct pp_mark *m = (struct pp_mark *)(void *)rec;
	size_t small = sizeof(*m) + PP_LABEL_SMALL, large = sizeof(rec);
	struct event ev;

	(void)state;
	head(rec, PP_BEGIN, small);
	m->token = 77;
	m->label_hash = 78;
	m->label_flags = PP_LABEL_CUT;
	m->label_len = PP_LABEL_SMALL;
	memset(m->label, 'x', PP_LABEL_SMALL);
	assert_int_equal(decode(rec, small, PAGE, &ev), 0);
	assert_int_equal(ev.edge.token, 77);
	assert_int_equal(ev.edge.label.hash, 78);
	assert_int_equal(ev.edge.label.flags, PP_LABEL_CUT);
	assert_int_equal(ev.edge.label.len, PP_LABEL_SMALL);
	assert_int_equal(ev.edge.label.bytes[PP_LABEL_SMALL - 1], 'x');
	assert_int_equal(ev.edge.label.bytes[PP_LABEL_SMALL], 0);
	m->label_len = PP_LABEL_SMALL + 1; /* past the end of the record */
	assert_int_equal(decode(rec, small, PAGE, &ev), -EBADMSG);

	head(rec, PP_MARK, large);
	m->label_len = PP_LABEL_MAX;
	memset(m->label, 'y', PP_LABEL_MAX + 1);
	assert_int_equal(decode(rec, large, PAGE, &ev), 0);
	assert_int_equal(ev.edge.label.len, PP_LABEL_MAX);
	assert_int_equal(ev.edge.label.bytes[PP_LABEL_MAX], 0);
	m->label_len = PP_LABEL_MAX + 1;
	assert_int_equal(decode(rec, large, PAGE, &ev), -EBADMSG);

	/* Only an end needs no label. */
	head(rec, PP_END, sizeof(*m));
	assert_int_equal(decode(rec, sizeof(*m), PAGE, &ev), 0);
	head(rec, PP_END, small);
	assert_int_equal(decode(rec, small, PAGE, &ev), 0);
	head(rec, PP_MARK, sizeof(*m));
	assert_int_equal(decode(rec, sizeof(*m), PAGE, &ev), -EBADMSG);
	head(rec, PP_MARK, small + 8);
	assert_int_equal(decode(rec, small + 8, PAGE, &ev), -EBADMSG);
}

static void exits_samples_faults(void **state)
{
	struct pp_exit x;
	struct pp_sample s;
	struct pp_fault f;
	struct event ev;

	(void)state;
	head(&x, PP_EXIT, sizeof(x));
	x.exit_code = 0x89;
	assert_int_equal(decode(&x, sizeof(x), PAGE, &ev), 0);
	assert_int_equal(ev.edge.exit_code, 0x89);
	head(&s, PP_SAMPLE, sizeof(s));
	s.seq = 9;
	s.max = 8;
	s.min = 7;
	s.charge = PP_NO_LIMIT;
	s.threads = 3;
	s.now[PP_FILE] = 6;
	assert_int_equal(decode(&s, sizeof(s), PAGE, &ev), 0);
	assert_int_equal(ev.sample.seq, 9);
	assert_int_equal(ev.sample.max, 8 * PAGE);
	assert_int_equal(ev.sample.min, 7 * PAGE);
	assert_int_equal(ev.sample.now.m[PP_FILE], 6 * PAGE);
	assert_true(ev.sample.charge == EV_NONE);
	assert_int_equal(ev.sample.threads, 3);
	head(&f, PP_FAULT, sizeof(f));
	f.seq = 1;
	f.addr = 2;
	f.ino = 3;
	f.dev = 4;
	f.mapping = PP_MAP_FILE;
	memset(f.name, 'n', sizeof(f.name)); /* not terminated */
	assert_int_equal(decode(&f, sizeof(f), PAGE, &ev), 0);
	assert_int_equal(ev.fault.addr, 2);
	assert_int_equal(ev.fault.ino, 3);
	assert_int_equal(ev.fault.dev, 4);
	assert_int_equal(ev.fault.mapping, PP_MAP_FILE);
	assert_int_equal(strlen(ev.fault.name), PP_NAME_MAX - 1);
	f.mapping = PP_MAPPING_MAX;
	assert_int_equal(decode(&f, sizeof(f), PAGE, &ev), -EBADMSG);
}

static void notes(void **state)
{
	struct pp_note n = {0};
	struct event ev;

	(void)state;
	head(&n, PP_NOTE, sizeof(n));
	n.token = 7;
	n.number = 3;
	n.at = 512;
	n.len = 4;
	n.flags = PP_NOTE_LAST;
	memcpy(n.text, "a\0bcdef", 7);
	assert_int_equal(decode(&n, sizeof(n), PAGE, &ev), 0);
	assert_false(event_is_edge(ev.kind));
	assert_int_equal(ev.note.token, 7);
	assert_int_equal(ev.note.number, 3);
	assert_int_equal(ev.note.at, 512);
	assert_int_equal(ev.note.flags, PP_NOTE_LAST);
	assert_int_equal(ev.note.len, 4);
	assert_memory_equal(ev.note.text, "a\0bc\0\0",
			    6); /* what lies behind is not the program's */
	n.len = PP_NOTE_CHUNK;
	n.at = PP_NOTE_MAX - PP_NOTE_CHUNK;
	assert_int_equal(decode(&n, sizeof(n), PAGE, &ev), 0);
	n.at++;
	assert_int_equal(decode(&n, sizeof(n), PAGE, &ev), -EBADMSG);
	n.at = 0;
	n.len++;
	assert_int_equal(decode(&n, sizeof(n), PAGE, &ev), -EBADMSG);
}

/* What was written comes from a ring of its own, and nothing but that. */
static void output_pieces(void **state)
{
	struct {
		struct pp_output rec;
		char data[PP_OUT_SMALL];
	} o;
	struct ev_output out;
	struct event ev;

	(void)state;
	head(&o, PP_OUTPUT, sizeof(o));
	o.rec.write = 7;
	o.rec.stream = 2;
	o.rec.len = 5;
	memcpy(o.data, "hello", 5);
	assert_int_equal(decode_output(&o, sizeof(o), &out), 0);
	assert_int_equal(out.write, 7);
	assert_int_equal(out.stream, 2);
	assert_ptr_equal(out.bytes, o.data);
	assert_int_equal(out.len, 5);
	assert_int_equal(decode(&o, sizeof(o), PAGE, &ev), -ENOTSUP);
	o.rec.len = PP_OUT_SMALL + 1;
	assert_int_equal(decode_output(&o, sizeof(o), &out), -EBADMSG);
	o.rec.len = PP_OUT_SMALL;
	o.rec.stream = 3;
	assert_int_equal(decode_output(&o, sizeof(o), &out), -EBADMSG);
	o.rec.stream = 1;
	assert_int_equal(decode_output(&o, sizeof(o) - 1, &out), -EBADMSG);
	head(&o, PP_OUTPUT, sizeof(o.rec) + 8);
	assert_int_equal(decode_output(&o, sizeof(o.rec) + 8, &out), -EBADMSG);
	head(&o, PP_MARK, sizeof(o));
	assert_int_equal(decode_output(&o, sizeof(o), &out), -ENOTSUP);
}

/* The edge of a write: where it goes, and who reads it there. */
static void write_edges(void **state)
{
	struct pp_write w;
	struct event ev;

	(void)state;
	memset(&w, 0, sizeof(w));
	head(&w, PP_WRITE, sizeof(w));
	w.write = 7;
	w.to = 8;
	w.from = 9;
	for (uint64_t i = 0; i < PP_READERS; i++)
		w.reader[i] = 10 + i;
	assert_int_equal(decode(&w, sizeof(w), PAGE, &ev), 0);
	assert_true(event_is_edge(ev.kind));
	assert_int_equal(ev.edge.token, 7);
	assert_int_equal(ev.edge.route.to, 8);
	assert_int_equal(ev.edge.route.from, 9);
	for (uint64_t i = 0; i < PP_READERS; i++)
		assert_int_equal(ev.edge.route.reader[i], 10 + i);
}

/* Every length of every kind that is not the record's own is refused. */
static void lengths(void **state)
{
	_Alignas(8) static char rec[4096];
	struct event ev;
	size_t good = 0;

	(void)state;
	for (uint16_t kind = PP_BASE; kind < PP_KIND_MAX; kind++) {
		for (size_t size = sizeof(struct pp_hdr); size < sizeof(rec); size++) {
			head(rec, kind, size);
			if (kind == PP_BASE && size == sizeof(struct pp_base))
				((struct pp_base *)(void *)rec)->reason = PP_BY_EXEC;
			good += !decode(rec, size, PAGE, &ev);
		}
	}
	/* One size each; begin and checkpoint two, end three; pieces of output are no events. */
	assert_int_equal(good, 13 + 2 + 2 + 3);
	assert_int_equal(decode(rec, 0, PAGE, &ev), -EBADMSG);
	assert_int_equal(decode(rec, sizeof(struct pp_hdr) - 1, PAGE, &ev), -EBADMSG);
}

static void sizes_that_disagree(void **state)
{
	struct {
		struct pp_exit rec;
		char more[16];
	} r;
	struct event ev;

	(void)state;
	memset(&r, 0, sizeof(r));
	head(&r.rec, PP_EXEC, sizeof(r.rec));
	assert_int_equal(decode(&r, sizeof(r.rec) + 7, PAGE, &ev), 0); /* rounded up by a ring */
	assert_int_equal(decode(&r, sizeof(r.rec) + 8, PAGE, &ev), -EBADMSG);
	assert_int_equal(decode(&r, sizeof(r.rec) - 1, PAGE, &ev), -EBADMSG);
	r.rec.edge.hdr.size = 0;
	assert_int_equal(decode(&r, sizeof(r.rec), PAGE, &ev), -EBADMSG);
	head(&r.rec, 0, sizeof(r.rec));
	assert_int_equal(decode(&r, sizeof(r.rec), PAGE, &ev), -ENOTSUP);
	head(&r.rec, PP_KIND_MAX, sizeof(r.rec));
	assert_int_equal(decode(&r, sizeof(r.rec), PAGE, &ev), -ENOTSUP);
	head(&r.rec, 0xffff, sizeof(r.rec));
	assert_int_equal(decode(&r, sizeof(r.rec), PAGE, &ev), -ENOTSUP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(edge_values),
	    cmocka_unit_test(page_sizes),
	    cmocka_unit_test(overflow),
	    cmocka_unit_test(base_record),
	    cmocka_unit_test(marks),
	    cmocka_unit_test(exits_samples_faults),
	    cmocka_unit_test(notes),
	    cmocka_unit_test(output_pieces),
	    cmocka_unit_test(write_edges),
	    cmocka_unit_test(lengths),
	    cmocka_unit_test(sizes_that_disagree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
