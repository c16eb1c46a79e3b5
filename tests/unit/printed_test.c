/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lines put together from what was written, and the edges that their marks take. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/printed.h"

#define MM 5u
#define SEC 1000000000ull

struct rig {
	struct patterns *ps;
	struct printed *p;
	uint64_t ns, writes, win;
	char got[65536]; /* what came out: "MARK users 3" … */
};

static int take(void *ctx, const struct event *ev)
{
	static const char *const kinds[PP_KIND_MAX] = {
	    [PP_BASE] = "base", [PP_MARK] = "mark",   [PP_BEGIN] = "begin",  [PP_END] = "end",
	    [PP_EXIT] = "exit", [PP_WRITE] = "write", [PP_SAMPLE] = "sample"};
	struct rig *r = ctx;
	size_t n = strlen(r->got);

	if (ev->kind == PP_SAMPLE || ev->kind == PP_EXIT || ev->kind == PP_WRITE) {
		snprintf(r->got + n, sizeof(r->got) - n, "%s ", kinds[ev->kind]);
		return 0;
	}
	snprintf(r->got + n, sizeof(r->got) - n, "%s[%.*s]%s%llu ", kinds[ev->kind],
		 ev->kind == PP_END && !(ev->flags & PP_F_RENAMED) ? 0 : ev->edge.label.len,
		 ev->edge.label.bytes, ev->flags & PP_F_SAME ? "+" : "@",
		 (unsigned long long)ev->edge.win.seq);
	if (ev->kind != PP_BASE)
		assert_true(ev->flags & PP_F_OUTPUT);
	return 0;
}

static struct rig *rig(enum pattern_kind kind, const char *regex)
{
	struct rig *r = calloc(1, sizeof(*r));
	char error[PATTERN_ERROR_MAX];

	assert_non_null(r);
	r->ns = 100 * SEC;
	r->ps = patterns_new();
	assert_int_equal(patterns_add(r->ps, kind, regex, NULL, error), 0);
	r->p = printed_new(r->ps, take, r);
	assert_non_null(r->p);
	return r;
}

static void also(struct rig *r, enum pattern_kind kind, const char *regex)
{
	char error[PATTERN_ERROR_MAX];

	assert_int_equal(patterns_add(r->ps, kind, regex, NULL, error), 0);
}

static void rig_free(struct rig *r)
{
	printed_free(&r->p);
	assert_null(r->p);
	patterns_free(&r->ps);
	free(r);
}

/* A piece of write `write` by thread tid on a file. */
static void piece(struct rig *r, uint64_t write, uint32_t tid, uint32_t file, unsigned int flags,
		  const char *text, size_t n)
{
	struct ev_output out = {.time_ns = r->ns,
				.mm_id = MM,
				.pid = 50,
				.tid = tid,
				.write = write,
				.file = file,
				.stream = 1,
				.flags = (uint16_t)flags,
				.len = (uint32_t)n,
				.bytes = text};

	assert_int_equal(printed_output(r->p, &out), 0);
}

static void edge_of(struct rig *r, enum pp_kind kind, uint64_t write)
{
	struct event ev = {.kind = kind, .time_ns = r->ns, .mm_id = MM, .pid = 50, .tid = 50};

	ev.edge.win.seq = ++r->win;
	ev.edge.token = write;
	assert_int_equal(printed_event(r->p, &ev), 0);
}

/* A write with an edge, of which all has come. */
static void hit(struct rig *r, uint32_t tid, const char *text)
{
	uint64_t w = ++r->writes;

	piece(r, w, tid, 1, PP_OUT_EDGE | PP_OUT_LAST, text, strlen(text));
	edge_of(r, PP_WRITE, w);
}

static void miss(struct rig *r, uint32_t tid, const char *text)
{
	piece(r, ++r->writes, tid, 1, PP_OUT_LAST, text, strlen(text));
}

static void came(struct rig *r, const char *what)
{
	assert_string_equal(r->got, what);
	r->got[0] = '\0';
}

static void a_line_is_a_mark_at_its_edge(void **state)
{
	struct rig *r = rig(PATTERN_MARK, "RSS \\[(.*?)\\]");

	(void)state;
	hit(r, 50, "RSS [a]: 1\n");
	came(r, "mark[a]@1 ");
	/* The literal was there, the pattern was not. */
	hit(r, 50, "RSS []x\n");
	came(r, "mark[]@2 ");
	hit(r, 50, "RSS [\n");
	came(r, "write ");
	/* The edge may come before its bytes. */
	edge_of(r, PP_WRITE, 77);
	came(r, "");
	piece(r, 77, 50, 1, PP_OUT_EDGE | PP_OUT_LAST, "RSS [b]\n", 8);
	assert_int_equal(printed_poll(r->p, r->ns), 0);
	came(r, "mark[b]@4 ");
	rig_free(r);
}

static void many_lines_in_one_write_share_its_edge(void **state)
{
	struct rig *r = rig(PATTERN_MARK, "R\\[(\\d+)\\]");
	char text[4096] = "", want[8192] = "";

	(void)state;
	for (int i = 0; i < 400; i++) {
		sprintf(text + strlen(text), "R[%d]\n", i);
		sprintf(want + strlen(want), "mark[%d]%c1 ", i, i ? '+' : '@');
	}
	/* In pieces that cut lines. */
	for (size_t at = 0, n; at < strlen(text); at += n) {
		n = strlen(text) - at < 100 ? strlen(text) - at : 100;
		piece(r, 1, 50, 1, PP_OUT_EDGE | (at + n == strlen(text) ? PP_OUT_LAST : 0),
		      text + at, n);
	}
	edge_of(r, PP_WRITE, 1);
	came(r, want);
	assert_int_equal(printed_counts(r->p)->marks, 400);
	assert_int_equal(printed_counts(r->p)->together, 399);
	rig_free(r);
}

static void fragments_wait_for_the_end_of_their_line(void **state)
{
	struct rig *r = rig(PATTERN_MARK, "RSS \\[(.*?)\\]");

	(void)state;
	miss(r, 50, "12:00 INFO R");
	miss(r, 50, "SS ");
	hit(r, 50, "[");
	edge_of(r, PP_BASE, 0); /* comes after it, and waits behind it */
	miss(r, 50, "users");
	came(r, "");
	miss(r, 50, "]: 5 MB");
	assert_int_equal(printed_poll(r->p, r->ns), 0);
	came(r, "");
	miss(r, 50, "\n");
	assert_int_equal(printed_poll(r->p, r->ns), 0);
	came(r, "mark[users]@1 base[]@2 ");
	rig_free(r);
}

static void a_line_that_stays_open_is_taken_as_it_stands(void **state)
{
	struct rig *r = rig(PATTERN_MARK, "load (\\w+)");

	(void)state;
	hit(r, 50, "load users");
	assert_int_equal(printed_poll(r->p, r->ns + SEC - 1), 0);
	came(r, "");
	assert_int_equal(printed_poll(r->p, r->ns + SEC), 0);
	came(r, "mark[users]@1 ");
	/* Its end, which has an edge since the literal is old, is no second mark. */
	r->ns += 2 * SEC;
	hit(r, 50, " done\n");
	came(r, "write ");
	/* Where it said too little as it stood, its end says it. */
	hit(r, 50, "load ");
	assert_int_equal(printed_poll(r->p, r->ns + SEC), 0);
	came(r, "write ");
	r->ns += 2 * SEC;
	hit(r, 50, "groups\n");
	came(r, "mark[groups]@4 ");
	rig_free(r);
}

static void the_last_line_needs_no_end(void **state)
{
	struct rig *r = rig(PATTERN_MARK, "RSS \\[(.*?)\\]");

	(void)state;
	hit(r, 50, "RSS [x]: 1 MB");
	edge_of(r, PP_EXIT, 0);
	assert_int_equal(printed_poll(r->p, r->ns), 0);
	came(r, ""); /* the rest of the line may still be on its way */
	assert_int_equal(printed_poll(r->p, r->ns), 0);
	came(r, "mark[x]@1 exit ");
	hit(r, 50, "RSS [y]");
	assert_int_equal(printed_finish(r->p), 0);
	came(r, "mark[y]@3 ");
	rig_free(r);
}

static void threads_have_lines_of_their_own(void **state)
{
	struct rig *r = rig(PATTERN_MARK, "^R\\[(\\w+)\\]$");

	(void)state;
	hit(r, 50, "R[");
	hit(r, 51, "R[");
	miss(r, 50, "a");
	miss(r, 51, "b");
	miss(r, 51, "]\n");
	miss(r, 50, "]\n");
	assert_int_equal(printed_poll(r->p, r->ns), 0);
	came(r, "mark[a]@1 mark[b]@2 ");
	assert_int_equal(printed_counts(r->p)->torn, 0);
	/* What one thread began and another ended, as stdio's buffers do. */
	hit(r, 50, "R[c");
	miss(r, 51, "d]\nx\n");
	assert_int_equal(printed_poll(r->p, r->ns), 0);
	came(r, "mark[cd]@3 ");
	/* And the first one goes on: what it had has been used. */
	hit(r, 50, "R[e]\n");
	came(r, "mark[e]@4 ");
	/* A buffer whose end went elsewhere: the rest is told from what follows. */
	miss(r, 50, "stale");
	miss(r, 51, "other\n");
	hit(r, 50, "R[f]\n");
	came(r, "mark[f]@5 ");
	rig_free(r);
}

/* A program that leaves thousands of lines open does not make each end as dear as all of them. */
static void an_end_is_tried_with_the_latest_beginnings(void **state)
{
	struct rig *r = rig(PATTERN_MARK, "^R\\[(\\w+)\\]$");

	(void)state;
	hit(r, 100, "R[old");
	for (uint32_t tid = 101; tid <= 120; tid++)
		miss(r, tid, "open");
	miss(r, 50, "]\n");
	assert_int_equal(printed_counts(r->p)->torn, 1);
	assert_int_equal(printed_counts(r->p)->marks, 0);
	/* Whoever wrote last is among the latest, however long ago its first line was. */
	hit(r, 100, "er");
	miss(r, 50, "]\n");
	assert_int_equal(printed_poll(r->p, r->ns), 0);
	came(r, "write mark[older]@2 ");
	assert_int_equal(printed_counts(r->p)->torn, 1);
	rig_free(r);
}

static void spans_and_steps(void **state)
{
	struct rig *r = rig(PATTERN_STEP, "^step (\\w+)");

	(void)state;
	also(r, PATTERN_BEGIN, "^begin (\\w+)");
	also(r, PATTERN_END, "^end (\\w+)");
	also(r, PATTERN_END, "^stop");
	hit(r, 50, "step a\n");
	hit(r, 50, "step b\nbegin c\nend c\n");
	hit(r, 50, "stop\n");
	hit(r, 50, "step d\n");
	came(r, "begin[a]@1 end[]@2 begin[b]+2 begin[c]+2 end[]+2 end[]@3 begin[d]@4 ");
	/* Only c has had no time. */
	assert_int_equal(printed_counts(r->p)->together, 1);
	hit(r, 50, "begin e\n");
	hit(r, 50, "end e\nbegin f\nstep g\n");
	assert_int_equal(printed_counts(r->p)->together, 1);
	hit(r, 50, "step h\nstep i\nstep j\n");
	assert_int_equal(printed_counts(r->p)->together, 3);
	rig_free(r);
}

static void lines_that_join_are_one_step(void **state)
{
	struct rig *r = rig(PATTERN_JOIN, "^run (\\w+)");

	(void)state;
	also(r, PATTERN_END, "^done");
	hit(r, 50, "run a\nrun b\n");
	hit(r, 50, "run c\n");
	hit(r, 50, "done\n");
	hit(r, 50, "run d\n");
	hit(r, 50, "done\n");
	came(r, "begin[a]@1 write end[a + b + c]@3 begin[d]@4 end[d]@5 ");
	/* Whatever their order, the label is the same. */
	hit(r, 50, "run bb\nrun c\nrun b\nrun a\nrun b\nrun bb\n");
	hit(r, 50, "done\n");
	came(r, "begin[bb]@6 end[a + b + b + bb + bb + c]@7 ");
	rig_free(r);
}

static void lost_bytes_tear_a_line(void **state)
{
	struct rig *r = rig(PATTERN_MARK, "^R\\[(\\w+)\\]$");

	(void)state;
	hit(r, 50, "R[");
	piece(r, ++r->writes, 50, 1, PP_OUT_GAP | PP_OUT_LAST, "x]\n", 3);
	assert_int_equal(printed_poll(r->p, r->ns), 0);
	came(r, "write ");
	assert_int_equal(printed_counts(r->p)->torn, 1);
	/* The last piece of a write was lost: the next write tells that it is over. */
	piece(r, 50, 50, 1, PP_OUT_EDGE, "R[a]\n", 5);
	edge_of(r, PP_WRITE, 50);
	came(r, "");
	piece(r, 51, 50, 1, PP_OUT_GAP | PP_OUT_LAST, "\n", 1);
	assert_int_equal(printed_poll(r->p, r->ns), 0);
	came(r, "mark[a]@2 ");
	rig_free(r);
}

static void long_lines_are_cut(void **state)
{
	struct rig *r = rig(PATTERN_MARK, "^(R)");
	char *text = malloc(3 * LINE_MAX_BYTES);

	(void)state;
	memset(text, 'x', 3 * LINE_MAX_BYTES);
	text[0] = 'R';
	text[3 * LINE_MAX_BYTES - 1] = '\n';
	piece(r, 1, 50, 1, PP_OUT_EDGE | PP_OUT_LAST, text, 3 * LINE_MAX_BYTES);
	edge_of(r, PP_WRITE, 1);
	came(r, "mark[R]@1 ");
	assert_int_equal(printed_counts(r->p)->cut, 1);
	free(text);
	rig_free(r);
}

static void the_queue_has_an_end(void **state)
{
	struct rig *r = rig(PATTERN_MARK, "R\\[(\\w+)");

	(void)state;
	hit(r, 50, "R[open");
	for (unsigned int i = 1; i < PRINTED_QUEUE_MAX - 1; i++)
		edge_of(r, PP_BASE, 0);
	came(r, "");
	edge_of(r, PP_BASE, 0);
	assert_memory_equal(r->got, "mark[open]@1 base", 17);
	rig_free(r);
}

static void carriage_returns_end_lines_too(void **state)
{
	struct rig *r = rig(PATTERN_MARK, "^(\\d+) %$");

	(void)state;
	hit(r, 50, "1 %\r2 %\r\n3 %\r\n");
	came(r, "mark[1]@1 mark[2]+1 mark[3]+1 ");
	rig_free(r);
}

static void colours_are_not_in_the_way(void **state)
{
	struct rig *r = rig(PATTERN_MARK, "^R\\[(\\w+)\\]$");

	(void)state;
	hit(r, 50, "\033[2mR[\033[0m\033[38;5;208musers\033[0m]\033]8;;\033\\\n");
	came(r, "mark[users]@1 ");
	/* In pieces; the mark is of the write with the literal's last byte, not of a colour's. */
	hit(r, 50, "\033[2m\033[38;5;20");
	hit(r, 50, "8mR[gro");
	miss(r, 50, "ups]\033[");
	hit(r, 50, "0m\n");
	came(r, "write mark[groups]@3 write ");
	rig_free(r);
}

static void a_wrapped_line_is_one(void **state)
{
	struct rig *r = rig(PATTERN_STEP, "Loading\\s++(?:\\S+:\\d+ *\\n\\s++)?+(\\w+)\\s+\\(");

	(void)state;
	also(r, PATTERN_MARK, "^mark (\\w+)$");
	hit(r, 50, "INFO Loading   a.py:1\n     users    \n     (CSV)\nmark a\n");
	came(r, "begin[users]@1 mark[a]+1 ");
	/* What may go on and does not: lines count alone, and the next line may begin one. */
	hit(r, 50, "INFO Loading \nLoading b (X)\nmark b\nINFO Loading\n");
	came(r, "end[]@2 begin[b]+2 mark[b]+2 ");
	/* A write that is over is not waited behind; the next is another matter. */
	hit(r, 50, "INFO Loading\n");
	came(r, "write ");
	hit(r, 50, "c (X)\n");
	came(r, "write ");
	/* In pieces of one write, with its last one empty. */
	piece(r, 90, 50, 1, PP_OUT_EDGE, "Loading a.py:", 13);
	piece(r, 90, 50, 1, PP_OUT_EDGE, "1\n", 2);
	piece(r, 90, 50, 1, PP_OUT_EDGE, "  d\n (", 6);
	edge_of(r, PP_WRITE, 90);
	came(r, "");
	piece(r, 90, 50, 1, PP_OUT_EDGE, "X)\nLoading\n", 11);
	piece(r, 90, 50, 1, PP_OUT_EDGE | PP_OUT_LAST, "", 0);
	assert_int_equal(printed_poll(r->p, r->ns), 0);
	came(r, "end[]@5 begin[d]+5 ");
	assert_int_equal(printed_counts(r->p)->torn, 0);
	rig_free(r);
}

static void wrapping_has_an_end(void **state)
{
	struct rig *r = rig(PATTERN_MARK, "a\\s+\\n\\s+(b)");
	char text[256];

	(void)state;
	memset(text, '\n', sizeof(text));
	text[0] = 'a';
	text[sizeof(text) - 2] = 'b';
	piece(r, 1, 50, 1, PP_OUT_EDGE | PP_OUT_LAST, text, sizeof(text));
	edge_of(r, PP_WRITE, 1);
	came(r, "write ");
	text[8] = 'b';
	piece(r, 2, 50, 1, PP_OUT_EDGE | PP_OUT_LAST, text, sizeof(text));
	edge_of(r, PP_WRITE, 2);
	came(r, "mark[b]@2 ");
	rig_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_line_is_a_mark_at_its_edge),
	    cmocka_unit_test(many_lines_in_one_write_share_its_edge),
	    cmocka_unit_test(fragments_wait_for_the_end_of_their_line),
	    cmocka_unit_test(a_line_that_stays_open_is_taken_as_it_stands),
	    cmocka_unit_test(the_last_line_needs_no_end),
	    cmocka_unit_test(threads_have_lines_of_their_own),
	    cmocka_unit_test(an_end_is_tried_with_the_latest_beginnings),
	    cmocka_unit_test(spans_and_steps),
	    cmocka_unit_test(lines_that_join_are_one_step),
	    cmocka_unit_test(lost_bytes_tear_a_line),
	    cmocka_unit_test(long_lines_are_cut),
	    cmocka_unit_test(the_queue_has_an_end),
	    cmocka_unit_test(carriage_returns_end_lines_too),
	    cmocka_unit_test(colours_are_not_in_the_way),
	    cmocka_unit_test(a_wrapped_line_is_one),
	    cmocka_unit_test(wrapping_has_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
