/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A shell script starts hundreds of processes that do nothing of note. Those that lived for less
 * than a second, marked nothing and ended by themselves are one row a command, if there are several
 * of it, or many of all. The first of all, and the one that holds the largest peak, are always
 * shown by themselves.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "view/report_text.h"

#define SHORT_NS 1000000000ull
#define SEVERAL 4
#define MANY 12 /* of any commands: a version manager's script before the program, for one */
#define COMMANDS_MAX 4096 /* told apart; the rest is one */
#define ROWS_MAX 30

/* Processes that a shell forks are it until they exec: a row of their own. */
struct command_key {
	char comm[17];
	char execs;
};

struct command {
	struct command_key key;
	uint64_t count, peak, longest_ns;
	UT_hash_handle hh;
};

struct rollup {
	struct command *commands; /* table */
	struct command others;
	uint64_t small;	    /* processes */
	uint64_t processes; /* that are in a row */
};

static int is_marked(void *arg, const struct phase *ph)
{
	(void)arg;
	return view_implied_name(ph->kind) ? 0 : 1;
}

static int wrote(void *arg, const struct note *n)
{
	(void)arg;
	(void)n;
	return 1;
}

/* 1, 0, -errno. A process without marks has one phase. */
static int is_small(const struct report *r, const struct process *p)
{
	const struct report_source *src = r->src;
	int marked;

	if (p->mm_id == r->answer.top.mm_id || p->start_ns == r->answer.start_ns)
		return 0;
	if (p->phases != 1 || !p->end_ns)
		return 0;
	if (p->exit != PX_EXEC && (p->exit != PX_EXIT || p->end_ns - p->start_ns >= SHORT_NS))
		return 0;
	marked = src->each_phase(src->ctx, p->mm_id, is_marked, NULL);
	/* What it wrote is to be shown. */
	if (!marked && src->each_output)
		marked = src->each_output(src->ctx, p->mm_id, wrote, NULL);
	return marked < 0 ? marked : !marked;
}

static struct command *find(struct rollup *u, const struct process *p, bool add)
{
	struct command_key key = {.execs = p->exit == PX_EXEC};
	struct command *c;

	memcpy(key.comm, p->comm, strnlen(p->comm, sizeof(key.comm) - 1));
	HASH_FIND(hh, u->commands, &key, sizeof(key), c);
	if (c || !add || HASH_COUNT(u->commands) >= COMMANDS_MAX)
		return c ? c : &u->others;
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->key = key;
	HASH_ADD(hh, u->commands, key, sizeof(c->key), c);
	if (c->hh.tbl)
		return c;
	free(c);
	return NULL;
}

static int count(void *arg, const struct process *p)
{
	struct report *r = arg;
	uint64_t ns = p->end_ns - p->start_ns;
	struct command *c;
	int small = is_small(r, p);

	if (small <= 0)
		return small;
	c = find(r->rollup, p, true);
	if (!c)
		return -ENOMEM;
	c->count++;
	r->rollup->small++;
	if (p->peak.bytes > c->peak)
		c->peak = p->peak.bytes;
	if (ns > c->longest_ns)
		c->longest_ns = ns;
	return 0;
}

int rollup_open(struct report *r)
{
	r->rollup = calloc(1, sizeof(*r->rollup));
	if (!r->rollup)
		return -ENOMEM;
	if (r->answer.images <= SEVERAL)
		return 0;
	return r->src->each_process(r->src->ctx, count, r);
}

static bool has_row(const struct rollup *u, const struct command *c)
{
	return c->count && (c->count >= SEVERAL || u->small >= MANY);
}

int rollup_takes(struct report *r, const struct process *p)
{
	int small = r->answer.images > SEVERAL ? is_small(r, p) : 0;

	if (small <= 0 || !has_row(r->rollup, find(r->rollup, p, false)))
		return small < 0 ? small : 0;
	r->rollup->processes++;
	return 1;
}

static int largest_first(const void *a, const void *b)
{
	const struct command *x = *(const struct command *const *)a,
			     *y = *(const struct command *const *)b;

	if (x->peak != y->peak)
		return x->peak < y->peak ? 1 : -1;
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return memcmp(&x->key, &y->key, sizeof(x->key));
}

static void put_command(struct report *r, const struct command *c)
{
	char name[sizeof(c->key.comm) * TEXT_ESCAPED_MAX + 16], s[32];
	size_t n = 0, cols;

	if (c == &r->rollup->others)
		strcpy(name, "(others)");
	else
		text_escape_as(name, sizeof(name) - 16, c->key.comm, strlen(c->key.comm), r->flags);
	if (c->key.execs)
		strcat(name, " until exec");
	cols = text_columns(name);
	out_str(&r->out, "  ");
	out_str(&r->out, name);
	out_spaces(&r->out, cols < 28 ? 28 - cols : 1);
	n = text_u64(s, c->count);
	out_right(&r->out, s, n, 8);
	text_mib(s, c->peak > INT64_MAX ? INT64_MAX : (int64_t)c->peak);
	out_right(&r->out, s, strlen(s), 11);
	text_duration(s, c->longest_ns);
	out_right(&r->out, s, strlen(s), 12);
	out_str(&r->out, "\n");
}

static void put_rows(struct report *r, struct command **rows, size_t n)
{
	uint64_t left = 0;

	qsort(rows, n, sizeof(struct command *), largest_first);
	out_str(&r->out, "\nprocesses of less than a second without marks, by command\n");
	out_str(&r->out, "  command                        count   peak MiB     longest\n");
	for (size_t i = 0; i < n; i++) {
		if (i < ROWS_MAX)
			put_command(r, rows[i]);
		else
			left += rows[i]->count;
	}
	if (left) {
		out_str(&r->out, "  and ");
		out_u64(&r->out, left);
		out_str(&r->out, " more of ");
		out_u64(&r->out, n - ROWS_MAX);
		out_str(&r->out, " other commands\n");
	}
}

int rollup_put(struct report *r)
{
	struct rollup *u = r->rollup;
	struct command **rows;
	size_t n = 0;

	if (!u->processes)
		return 0;
	rows = calloc(HASH_COUNT(u->commands) + 1, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	for (struct command *c = u->commands; c; c = c->hh.next)
		if (has_row(u, c))
			rows[n++] = c;
	if (has_row(u, &u->others))
		rows[n++] = &u->others;
	put_rows(r, rows, n);
	free(rows);
	return 0;
}

void rollup_close(struct report *r)
{
	struct command *c, *next;

	if (!r->rollup)
		return;
	HASH_ITER (hh, r->rollup->commands, c, next) {
		HASH_DEL(r->rollup->commands, c);
		free(c);
	}
	free(r->rollup);
	r->rollup = NULL;
}
