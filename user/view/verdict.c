/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "view/verdict.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "resolve/cgroup.h"

struct text {
	char *buf;
	size_t cap, len;
};

static void __attribute__((format(printf, 2, 3))) add(struct text *t, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(t->buf + t->len, t->cap - t->len, fmt, args);
	va_end(args);
	if (n > 0)
		t->len += (size_t)n < t->cap - t->len ? (size_t)n : t->cap - t->len - 1;
}

static struct text on(char *buf)
{
	buf[0] = '\0';
	return (struct text){buf, VERDICT_TEXT_MAX, 0};
}

static void add_mib(struct text *t, const char *before, uint64_t bytes, const char *after)
{
	char mib[24];

	add(t, "%s%s%s", before, text_mib(mib, bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes),
	    after);
}

static void add_process(struct text *t, uint32_t pid, const char *comm, unsigned flags)
{
	char shown[17 * TEXT_ESCAPED_MAX * 3];

	text_escape_as(shown, sizeof(shown), comm, strnlen(comm, 16), flags);
	add(t, "pid %" PRIu32 " (%s)", pid, shown);
}

/* "pid 42 (python3)", "pid 42 (python3, 7 in docker web-1)" */
static void add_victim(struct text *t, const struct verdict *v, const struct verdict_who *who,
		       unsigned flags)
{
	char comm[17 * TEXT_ESCAPED_MAX * 3], in[VIEW_CONTAINER_MAX] = "";

	if (who->in)
		view_container(in, who->in, flags);
	if (!in[0] && (!who->ns_pid || who->ns_pid == v->pid)) {
		add_process(t, v->pid, v->comm, flags);
		return;
	}
	text_escape_as(comm, sizeof(comm), v->comm, strnlen(v->comm, 16), flags);
	add(t, "pid %" PRIu32 " (%s", v->pid, comm);
	if (who->ns_pid)
		add(t, ", %" PRIu32, who->ns_pid);
	add(t, " in %s)", in[0] ? in : "its container");
}

/* "in [label]", "in (after), since [label]": what goes on after a checkpoint has no name yet. */
static void add_phase(struct text *t, const struct verdict *v, unsigned flags)
{
	struct phase ph = {.kind = v->phase_kind};
	char label[VIEW_LABEL_MAX];

	ph.label = v->phase_label;
	view_label(label, &ph, flags);
	if (v->phase_kind == PH_SPAN) {
		add(t, " in [%s]", label);
		return;
	}
	add(t, " in %s", label);
	if (!v->phase_label.len && !v->phase_label.flags)
		return;
	ph.kind = PH_CHECKPOINT;
	view_label(label, &ph, flags);
	add(t, ", since [%s]", label);
}

/* A container's own limit is the container's: its path says no more than its name does. */
static void add_owner(struct text *t, const char *path, const struct cgroup *in, unsigned flags)
{
	char shown[EV_CGROUP_MAX * TEXT_ESCAPED_MAX + VIEW_CONTAINER_MAX];
	struct cgroup_container c;

	if (in && view_container_owns(in, path) && view_container(shown, in, flags)) {
		add(t, " of %s", shown);
		return;
	}
	text_escape_as(shown, sizeof(shown), path, strlen(path), flags);
	add(t, " of %s", shown);
	if (cgroup_container(path, &c)) {
		text_escape_as(shown, sizeof(shown), c.id, strnlen(c.id, 12), flags);
		add(t, " (%s %s)", c.engine, shown);
	}
}

static void add_path(struct text *t, const struct verdict *v, const struct cgroup *in,
		     unsigned flags)
{
	char path[EV_CGROUP_MAX + 1];
	uint32_t len = v->cgroup_len < EV_CGROUP_MAX ? v->cgroup_len : EV_CGROUP_MAX;

	memcpy(path, v->cgroup, len);
	path[len] = '\0';
	if (!len) {
		if (v->limit_level)
			add(t, " of the cgroup %" PRIu32 " level%s up", v->limit_level,
			    v->limit_level == 1 ? "" : "s");
		else
			add(t, " of its own cgroup");
		return;
	}
	add_owner(t, path, in, flags);
}

static void add_trigger(struct text *t, const struct verdict *v, unsigned flags)
{
	add(t, ", %swhen ", v->traced ? "" : "not traced, ");
	add_process(t, v->trigger_pid, v->trigger_comm, flags);
	add(t, " wanted memory");
}

size_t verdict_what(char out[static VERDICT_TEXT_MAX], const struct verdict *v,
		    const struct verdict_who *who, unsigned flags)
{
	struct text t = on(out);

	switch (v->kind) {
	case VD_OOM:
		add(&t, "OOM kill: ");
		break;
	case VD_SIGNAL:
		add(&t, "killed: ");
		break;
	case VD_CEILING:
		add_mib(&t, "ceiling ", v->threshold, " MiB crossed: ");
		break;
	case VD_HEADROOM:
		add_mib(&t, "headroom below ", v->threshold, " MiB: ");
		break;
	}
	if (v->traced) {
		add_victim(&t, v, who, flags);
	} else {
		add_process(&t, v->pid, v->comm, flags);
		add_trigger(&t, v, flags);
	}
	add_phase(&t, v, flags);
	if (v->kind == VD_OOM && v->traced && v->trigger_pid && v->trigger_pid != v->pid)
		add_trigger(&t, v, flags);
	return t.len;
}

static void add_limit(struct text *t, const struct verdict *v, const struct cgroup *in,
		      unsigned flags)
{
	add_mib(t, "limit ", v->limit, " MiB");
	add_path(t, v, in, flags);
	if (v->kind == VD_OOM)
		add(t, " hit");
	if (v->limit_usage == EV_NONE)
		return;
	add_mib(t, ", charge ", v->limit_usage, " MiB");
	if (v->kind == VD_HEADROOM)
		add_mib(t, ", left ", v->limit > v->limit_usage ? v->limit - v->limit_usage : 0,
			" MiB");
}

size_t verdict_sender(char out[static VERDICT_TEXT_MAX], const struct verdict *v, unsigned flags)
{
	struct text t = on(out);

	if (!v->sender.time_ns)
		return 0;
	if (v->sender.code > 0) {
		add(&t, ", sent by the kernel");
	} else if (v->sender.pid == v->pid) {
		add(&t, ", sent by itself");
	} else if (v->sender.pid) {
		add(&t, ", sent by ");
		add_process(&t, v->sender.pid, v->sender.comm, flags);
	} else {
		add(&t, ", sent from outside this pid namespace");
	}
	return t.len;
}

size_t verdict_why(char out[static VERDICT_TEXT_MAX], const struct verdict *v,
		   const struct verdict_who *who, unsigned flags)
{
	char sender[VERDICT_TEXT_MAX], name[40];
	struct text t = on(out);

	if (v->kind == VD_SIGNAL) {
		verdict_sender(sender, v, flags);
		add(&t, "%s%s", view_signal(name, v->signal), sender);
	} else if (v->limit != EV_NONE) {
		add_limit(&t, v, who->in, flags);
	} else if (v->kind == VD_OOM) {
		add(&t, "the machine was out of memory, no cgroup at its limit");
	} else if (v->kind == VD_CEILING) {
		add(&t, "no limit on its memory");
	}
	return t.len;
}

size_t verdict_memory(char out[static VERDICT_TEXT_MAX], const struct verdict *v)
{
	struct text t = on(out);
	char mib[24], time[24];

	if (!v->traced)
		return 0;
	add_mib(&t, "RSS ", ev_rss(&v->members), " MiB");
	add_mib(&t, " (anon ", v->members.m[PP_ANON], "");
	add_mib(&t, " file ", v->members.m[PP_FILE], "");
	add_mib(&t, " shmem ", v->members.m[PP_SHMEM], ")");
	if (v->members.m[PP_SWAP])
		add_mib(&t, ", swap ", v->members.m[PP_SWAP], " MiB");
	if (v->grew_ns)
		add(&t, ", grew %s MiB in the last %s", text_mib(mib, v->grew_bytes),
		    text_duration(time, v->grew_ns));
	return t.len;
}

static void add_part(struct text *t, const char *before, uint64_t bytes, const char *after)
{
	if (bytes != EV_NONE)
		add_mib(t, before, bytes, after);
}

size_t verdict_held(char out[static VERDICT_TEXT_MAX], const struct verdict *v, unsigned flags)
{
	const struct verdict_held *h = &v->held;
	const char *minus = flags & TEXT_ASCII ? "-" : "−";
	uint64_t rss = ev_rss(&v->members), charge = v->limit_usage;
	struct text t = on(out);
	char time[24];

	if (h->read_ns) {
		add(&t, "the charge held besides");
		add_part(&t, ": cache ", h->cache, " MiB");
		add_part(&t, " (mapped ", h->mapped, "");
		add_part(&t, ", shmem ", h->shmem, ")");
		add_part(&t, ", kernel ", h->kernel, " MiB");
		add(&t, "; read %s later",
		    text_duration(time, h->read_ns > v->at_ns ? h->read_ns - v->at_ns : 0));
	} else if (v->traced && charge != EV_NONE && charge > rss) {
		add(&t, "the charge held besides: charge %s RSS", minus);
		add_mib(&t, " = ", charge - rss, " MiB");
	}
	return t.len;
}

bool verdict_is_news(const struct verdict *v)
{
	return v->kind != VD_SIGNAL || v->signal != SIGPIPE;
}

size_t verdict_line(char out[static VERDICT_LINE_MAX], const struct verdict *v,
		    const struct verdict_who *who, unsigned flags)
{
	char part[VERDICT_TEXT_MAX];
	struct text t = {out, VERDICT_LINE_MAX, 0};

	verdict_what(part, v, who, flags);
	add(&t, "peakphase: %s", part);
	if (verdict_why(part, v, who, flags))
		add(&t, ": %s", part);
	if (verdict_memory(part, v))
		add(&t, "; %s", part);
	add(&t, "\n");
	return t.len;
}
