/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What several parts of the text report say in the same words. */
#include <inttypes.h>
#include <stdio.h>

#include "view/container.h"
#include "view/report_text.h"

void report_label(struct report *r, const struct phase *ph)
{
	char label[VIEW_LABEL_MAX];
	size_t len = view_label(label, ph, r->flags);
	bool implied = view_implied_name(ph->kind);

	out_str(&r->out, implied ? "" : "[");
	out_bytes(&r->out, label, len);
	out_str(&r->out, implied ? "" : "]");
}

void report_since_in(struct report *r, uint64_t ns, size_t width)
{
	char s[40];
	uint64_t ms = ns > r->answer.start_ns ? (ns - r->answer.start_ns + 500000) / 1000000 : 0;
	int n = snprintf(s, sizeof(s), "+%" PRIu64 ".%03" PRIu64 " s", ms / 1000, ms % 1000);

	out_str(&r->out, s);
	if ((size_t)n < width)
		out_spaces(&r->out, width - (size_t)n);
}

void report_since(struct report *r, uint64_t ns)
{
	report_since_in(r, ns, 0);
}

void report_bold(struct report *r, bool on)
{
	if (r->style->color)
		out_str(&r->out, on ? "\033[1m" : "\033[0m");
}

void report_pid(struct report *r, const struct process *p)
{
	char in[VIEW_CONTAINER_MAX] = "";
	struct cgroup c;

	out_str(&r->out, "pid ");
	out_u64(&r->out, p->pid);
	if (r->src->cgroup(r->src->ctx, p->cgroup_id, &c) > 0)
		view_container(in, &c, r->flags);
	if (!p->ns_pid || (p->ns_pid == p->pid && !in[0]))
		return;
	out_str(&r->out, " (");
	out_u64(&r->out, p->ns_pid);
	out_str(&r->out, " in ");
	out_str(&r->out, in[0] ? in : "its container");
	out_str(&r->out, ")");
}

void report_command(struct report *r, const struct process *p)
{
	char command[VIEW_COMMAND_MAX];

	out_bytes(&r->out, command, view_command(command, p, r->flags));
}

void report_bound(struct report *r, uint64_t error_bytes)
{
	if (!error_bytes)
		return;
	out_str(&r->out, r->style->ascii ? " +-" : " ±");
	out_mib(&r->out, error_bytes);
}

void report_unnamed(struct report *r, uint64_t n)
{
	if (n <= REPORT_NAMES_MAX)
		return;
	out_str(&r->out, " and ");
	out_u64(&r->out, n - REPORT_NAMES_MAX);
	out_str(&r->out, " more");
}
