/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "view/verdict_json.h"

#include <string.h>

#include "view/columns.h"
#include "view/container.h"
#include "view/grower.h"
#include "view/output_json.h"
#include "view/put.h"

static void put_bytes(struct jw *j, const char *key, const char *bytes, size_t len)
{
	jw_key(j, key);
	if (len)
		jw_string(j, bytes, len);
	else
		jw_null(j);
}

static void put_who(struct jw *j, const char *key, uint32_t pid, const char *comm)
{
	jw_key(j, key);
	jw_begin_object(j);
	put_known(j, "pid", pid ? pid : EV_NONE);
	put_bytes(j, "command", comm, strnlen(comm, 16));
	jw_end_object(j);
}

static const char *kind_name(enum verdict_kind kind)
{
	switch (kind) {
	case VD_OOM:
		return "oom";
	case VD_SIGNAL:
		return "signal";
	case VD_CEILING:
		return "ceiling";
	case VD_HEADROOM:
		return "headroom";
	}
	return "signal";
}

struct open {
	struct jw *j;
	uint64_t n;
};

static int put_open(void *arg, const struct phase *ph)
{
	struct open *o = arg;

	label_json(o->j, ph);
	o->n++;
	return 0;
}

/* From the rows; while the tracing goes on there are none yet of what is open. */
static int put_phases(struct jw *j, const struct report_source *src, const struct verdict *v)
{
	struct phase ph = {.kind = v->phase_kind, .label = v->phase_label};
	struct open o = {.j = j};
	int err;

	jw_key(j, "phases");
	jw_begin_array(j);
	err = src->phases_at(src->ctx, v->mm_id, v->win, put_open, &o);
	if (!err && !o.n)
		label_json(j, &ph);
	jw_end_array(j);
	return err;
}

static void put_memory(struct jw *j, const struct verdict *v)
{
	put_known(j, "rss_bytes", v->traced ? ev_rss(&v->members) : EV_NONE);
	jw_key(j, "members");
	if (v->traced)
		members_json(j, &v->members);
	else
		jw_null(j);
	put_known(j, "charge_bytes", v->charge);
	jw_key(j, "grew_bytes");
	if (v->grew_ns)
		jw_i64(j, v->grew_bytes);
	else
		jw_null(j);
	put_known(j, "grew_ns", v->grew_ns ? v->grew_ns : EV_NONE);
}

static void put_limit(struct jw *j, const struct verdict *v)
{
	bool limited = v->limit != EV_NONE;

	put_known(j, "limit_bytes", v->limit);
	put_known(j, "limit_charge_bytes", v->limit_usage);
	jw_key(j, "limit_owner");
	if (limited) {
		jw_begin_object(j);
		put_known(j, "level", v->limit_level);
		put_bytes(j, "cgroup", v->cgroup, v->cgroup_len);
		jw_end_object(j);
	} else {
		jw_null(j);
	}
}

static void put_held(struct jw *j, const struct verdict *v)
{
	jw_key(j, "held");
	if (!v->held.read_ns) {
		jw_null(j);
		return;
	}
	jw_begin_object(j);
	put_known(j, "read_ns", v->held.read_ns);
	put_known(j, "cache_bytes", v->held.cache);
	put_known(j, "mapped_bytes", v->held.mapped);
	put_known(j, "shmem_bytes", v->held.shmem);
	put_known(j, "kernel_bytes", v->held.kernel);
	jw_end_object(j);
}

static bool shares(const struct verdict *v)
{
	return v->kind == VD_OOM || v->kind == VD_HEADROOM;
}

static int put_grower(struct jw *j, const struct around *a, const struct verdict *v)
{
	struct grower g;
	int found = shares(v) ? grower_find(a, v, &g) : 0;

	jw_key(j, "grew_most");
	if (found <= 0) {
		jw_null(j);
		return found;
	}
	jw_begin_object(j);
	put_u64(j, "pid", g.row->pid);
	put_bytes(j, "command", g.row->comm, strnlen(g.row->comm, 16));
	jw_key(j, "phase");
	label_json(j, &g.ph);
	put_u64(j, "grew_bytes", g.bytes);
	jw_end_object(j);
	return 0;
}

#define OTHERS_MAX 64

struct others {
	struct jw *j;
	const struct around *a;
	const struct verdict *v;
	uint64_t n;
};

static int put_other(void *arg, const struct around_row *row)
{
	struct others *o = arg;
	const struct report_source *src = o->a->src;
	/* At the very beginning of a process its first phase is open. */
	uint64_t ns = o->v->at_ns > row->start_ns ? o->v->at_ns : row->start_ns + 1;
	struct open open = {.j = o->j};
	int err;

	if (o->n++ >= OTHERS_MAX)
		return 0;
	jw_begin_object(o->j);
	put_u64(o->j, "pid", row->pid);
	put_bytes(o->j, "command", row->comm, strnlen(row->comm, 16));
	jw_key(o->j, "phases");
	jw_begin_array(o->j);
	err = src->phases_at_time(src->ctx, row->mm_id, ns, put_open, &open);
	jw_end_array(o->j);
	jw_end_object(o->j);
	return err;
}

static int put_others(struct jw *j, const struct around *a, const struct verdict *v)
{
	struct others o = {.j = j, .a = a, .v = v};
	int err;

	jw_key(j, "others");
	jw_begin_array(j);
	err = shares(v) ? around_each_other(a, v, put_other, &o) : 0;
	jw_end_array(j);
	return err;
}

static void put_causes(struct jw *j, const struct verdict *v)
{
	put_known(j, "signal", v->signal ? v->signal : EV_NONE);
	jw_key(j, "sent_by_kernel");
	if (!v->sender.time_ns) {
		jw_null(j);
		jw_key(j, "sender");
		jw_null(j);
	} else {
		jw_bool(j, v->sender.code > 0);
		put_who(j, "sender", v->sender.pid, v->sender.comm);
	}
	if (v->kind == VD_OOM && v->trigger_pid) {
		put_who(j, "trigger", v->trigger_pid, v->trigger_comm);
	} else {
		jw_key(j, "trigger");
		jw_null(j);
	}
	put_known(j, "threshold_bytes",
		  v->kind == VD_CEILING || v->kind == VD_HEADROOM ? v->threshold : EV_NONE);
}

int verdict_json(struct jw *j, const struct around *a, const struct verdict *v)
{
	const struct verdict_who who = around_who(a, v);
	const struct report_source *src = a->src;
	int err, more;

	jw_inline(j);
	jw_begin_object(j);
	jw_key(j, "kind");
	jw_text(j, kind_name(v->kind));
	put_known(j, "at_ns", v->at_ns);
	put_known(j, "pid", v->pid);
	put_known(j, "ns_pid", who.ns_pid ? who.ns_pid : EV_NONE);
	put_bytes(j, "command", v->comm, strnlen(v->comm, 16));
	jw_key(j, "container");
	view_container_json(j, who.in);
	jw_key(j, "traced");
	jw_bool(j, v->traced);
	put_causes(j, v);
	err = put_phases(j, src, v);
	put_limit(j, v);
	put_memory(j, v);
	put_held(j, v);
	more = put_grower(j, a, v);
	if (!more)
		more = put_others(j, a, v);
	if (!more && v->traced && (v->kind == VD_OOM || v->kind == VD_SIGNAL))
		more = output_tail_json(j, src, v->mm_id);
	jw_end_object(j);
	return err ? err : more;
}
