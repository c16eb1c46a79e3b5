/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/decode.h"

#include <errno.h>
#include <string.h>

#include "decode/path.h"

/*
 * No RSS or growth can honestly pass 2^60 bytes; refusing more keeps every sum of members inside
 * 64 bits, so that nothing behind the decoder has to check again.
 */
#define MEMORY_MAX (1ull << 60)
#define SEQ_MAX 0xffffffull

struct scale {
	unsigned int shift; /* log2 of the page size */
	int err;	    /* first value that cannot be */
};

static uint64_t memory(struct scale *s, pp_u64 pages)
{
	if (pages > MEMORY_MAX >> s->shift) {
		s->err = -EBADMSG;
		return 0;
	}
	return pages << s->shift;
}

/* Cumulative counters only ever rise: one that reached the end stays there. */
static uint64_t growth(const struct scale *s, pp_u64 pages)
{
	return pages > MEMORY_MAX >> s->shift ? MEMORY_MAX : pages << s->shift;
}

/* Charges and limits: all ones means none; cgroup v1 has limits of nearly 2^63 bytes. */
static uint64_t limit(const struct scale *s, pp_u64 pages)
{
	if (pages == PP_NO_LIMIT)
		return EV_NONE;
	return pages > (EV_NONE - 1) >> s->shift ? EV_NONE - 1 : pages << s->shift;
}

static struct ev_members members(struct scale *s, const pp_u64 pages[PP_NMEMBERS])
{
	struct ev_members v;

	for (int i = 0; i < PP_NMEMBERS; i++)
		v.m[i] = memory(s, pages[i]);
	return v;
}

static uint64_t sequence(struct scale *s, pp_u64 seq)
{
	if (seq > SEQ_MAX)
		s->err = -EBADMSG;
	return seq & SEQ_MAX;
}

static void window(struct scale *s, const struct pp_window *in, struct ev_window *out)
{
	out->seq = sequence(s, in->seq);
	out->max = memory(s, in->max);
	out->max_at_ns = in->max_at_ns;
	out->max_members = members(s, in->max_members);
	out->member_max = members(s, in->member_max);
	out->min = memory(s, in->min);
	out->charge_max = limit(s, in->charge_max);
	out->charge_max_at_ns = in->charge_max_at_ns;
	out->limiter_max = limit(s, in->limiter_max);
}

static void edge(struct scale *s, const void *data, struct ev_edge *out)
{
	struct pp_edge in;

	memcpy(&in, data, sizeof(in));
	out->now = members(s, in.now);
	window(s, &in.win, &out->win);
	out->thread_grew = growth(s, in.thread_grew);
	out->thread_shrank = growth(s, in.thread_shrank);
	out->mm_grew = growth(s, in.mm_grew);
	out->mm_shrank = growth(s, in.mm_shrank);
	out->ext_grew = growth(s, in.ext_grew);
	out->ext_shrank = growth(s, in.ext_shrank);
	out->minflt = in.minflt;
	out->majflt = in.majflt;
	out->charge = limit(s, in.charge);
	out->limit = limit(s, in.limit);
	out->limiter = limit(s, in.limiter);
	out->peak = memory(s, in.peak);
	out->limit_level = in.limit_level;
	out->lost = in.lost;
	out->printed = EV_NONE;
}

static int base(struct scale *s, const void *data, size_t size, struct ev_edge *out)
{
	struct pp_base in;

	if (size != sizeof(in))
		return -EBADMSG;
	memcpy(&in, data, sizeof(in));
	if (in.args_len > PP_ARGS_MAX || in.reason < PP_BY_ATTACH || in.reason > PP_BY_JOIN)
		return -EBADMSG;
	edge(s, data, out);
	out->parent_mm_id = in.parent_mm_id;
	out->start_ns = in.start_ns;
	out->start_boot_ns = in.start_boot_ns;
	out->cgroup_id = in.cgroup_id;
	out->ppid = in.ppid;
	out->ns_pid = in.ns_pid;
	out->reason = in.reason;
	out->threads = in.threads;
	out->args_len = in.args_len;
	memcpy(out->comm, in.comm, strnlen(in.comm, sizeof(in.comm)));
	memcpy(out->args, in.args, in.args_len);
	return 0;
}

static void sender(const struct pp_sender *in, struct ev_sender *out)
{
	out->time_ns = in->time_ns;
	out->sig = in->sig;
	out->code = in->code;
	out->pid = in->pid;
	memcpy(out->comm, in->comm, strnlen(in->comm, sizeof(in->comm)));
}

static int exit_edge(struct scale *s, const void *data, size_t size, struct ev_edge *out)
{
	struct pp_exit in;

	if (size != sizeof(in))
		return -EBADMSG;
	memcpy(&in, data, sizeof(in));
	edge(s, data, out);
	out->exit_code = in.exit_code;
	out->exit_flags = in.exit_flags;
	sender(&in.sender, &out->sender);
	return 0;
}

static int oom(struct scale *s, const void *data, size_t size, bool traced, struct ev_edge *out)
{
	struct ev_oom *o = &out->oom;
	struct pp_oom in;

	if (size != sizeof(in))
		return -EBADMSG;
	memcpy(&in, data, sizeof(in));
	if (in.levels > PP_CGROUP_LEVELS || (in.levels && in.hit_level >= in.levels))
		return -EBADMSG;
	if (traced)
		edge(s, data, out);
	o->start_boot_ns = in.start_boot_ns;
	o->hit_limit = limit(s, in.hit_limit);
	o->hit_usage = limit(s, in.hit_usage);
	o->hit_level = in.hit_level;
	o->pid = in.pid;
	o->trigger_mm_id = in.trigger_mm_id;
	o->trigger_pid = in.trigger_pid;
	memcpy(o->comm, in.comm, strnlen(in.comm, sizeof(in.comm)));
	memcpy(o->trigger_comm, in.trigger_comm, strnlen(in.trigger_comm, sizeof(in.trigger_comm)));
	sender(&in.sender, &o->sender);
	if (in.levels)
		o->cgroup_len = (uint32_t)path_join(o->cgroup, sizeof(o->cgroup), in.names,
						    in.levels, in.hit_level);
	return 0;
}

static int mark(struct scale *s, const void *data, size_t size, bool bare, struct ev_edge *out)
{
	struct pp_mark in;
	size_t room;

	if (size < sizeof(in))
		return -EBADMSG;
	room = size - sizeof(in);
	if (room != PP_LABEL_SMALL && room != PP_LABEL_MAX + 1 && !(bare && room == 0))
		return -EBADMSG;
	memcpy(&in, data, sizeof(in));
	if (in.label_len > room || in.label_len > PP_LABEL_MAX)
		return -EBADMSG;
	edge(s, data, out);
	out->token = in.token;
	out->threads_now = in.threads;
	out->label.len = in.label_len;
	out->label.flags = in.label_flags;
	out->label.hash = in.label_hash;
	memcpy(out->label.bytes, (const char *)data + sizeof(in), in.label_len);
	return 0;
}

static int write_edge(struct scale *s, const void *data, size_t size, struct ev_edge *out)
{
	struct pp_write in;

	if (size != sizeof(in))
		return -EBADMSG;
	memcpy(&in, data, sizeof(in));
	edge(s, data, out);
	out->token = in.write;
	out->route.to = in.to;
	out->route.from = in.from;
	memcpy(out->route.reader, in.reader, sizeof(in.reader));
	return 0;
}

static int sample(struct scale *s, const void *data, size_t size, struct ev_sample *out)
{
	struct pp_sample in;

	if (size != sizeof(in))
		return -EBADMSG;
	memcpy(&in, data, sizeof(in));
	out->seq = sequence(s, in.seq);
	out->now = members(s, in.now);
	out->max = memory(s, in.max);
	out->min = memory(s, in.min);
	out->charge = limit(s, in.charge);
	out->threads = in.threads;
	return 0;
}

static int fault(struct scale *s, const void *data, size_t size, struct ev_fault *out)
{
	struct pp_fault in;

	if (size != sizeof(in))
		return -EBADMSG;
	memcpy(&in, data, sizeof(in));
	if (in.mapping >= PP_MAPPING_MAX)
		return -EBADMSG;
	out->seq = sequence(s, in.seq);
	out->addr = in.addr;
	out->ino = in.ino;
	out->dev = in.dev;
	out->mapping = in.mapping;
	memcpy(out->name, in.name, strnlen(in.name, sizeof(in.name) - 1));
	return 0;
}

static int note(const void *data, size_t size, struct ev_note *out)
{
	struct pp_note in;

	if (size != sizeof(in))
		return -EBADMSG;
	memcpy(&in, data, sizeof(in));
	if (in.len > PP_NOTE_CHUNK || in.at > PP_NOTE_MAX - in.len)
		return -EBADMSG;
	out->token = in.token;
	out->number = in.number;
	out->at = in.at;
	out->len = in.len;
	out->flags = in.flags;
	memcpy(out->text, in.text, in.len);
	return 0;
}

static int body(struct scale *s, const void *data, size_t size, struct event *out)
{
	switch (out->kind) {
	case PP_BASE:
		return base(s, data, size, &out->edge);
	case PP_MARK:
	case PP_BEGIN:
		return mark(s, data, size, false, &out->edge);
	case PP_END:
		return mark(s, data, size, true, &out->edge);
	case PP_EXEC:
	case PP_EXIT:
		return exit_edge(s, data, size, &out->edge);
	case PP_THREAD:
	case PP_THREAD_EXIT:
	case PP_DETACH:
	case PP_CROSS:
		if (size != sizeof(struct pp_edge))
			return -EBADMSG;
		edge(s, data, &out->edge);
		return 0;
	case PP_OOM:
		return oom(s, data, size, true, &out->edge);
	case PP_OOM_OTHER:
		return oom(s, data, size, false, &out->edge);
	case PP_WRITE:
		return write_edge(s, data, size, &out->edge);
	case PP_SAMPLE:
		return sample(s, data, size, &out->sample);
	case PP_FAULT:
		return fault(s, data, size, &out->fault);
	case PP_NOTE:
		return note(data, size, &out->note);
	case PP_OUTPUT:
	case PP_KIND_MAX:
		break;
	}
	return -ENOTSUP;
}

/* A ring may hand out a record rounded up to eight bytes: what counts is its own word. */
static bool whole(const struct pp_hdr *hdr, size_t size)
{
	return hdr->size >= sizeof(*hdr) && hdr->size <= size && size - hdr->size < 8;
}

int decode_record(const void *data, size_t size, uint32_t page_size, struct event *out)
{
	struct pp_hdr hdr;
	struct scale s = {0};
	int err;

	if (!page_size || (page_size & (page_size - 1)) || size < sizeof(hdr))
		return -EBADMSG;
	memcpy(&hdr, data, sizeof(hdr));
	if (!whole(&hdr, size))
		return -EBADMSG;
	if (hdr.kind < PP_BASE || hdr.kind >= PP_KIND_MAX)
		return -ENOTSUP;
	s.shift = (unsigned int)__builtin_ctz(page_size);
	memset(out, 0, sizeof(*out));
	out->kind = (enum pp_kind)hdr.kind;
	out->flags = hdr.flags;
	out->time_ns = hdr.time_ns;
	out->mm_id = hdr.mm_id;
	out->pid = hdr.pid;
	out->tid = hdr.tid;
	err = body(&s, data, hdr.size, out);
	return err ? err : s.err;
}

int decode_output(const void *data, size_t size, struct ev_output *out)
{
	struct pp_output in;
	size_t room;

	if (size < sizeof(in))
		return -EBADMSG;
	memcpy(&in, data, sizeof(in));
	if (in.hdr.kind != PP_OUTPUT)
		return -ENOTSUP;
	if (!whole(&in.hdr, size) || in.hdr.size < sizeof(in))
		return -EBADMSG;
	room = in.hdr.size - sizeof(in);
	if ((room != PP_OUT_SMALL && room != PP_OUT_LARGE) || in.len > room)
		return -EBADMSG;
	if (in.stream != 1 && in.stream != 2)
		return -EBADMSG;
	*out = (struct ev_output){
	    .time_ns = in.hdr.time_ns,
	    .mm_id = in.hdr.mm_id,
	    .pid = in.hdr.pid,
	    .tid = in.hdr.tid,
	    .write = in.write,
	    .at = in.at,
	    .file = in.file,
	    .stream = in.stream,
	    .flags = in.flags,
	    .len = in.len,
	    .bytes = (const char *)data + sizeof(in),
	};
	return 0;
}
