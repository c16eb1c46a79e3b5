/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What programs wrote, into a recording and out of it. */
#include "store_fixture.h"

struct got {
	struct output_piece p[16];
	size_t n;
};

static int collect(void *ctx, const struct output_piece *p)
{
	struct got *g = ctx;

	assert_true(g->n < 16);
	g->p[g->n++] = *p;
	return 0;
}

static int first_only(void *ctx, const struct output_piece *p)
{
	*(struct output_piece *)ctx = *p;
	return 1;
}

static int totals(void *ctx, const struct output_totals *t)
{
	((struct output_totals *)ctx)[t->stream] = *t;
	return 0;
}

static void put(struct store *s, uint64_t id, uint64_t mm_id, uint32_t stream, uint64_t at,
		const char *text)
{
	struct output_piece p = {.id = id,
				 .mm_id = mm_id,
				 .time_ns = 1000 + id,
				 .at = at,
				 .pid = 10,
				 .tid = 11,
				 .stream = stream,
				 .len = (uint32_t)strlen(text)};

	memcpy(p.bytes, text, p.len);
	assert_int_equal(store_output(s, &p), 0);
}

static struct store *begin(const struct folder *f)
{
	struct run_info info = plain_info();
	struct store *s;

	assert_int_equal(store_create(&s, f->file, &info), 0);
	return s;
}

static struct recording *reopen(struct store **s, const struct folder *f)
{
	struct run_end end = {.status = -1};
	struct recording *r;

	assert_int_equal(store_close(s, &end), 0);
	assert_int_equal(recording_open(&r, f->file), 0);
	return r;
}

static void is(const struct output_piece *p, uint64_t id, const char *text)
{
	assert_int_equal(p->id, id);
	assert_int_equal(p->len, strlen(text));
	assert_memory_equal(p->bytes, text, p->len);
}

static void pieces(void **state)
{
	static struct got all, one, back;
	struct output_piece p;
	struct recording *r;
	struct folder f;
	struct store *s;

	(void)state;
	folder_make(&f);
	s = begin(&f);
	put(s, 1, 1, 2, 0, "a\xff\n");
	put(s, 3, 2, 2, 0, "other");
	put(s, 4, 1, 1, 0, "out");
	/* A thread was faster: by the offset it is the second. */
	put(s, 6, 1, 2, 8, "ccc");
	put(s, 7, 1, 2, 3, "bbbbb");
	r = reopen(&s, &f);
	assert_int_equal(recording_each_output(r, 0, collect, &all), 0);
	assert_int_equal(all.n, 5);
	is(&all.p[0], 1, "a\xff\n");
	is(&all.p[4], 7, "bbbbb");
	assert_int_equal(all.p[0].time_ns, 1001);
	assert_int_equal(all.p[0].tid, 11);
	assert_int_equal(recording_each_output(r, 1, collect, &one), 0);
	assert_int_equal(one.n, 4);
	is(&one.p[0], 4, "out");
	is(&one.p[2], 7, "bbbbb");
	is(&one.p[3], 6, "ccc");
	assert_int_equal(recording_each_output_back(r, 1, 2, collect, &back), 0);
	assert_int_equal(back.n, 3);
	is(&back.p[0], 6, "ccc");
	is(&back.p[2], 1, "a\xff\n");
	assert_int_equal(recording_each_output_back(r, 1, 2, first_only, &p), 1);
	is(&p, 6, "ccc");
	assert_int_equal(recording_output(r, 3, &p), 0);
	is(&p, 3, "other");
	assert_int_equal(recording_output(r, 2, &p), -ENOENT);
	recording_close(&r);
	folder_remove(&f);
}

static void taken_back(void **state)
{
	struct output_totals t = {.stream = 2, .keep_first = 1, .keep_last = 2}, read[3] = {0};
	static struct got g;
	struct recording *r;
	struct folder f;
	struct store *s;

	(void)state;
	folder_make(&f);
	s = begin(&f);
	for (uint64_t id = 1; id <= 10; id++)
		put(s, id, 1, id % 2 ? 1 : 2, id, "x");
	assert_int_equal(store_output_totals(s, &t), 0);
	/* Of stderr 4 and 6; stdout's 5 stays. */
	assert_int_equal(store_output_drop(s, 2, 4, 6), 0);
	t.written = UINT64_MAX - 5;
	t.dropped = 7;
	assert_int_equal(store_output_totals(s, &t), 0);
	r = reopen(&s, &f);
	assert_int_equal(recording_each_output(r, 0, collect, &g), 0);
	assert_int_equal(g.n, 8);
	is(&g.p[3], 5, "x");
	is(&g.p[4], 7, "x");
	assert_int_equal(recording_each_output_totals(r, totals, read), 0);
	assert_int_equal(read[1].stream, 0);
	assert_memory_equal(&read[2], &t, sizeof(t));
	recording_close(&r);
	folder_remove(&f);
}

static void the_largest_and_what_is_none(void **state)
{
	static struct output_piece p = {.id = 1, .mm_id = 1, .stream = 2, .len = PP_OUT_LARGE}, q;
	struct recording *r;
	struct folder f;
	struct store *s;

	(void)state;
	memset(p.bytes, 'z', sizeof(p.bytes));
	folder_make(&f);
	s = begin(&f);
	assert_int_equal(store_output(s, &p), 0);
	p.len++;
	assert_int_equal(store_output(s, &p), -EINVAL);
	p.len = 1;
	p.stream = 3;
	assert_int_equal(store_output(s, &p), -EINVAL);
	r = reopen(&s, &f);
	assert_int_equal(recording_output(r, 1, &q), 0);
	assert_int_equal(q.len, PP_OUT_LARGE);
	assert_memory_equal(q.bytes, p.bytes, PP_OUT_LARGE);
	recording_close(&r);
	folder_remove(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(pieces),
	    cmocka_unit_test(taken_back),
	    cmocka_unit_test(the_largest_and_what_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
