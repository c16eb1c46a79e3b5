/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The job as a whole: how many processes, the largest sum of their RSS under that name, and the
 * total that counts every page once, the charge of their cgroup, each with its time and who did
 * what then.
 */
#include <string.h>

#include "view/moment.h"
#include "view/report_text.h"

#define PROCESSES_MAX 4 /* named at a moment */
#define NAMES_MAX 3

struct names {
	struct report *r;
	unsigned n;
};

static int put_name(void *arg, const struct phase *ph)
{
	struct names *o = arg;

	if (o->n++ < NAMES_MAX) {
		out_str(&o->r->out, o->n == 1 ? " in " : ", ");
		report_label(o->r, ph);
	}
	return 0;
}

static int put_row(struct report *r, const struct moment *m, const struct moment_row *row)
{
	char comm[sizeof(row->comm) * TEXT_ESCAPED_MAX + 1];
	struct names o = {.r = r};
	int err;

	out_str(&r->out, "pid ");
	out_u64(&r->out, row->pid);
	text_escape_as(comm, sizeof(comm), row->comm, strnlen(row->comm, sizeof(row->comm)),
		       r->flags);
	out_str(&r->out, " ");
	out_str(&r->out, comm);
	if (row->bytes != EV_NONE) {
		out_str(&r->out, " ");
		out_mib(&r->out, row->bytes);
	}
	err = moment_phases(m, row, r->src, put_name, &o);
	if (o.n > NAMES_MAX) {
		out_str(&r->out, " and ");
		out_u64(&r->out, o.n - NAMES_MAX);
		out_str(&r->out, " more");
	}
	return err;
}

static int put_rows(struct report *r, struct moment *m)
{
	int err = 0;

	for (size_t i = 0; i < m->n && i < PROCESSES_MAX && !err; i++) {
		out_str(&r->out, i ? ", " : ": ");
		err = put_row(r, m, &m->rows[i]);
	}
	if (m->n > PROCESSES_MAX) {
		out_str(&r->out, ", and ");
		out_u64(&r->out, m->n - PROCESSES_MAX);
		out_str(&r->out, " more");
	}
	out_str(&r->out, "\n");
	return err;
}

/* "sum of RSS 825.0 ±9.3 MiB at +1.204 s, shared pages counted in each: pid 12 …" */
static int put_sum(struct report *r)
{
	const struct job *j = &r->src->run->job;
	struct moment m;
	int err;

	if (!j->most_live)
		return 0;
	out_str(&r->out, "sum of RSS ");
	if (!moment_sum_bounded(r->src->run))
		out_str(&r->out, "~");
	out_mib(&r->out, j->sum_bytes);
	if (moment_sum_bounded(r->src->run))
		report_bound(r, j->sum_error_bytes);
	out_str(&r->out, " MiB at ");
	report_since(r, j->sum_at_ns);
	out_str(&r->out, ", shared pages counted in each");
	err = moment_of_sum(&m, r->src);
	moment_sort(&m);
	if (!err)
		err = put_rows(r, &m);
	moment_free(&m);
	return err;
}

static int put_charge(struct report *r)
{
	const struct job *j = &r->src->run->job;
	struct moment m;
	int err;

	if (r->answer.charge_peak == EV_NONE)
		return 0;
	out_str(&r->out, "largest cgroup charge ");
	out_mib(&r->out, r->answer.charge_peak);
	out_str(&r->out, " MiB");
	if (!j->most_live || j->charge_bytes == EV_NONE) {
		out_str(&r->out, "\n");
		return 0;
	}
	out_str(&r->out, " at ");
	report_since(r, j->charge_at_ns);
	err = moment_of_charge(&m, r->src);
	if (!err)
		err = put_rows(r, &m);
	moment_free(&m);
	return err;
}

int report_job(struct report *r)
{
	const struct answer *a = &r->answer;
	int err;

	if (a->processes < 2)
		return 0;
	out_u64(&r->out, a->processes);
	out_str(&r->out, " processes");
	if (r->src->run->job.most_live) {
		out_str(&r->out, ", at most ");
		out_u64(&r->out, r->src->run->job.most_live);
		out_str(&r->out, " at once");
	}
	out_str(&r->out, "\n");
	err = put_sum(r);
	return err ? err : put_charge(r);
}
