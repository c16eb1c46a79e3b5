/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whose marks may be missing, from hand-built events: what ruled it out, whose it is, and until
 * when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <errno.h>
#include <cmocka.h>
#include <string.h>

#include "source/late_exec.h"
#include "source/unheard.h"

#define S 1000000000ull

struct told {
	struct unheard h[8];
	size_t n;
};

static void tell(void *ctx, const struct unheard *h)
{
	struct told *t = ctx;

	assert_true(t->n < 8);
	t->h[t->n++] = *h;
}

static struct event edge(enum pp_kind kind, uint64_t at, uint64_t mm, uint32_t pid)
{
	return (struct event){.kind = kind, .time_ns = at, .mm_id = mm, .pid = pid, .tid = pid};
}

static void base(struct unheards *u, uint64_t at, uint64_t mm, uint32_t pid, uint32_t reason,
		 uint64_t parent)
{
	struct event ev = edge(PP_BASE, at, mm, pid);

	ev.edge.reason = reason;
	ev.edge.parent_mm_id = parent;
	assert_int_equal(unheards_event(u, &ev), 0);
}

static void ended(struct unheards *u, enum pp_kind kind, uint64_t at, uint64_t mm, uint32_t pid)
{
	struct event ev = edge(kind, at, mm, pid);

	assert_int_equal(unheards_event(u, &ev), 0);
}

static void file(struct unheards *u, uint32_t pid, uint64_t exec, uint64_t from, uint64_t to)
{
	struct unheard_file f = {
	    .pid = pid, .exec_ns = exec, .from_ns = from, .to_ns = to, .looked = true};

	strcpy(f.file, "/lib/x.so");
	assert_int_equal(unheards_file(u, &f), 0);
}

/* Loaded while it runs: from the mapping to the probe. */
static void while_it_runs(void **state)
{
	struct unheards *u = unheards_new();
	struct told t = {.n = 0};

	(void)state;
	base(u, 1 * S, 1, 10, PP_BY_EXEC, 0);
	file(u, 10, 0, 5 * S, 5 * S + 300);
	/* Not before the events of that time have been given. */
	unheards_resolve(u, 5 * S + 300, false, tell, &t);
	assert_int_equal(t.n, 0);
	unheards_resolve(u, 5 * S + 301, false, tell, &t);
	assert_int_equal(t.n, 1);
	assert_int_equal(t.h[0].mm_id, 1);
	assert_int_equal(t.h[0].pid, 10);
	assert_int_equal(t.h[0].from_ns, 5 * S);
	assert_int_equal(t.h[0].to_ns, 5 * S + 300);
	assert_string_equal(t.h[0].file, "/lib/x.so");
	unheards_resolve(u, 9 * S, true, tell, &t);
	assert_int_equal(t.n, 1);
	unheards_free(&u);
	assert_null(u);
}

/* An exec maps its program before that is told: it is the new image's, from its beginning on. */
static void by_exec(void **state)
{
	struct unheards *u = unheards_new();
	struct told t = {.n = 0};

	(void)state;
	base(u, 1 * S, 1, 10, PP_BY_FORK, 0);
	file(u, 10, 2 * S, 2 * S + 5, 2 * S + 500);
	unheards_resolve(u, 2 * S + 600, false, tell, &t);
	assert_int_equal(t.n, 0);
	ended(u, PP_EXEC, 2 * S + 100, 1, 10);
	base(u, 2 * S + 110, 2, 10, PP_BY_EXEC, 1);
	unheards_resolve(u, 2 * S + 700, false, tell, &t);
	assert_int_equal(t.n, 1);
	assert_int_equal(t.h[0].mm_id, 2);
	assert_int_equal(t.h[0].from_ns, 2 * S + 110);
	assert_int_equal(t.h[0].to_ns, 2 * S + 500);
	/* Probed before the new program's first instruction. */
	file(u, 10, 2 * S, 2 * S + 5, 2 * S + 105);
	unheards_resolve(u, 3 * S, false, tell, &t);
	assert_int_equal(t.n, 1);
	unheards_free(&u);
}

/* It was gone before it could be probed: up to its end. */
static void gone(void **state)
{
	struct unheards *u = unheards_new();
	struct told t = {.n = 0};

	(void)state;
	base(u, 1 * S, 1, 10, PP_BY_EXEC, 0);
	ended(u, PP_EXIT, 2 * S, 1, 10);
	file(u, 10, 0, 1 * S + 7, 3 * S);
	unheards_resolve(u, 3 * S + 1, false, tell, &t);
	assert_int_equal(t.n, 1);
	assert_int_equal(t.h[0].from_ns, 1 * S + 7);
	assert_int_equal(t.h[0].to_ns, 2 * S);
	/* The pid is used again: not by whom it meant. */
	base(u, 4 * S, 2, 10, PP_BY_EXEC, 0);
	file(u, 10, 0, 4 * S + 1, 4 * S + 2);
	unheards_resolve(u, 5 * S, false, tell, &t);
	assert_int_equal(t.n, 2);
	assert_int_equal(t.h[1].mm_id, 2);
	unheards_free(&u);
}

/* A child that was forked in that time has the file too; one that was forked later is heard. */
static void children(void **state)
{
	struct unheards *u = unheards_new();
	struct told t = {.n = 0};

	(void)state;
	base(u, 1 * S, 1, 10, PP_BY_EXEC, 0);
	base(u, 2 * S + 10, 2, 11, PP_BY_FORK, 1);
	base(u, 2 * S + 20, 3, 12, PP_BY_FORK, 2);
	base(u, 2 * S + 200, 4, 13, PP_BY_FORK, 1);
	/* And one of the same parent before. */
	file(u, 10, 0, 2 * S, 2 * S + 100);
	unheards_resolve(u, 3 * S, false, tell, &t);
	assert_int_equal(t.n, 3);
	assert_int_equal(t.h[0].pid, 10);
	assert_int_equal(t.h[1].pid, 11);
	assert_int_equal(t.h[1].from_ns, 2 * S + 10);
	assert_int_equal(t.h[2].pid, 12);
	assert_int_equal(t.h[2].from_ns, 2 * S + 20);
	unheards_free(&u);
}

/* Nobody who is traced; and who it was becomes known at the end of all. */
static void strangers(void **state)
{
	struct unheards *u = unheards_new();
	struct told t = {.n = 0};

	(void)state;
	base(u, 1 * S, 1, 10, PP_BY_EXEC, 0);
	file(u, 99, 0, 2 * S, 2 * S + 100);
	file(u, 10, 0, 2 * S, 2 * S + 100);
	unheards_resolve(u, 2 * S + 50, true, tell, &t);
	assert_int_equal(t.n, 1);
	assert_int_equal(t.h[0].pid, 10);
	unheards_free(&u);
}

/* Files come in without end: what cannot be kept is told to the caller. */
static void bounded(void **state)
{
	struct unheards *u = unheards_new();
	struct unheard_file f = {.pid = 9, .from_ns = 1, .to_ns = 2};
	int err = 0;

	(void)state;
	for (int i = 0; i < 100000 && !err; i++)
		err = unheards_file(u, &f);
	assert_int_equal(err, -ENOSPC);
	unheards_free(&u);
}

struct kept {
	struct unheard_file f[4];
	size_t n;
};

static void keep(void *ctx, const struct unheard_file *f)
{
	struct kept *k = ctx;

	assert_true(k->n < 4);
	k->f[k->n++] = *f;
}

static void maps(struct late_execs *x, pid_t pid, uint64_t at, const char *path)
{
	struct mapped_record r = {.kind = MAPPED_FILE, .pid = pid, .time_ns = at};

	snprintf(r.path, sizeof(r.path), "%s", path);
	late_execs_mapped(x, &r);
}

/* A dynamic program: probed before the C library was mapped is in time. */
static void before_the_library(void **state)
{
	struct unheard_file f = {.pid = 10, .from_ns = 1100, .to_ns = 1500, .looked = true};
	struct late_execs *x = late_execs_new();
	struct kept k = {.n = 0};

	(void)state;
	late_execs_begin(x, 10, 1000);
	maps(x, 10, 1100, "/bin/etl");
	maps(x, 10, 1200, "/lib64/ld-linux-x86-64.so.2");
	late_execs_file(x, &f, keep, &k);
	assert_int_equal(f.exec_ns, 1000);
	assert_false(late_execs_idle(x));
	late_execs_release(x, 2000, false, keep, &k);
	assert_int_equal(k.n, 0);
	maps(x, 10, 1600, "/usr/lib/x86_64-linux-gnu/libc.so.6");
	late_execs_release(x, 2000, false, keep, &k);
	assert_int_equal(k.n, 0);
	assert_true(late_execs_idle(x));
	/* Now known at once: 1500 is before it, 1700 is not. */
	late_execs_file(x, &f, keep, &k);
	assert_int_equal(k.n, 0);
	f.to_ns = 1700;
	late_execs_file(x, &f, keep, &k);
	assert_int_equal(k.n, 1);
	late_execs_free(&x);
}

/* A static one has no loader, and a C library that it loads later proves nothing. */
static void static_program(void **state)
{
	struct unheard_file f = {.pid = 10, .from_ns = 1100, .to_ns = 1500, .looked = true};
	struct late_execs *x = late_execs_new();
	struct kept k = {.n = 0};

	(void)state;
	late_execs_begin(x, 10, 1000);
	maps(x, 10, 1100, "/bin/etl");
	late_execs_file(x, &f, keep, &k);
	maps(x, 10, 1600, "/lib/libnss_files.so.2");
	maps(x, 10, 1700, "/lib/libc.so.6");
	maps(x, 10, 1800, "/lib/ld-linux-x86-64.so.2");
	late_execs_release(x, 2000, false, keep, &k);
	assert_int_equal(k.n, 1);
	/* One that never maps any: when it has waited long enough, or at the end. */
	late_execs_begin(x, 11, 3000);
	f = (struct unheard_file){.pid = 11, .from_ns = 3100, .to_ns = 3500, .looked = true};
	late_execs_file(x, &f, keep, &k);
	late_execs_release(x, 4000, false, keep, &k);
	assert_int_equal(k.n, 1);
	late_execs_release(x, 2 * S, false, keep, &k);
	assert_int_equal(k.n, 2);
	late_execs_free(&x);
	assert_null(x);
}

/* dlopen, long after; an exec that nobody saw; a file that nobody could look into. */
static void not_ruled_out(void **state)
{
	struct unheard_file f = {.pid = 10, .from_ns = 9000, .to_ns = 9500, .looked = true};
	struct late_execs *x = late_execs_new();
	struct kept k = {.n = 0};

	(void)state;
	late_execs_begin(x, 10, 1000);
	maps(x, 10, 1200, "/lib64/ld-linux-x86-64.so.2");
	maps(x, 10, 1600, "/lib/libc.so.6");
	late_execs_file(x, &f, keep, &k);
	assert_int_equal(k.n, 1);
	assert_int_equal(k.f[0].exec_ns, 1000);
	f.pid = 12;
	late_execs_file(x, &f, keep, &k);
	assert_int_equal(k.n, 2);
	assert_int_equal(k.f[1].exec_ns, 0);
	f = (struct unheard_file){.pid = 10, .from_ns = 1100, .to_ns = 1500, .looked = false};
	late_execs_file(x, &f, keep, &k);
	assert_int_equal(k.n, 3);
	late_execs_free(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(while_it_runs),
	    cmocka_unit_test(by_exec),
	    cmocka_unit_test(gone),
	    cmocka_unit_test(children),
	    cmocka_unit_test(strangers),
	    cmocka_unit_test(bounded),
	    cmocka_unit_test(before_the_library),
	    cmocka_unit_test(static_program),
	    cmocka_unit_test(not_ruled_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
