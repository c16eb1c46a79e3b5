/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The job as a whole: how many processes, the largest sum of their RSS under that name, and the
 * total that counts every page once, the charge of their cgroup, each with its time and who did
 * what then.
 */
#include <string.h>

#include "view/container.h"
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

/* Of the cgroup that the peak's process is in, and of whatever cgroup. */
struct charges {
	const struct report *r;
	uint64_t own;	    /* largest; EV_NONE: not known */
	uint64_t cgroup_id; /* of the process that saw the job's largest */
};

static int add_charge(void *arg, const struct process *p)
{
	struct charges *c = arg;

	if (p->mm_id == c->r->src->run->job.charge_mm_id)
		c->cgroup_id = p->cgroup_id;
	if (p->cgroup_id == c->r->answer.top.cgroup_id && p->charge_peak != EV_NONE &&
	    (c->own == EV_NONE || p->charge_peak > c->own))
		c->own = p->charge_peak;
	return 0;
}

static void put_cgroup(struct report *r, uint64_t id)
{
	char name[VIEW_CONTAINER_MAX];
	struct cgroup c;

	if (r->src->cgroup(r->src->ctx, id, &c) <= 0 || !view_limit_owner(name, &c, 0, r->flags))
		return;
	out_str(&r->out, " (");
	out_str(&r->out, name);
	out_str(&r->out, ")");
}

/*
 * A command may move itself into its cgroup: the charge of the one that it came from, which holds
 * much else, must not hide the job's own. When that was largest only the job's largest can tell.
 */
static int put_charge(struct report *r)
{
	const struct job *j = &r->src->run->job;
	uint64_t home = r->answer.top.cgroup_id;
	struct charges c = {.r = r, .own = EV_NONE};
	struct moment m;
	bool other;
	int err;

	if (r->answer.charge_peak == EV_NONE)
		return 0;
	err = r->src->each_process(r->src->ctx, add_charge, &c);
	if (err)
		return err;
	other = home && c.own != EV_NONE && c.cgroup_id && c.cgroup_id != home;
	out_str(&r->out, "largest cgroup charge ");
	out_mib(&r->out, other ? c.own : r->answer.charge_peak);
	out_str(&r->out, " MiB");
	put_cgroup(r, home);
	if (other || !j->most_live || j->charge_bytes == EV_NONE) {
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
