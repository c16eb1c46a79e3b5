/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "view/verdict_more.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "view/grower.h"

#define PHASES_MAX 4 /* named of one process */
#define OTHERS_MAX 4

struct more {
	const struct around *a;
	const struct verdict *v;
	unsigned flags;
	char text[VERDICT_MORE_MAX];
	size_t len;
	uint64_t phases, others;
	bool named; /* the innermost phase is none that only began */
};

static void __attribute__((format(printf, 2, 3))) add(struct more *m, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(m->text + m->len, sizeof(m->text) - m->len, fmt, args);
	va_end(args);
	if (n > 0 && (size_t)n < sizeof(m->text) - m->len)
		m->len += (size_t)n;
	else
		m->text[m->len] = '\0';
}

static void add_label(struct more *m, const struct phase *ph)
{
	bool implied = view_implied_name(ph->kind);
	char label[VIEW_LABEL_MAX];

	view_label(label, ph, m->flags);
	add(m, implied ? "%s" : "[%s]", label);
}

static void add_process(struct more *m, const struct around_row *row)
{
	char comm[sizeof(row->comm) * TEXT_ESCAPED_MAX];

	text_escape_as(comm, sizeof(comm), row->comm, strnlen(row->comm, 16), m->flags);
	add(m, "pid %" PRIu32 " (%s)", row->pid, comm);
}

static int add_open(void *arg, const struct phase *ph)
{
	struct more *m = arg;

	m->named = ph->kind != PH_STARTUP;
	if (m->phases++ < PHASES_MAX) {
		add(m, m->phases == 1 ? "" : ", ");
		add_label(m, ph);
	}
	return 0;
}

static void add_unnamed(struct more *m)
{
	if (m->phases > PHASES_MAX)
		add(m, " and %" PRIu64 " more", m->phases - PHASES_MAX);
}

static void begin(struct more *m, const char *text)
{
	m->len = 0;
	m->phases = 0;
	add(m, "%s", text);
}

/* "grew most: [join] by 140.0 MiB, pid 12 (python3)": of the victim's own without the pid. */
static int grower(struct more *m)
{
	struct grower g;
	int found = grower_find(m->a, m->v, &g);
	char mib[24];

	if (found <= 0)
		return found;
	begin(m, "grew most: ");
	add_label(m, &g.ph);
	add(m, " by %s MiB", text_mib(mib, g.bytes > INT64_MAX ? INT64_MAX : (int64_t)g.bytes));
	if (!m->v->traced || g.row->mm_id != m->v->mm_id) {
		add(m, ", ");
		add_process(m, g.row);
	}
	return 1;
}

/* "phases open: [load], [join]"; of one the verdict itself tells. */
static int open_phases(struct more *m)
{
	const struct report_source *src = m->a->src;
	int err;

	begin(m, "phases open: ");
	err = src->phases_at(src->ctx, m->v->mm_id, m->v->win, add_open, m);
	add_unnamed(m);
	return err ? err : m->phases > 1;
}

/* At the very beginning of a process its first phase is open. */
static int add_other(void *arg, const struct around_row *row)
{
	uint64_t ns = ((struct more *)arg)->v->at_ns;
	const struct report_source *src = ((struct more *)arg)->a->src;
	struct more *m = arg;
	size_t len = m->len;
	int err;

	m->phases = 0;
	m->named = false;
	add(m, "%s", m->others ? "; " : "");
	add_process(m, row);
	add(m, " in ");
	err = src->phases_at_time(src->ctx, row->mm_id, ns > row->start_ns ? ns : row->start_ns + 1,
				  add_open, m);
	add_unnamed(m);
	if (!m->named || m->others++ >= OTHERS_MAX) {
		m->len = len;
		m->text[len] = '\0';
	}
	return err;
}

/* "others: pid 12 (python3) in [join]; pid 13 (python3) in [load]" */
static int others(struct more *m)
{
	int err;

	begin(m, "others: ");
	m->others = 0;
	err = around_each_other(m->a, m->v, add_other, m);
	if (m->others > OTHERS_MAX)
		add(m, "; and %" PRIu64 " more", m->others - OTHERS_MAX);
	return err ? err : m->others > 0;
}

int verdict_more(const struct around *a, const struct verdict *v, unsigned flags,
		 void (*line)(void *, const char *), void *arg)
{
	bool shared = v->kind == VD_OOM || v->kind == VD_HEADROOM;
	struct more m = {.a = a, .v = v, .flags = flags};
	int got = 0;

	if (shared && verdict_held(m.text, v, flags))
		line(arg, m.text);
	if (shared)
		got = grower(&m);
	if (got > 0)
		line(arg, m.text);
	if (got >= 0 && (got = open_phases(&m)) > 0)
		line(arg, m.text);
	if (got >= 0 && shared && (got = others(&m)) > 0)
		line(arg, m.text);
	return got < 0 ? got : 0;
}
