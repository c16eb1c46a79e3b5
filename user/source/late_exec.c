/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "source/late_exec.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

/* By then a dynamic program has mapped its C library; if not, it is told for nothing. */
#define HOLD_NS 100000000ull
#define EXECS_MAX 8192u
#define HELD_MAX 256u

struct exec {
	pid_t pid;
	uint64_t time_ns;
	uint64_t libc_ns; /* 0: not mapped yet */
	bool loader;	  /* it has a dynamic loader */
	UT_hash_handle hh;
};

struct late_execs {
	struct exec *execs;
	size_t nheld;
	struct unheard_file held[HELD_MAX];
};

struct late_execs *late_execs_new(void)
{
	return calloc(1, sizeof(struct late_execs));
}

static void forget(struct late_execs *x)
{
	struct exec *e, *next;

	HASH_ITER (hh, x->execs, e, next) {
		HASH_DEL(x->execs, e);
		free(e);
	}
}

void late_execs_free(struct late_execs **x)
{
	if (!*x)
		return;
	forget(*x);
	free(*x);
	*x = NULL;
}

static struct exec *exec_of(const struct late_execs *x, pid_t pid)
{
	struct exec *e;

	HASH_FIND(hh, x->execs, &pid, sizeof(pid), e);
	return e;
}

void late_execs_begin(struct late_execs *x, pid_t pid, uint64_t time_ns)
{
	struct exec *e = exec_of(x, pid);

	if (!e) {
		/* What is forgotten is only less sure. */
		if (HASH_COUNT(x->execs) >= EXECS_MAX)
			forget(x);
		e = calloc(1, sizeof(*e));
		if (!e)
			return;
		e->pid = pid;
		HASH_ADD(hh, x->execs, pid, sizeof(e->pid), e);
	}
	e->time_ns = time_ns;
	e->libc_ns = 0;
	e->loader = false;
}

static bool begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

/*
 * The loader comes first: a static program that loads name services maps a C library too, but long
 * after its start, and a loader after that. musl's loader is the library itself: not ruled out.
 */
void late_execs_mapped(struct late_execs *x, const struct mapped_record *r)
{
	struct exec *e = exec_of(x, r->pid);
	const char *slash = strrchr(r->path, '/');
	const char *name = slash ? slash + 1 : r->path;

	if (!e || e->libc_ns || r->time_ns < e->time_ns)
		return;
	if (begins(name, "ld-linux") || begins(name, "ld64.so") || begins(name, "ld-2."))
		e->loader = true;
	else if (begins(name, "libc.so.") || begins(name, "libc-2."))
		e->libc_ns = r->time_ns;
}

enum verdict { NOT_YET, IN_TIME, LATE };

static enum verdict judge(const struct exec *e, const struct unheard_file *f)
{
	if (!f->looked || !e || e->time_ns != f->exec_ns || f->from_ns < e->time_ns)
		return LATE;
	if (e->libc_ns)
		return e->loader && f->to_ns < e->libc_ns ? IN_TIME : LATE;
	return NOT_YET;
}

void late_execs_file(struct late_execs *x, struct unheard_file *f, late_file_fn fn, void *ctx)
{
	const struct exec *e = exec_of(x, (pid_t)f->pid);
	enum verdict v;

	f->exec_ns = e && e->time_ns <= f->from_ns ? e->time_ns : 0;
	v = judge(e, f);
	if (v == IN_TIME)
		return;
	if (v == NOT_YET && x->nheld < HELD_MAX)
		x->held[x->nheld++] = *f;
	else
		fn(ctx, f);
}

void late_execs_release(struct late_execs *x, uint64_t now_ns, bool all, late_file_fn fn, void *ctx)
{
	size_t kept = 0;

	for (size_t i = 0; i < x->nheld; i++) {
		struct unheard_file f = x->held[i];
		enum verdict v = judge(exec_of(x, (pid_t)f.pid), &f);

		if (v == NOT_YET && !all && now_ns < f.to_ns + HOLD_NS)
			x->held[kept++] = f;
		else if (v != IN_TIME)
			fn(ctx, &f);
	}
	x->nheld = kept;
}

bool late_execs_idle(const struct late_execs *x)
{
	return !x->nheld;
}
