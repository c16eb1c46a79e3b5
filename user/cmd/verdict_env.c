/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/verdict_env.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "view/label.h"

struct env {
	char *buf;
	size_t cap, len;
};

/* Bytes as they are: an environment takes any but NUL. value NULL: unset. */
static void put(struct env *e, const char *name, const char *value, size_t len)
{
	size_t n = strlen(name);

	if (len > e->cap || n + len + 2 > e->cap - e->len)
		return;
	memcpy(e->buf + e->len, name, n);
	e->len += n;
	if (value) {
		e->buf[e->len++] = '=';
		memcpy(e->buf + e->len, value, len);
		e->len += len;
	}
	e->buf[e->len++] = '\0';
}

static void put_text(struct env *e, const char *name, const char *value)
{
	put(e, name, value, value ? strlen(value) : 0);
}

static void put_u64(struct env *e, const char *name, uint64_t n)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, n);
	put_text(e, name, n == EV_NONE ? NULL : text);
}

static void put_phase(struct env *e, const struct verdict *v)
{
	const struct ev_label *l = &v->phase_label;
	size_t len = l->len < PP_LABEL_MAX ? l->len : PP_LABEL_MAX;
	const char *implied = view_implied_name(v->phase_kind);

	put_text(e, "PEAKPHASE_SINCE", NULL);
	if (!implied) {
		put(e, "PEAKPHASE_PHASE", l->bytes, strnlen(l->bytes, len));
		return;
	}
	put_text(e, "PEAKPHASE_PHASE", implied);
	if (len)
		put(e, "PEAKPHASE_SINCE", l->bytes, strnlen(l->bytes, len));
}

/* As an engine takes it. */
static void put_container(struct env *e, const struct cgroup *c)
{
	char name[VIEW_CONTAINER_MAX] = "";

	if (c)
		view_container_name(name, c, 0);
	put_text(e, "PEAKPHASE_CONTAINER", name[0] ? name : NULL);
}

size_t verdict_env(char *out, size_t cap, const struct verdict *v, const struct verdict_who *who,
		   const char *recording)
{
	bool limited = v->limit != EV_NONE && v->limit_usage != EV_NONE;
	uint64_t left = limited && v->limit > v->limit_usage ? v->limit - v->limit_usage : 0;
	struct env e = {.buf = out, .cap = cap};

	put_text(&e, "PEAKPHASE_KIND", v->kind == VD_CEILING ? "ceiling" : "headroom");
	put_u64(&e, "PEAKPHASE_THRESHOLD_BYTES", v->threshold);
	put_u64(&e, "PEAKPHASE_PID", v->pid);
	put_u64(&e, "PEAKPHASE_NS_PID", who->ns_pid ? who->ns_pid : EV_NONE);
	put_container(&e, who->in);
	put(&e, "PEAKPHASE_COMMAND", v->comm, strnlen(v->comm, 16));
	put_phase(&e, v);
	put_u64(&e, "PEAKPHASE_AT_NS", v->at_ns);
	put_u64(&e, "PEAKPHASE_RSS_BYTES", ev_rss(&v->members));
	put_u64(&e, "PEAKPHASE_ANON_BYTES", v->members.m[PP_ANON]);
	put_u64(&e, "PEAKPHASE_FILE_BYTES", v->members.m[PP_FILE]);
	put_u64(&e, "PEAKPHASE_SHMEM_BYTES", v->members.m[PP_SHMEM]);
	put_u64(&e, "PEAKPHASE_SWAP_BYTES", v->members.m[PP_SWAP]);
	put_u64(&e, "PEAKPHASE_CHARGE_BYTES", v->charge);
	put_u64(&e, "PEAKPHASE_LIMIT_BYTES", v->limit);
	put_u64(&e, "PEAKPHASE_HEADROOM_BYTES", limited ? left : EV_NONE);
	put(&e, "PEAKPHASE_CGROUP", v->cgroup_len ? v->cgroup : NULL, v->cgroup_len);
	put_text(&e, "PEAKPHASE_RECORDING", recording);
	return e.len;
}
