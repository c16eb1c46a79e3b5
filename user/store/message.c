/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "store/message.h"

#include <errno.h>
#include <string.h>

/* Two ranges of a struct: what lies between them is not used. */
struct parts {
	size_t end1, start2, end2;
};

struct event_message {
	struct queue_message head;
	uint64_t id;
	struct event_message_sizes {
		uint32_t end1, start2, end2, pad;
	} sizes;
	char bytes[];
};

struct phase_message {
	struct queue_message head;
	uint32_t end1, rows;
	char bytes[]; /* the parts, then from the next multiple of 8 the where rows */
};

static int event_parts(const struct event *ev, struct parts *p)
{
	*p = (struct parts){.end1 = offsetof(struct event, edge.parent_mm_id)};
	switch (ev->kind) {
	case PP_BASE:
		if (ev->edge.args_len > PP_ARGS_MAX)
			return -EINVAL;
		p->end1 = offsetof(struct event, edge.exit_code);
		return 0;
	case PP_MARK:
	case PP_BEGIN:
	case PP_END:
		if (ev->edge.label.len > PP_LABEL_MAX)
			return -EINVAL;
		p->start2 = offsetof(struct event, edge.token);
		p->end2 = offsetof(struct event, edge.label.bytes) + ev->edge.label.len;
		return 0;
	case PP_EXEC:
	case PP_EXIT:
		p->start2 = offsetof(struct event, edge.exit_code);
		p->end2 = offsetof(struct event, edge.sender) + sizeof(ev->edge.sender);
		return 0;
	case PP_OOM:
	case PP_OOM_OTHER:
		if (ev->edge.oom.cgroup_len > EV_CGROUP_MAX)
			return -EINVAL;
		p->start2 = offsetof(struct event, edge.oom);
		p->end2 = p->start2 + sizeof(ev->edge.oom);
		return 0;
	case PP_CROSS:
	case PP_THREAD:
	case PP_THREAD_EXIT:
	case PP_DETACH:
		return 0;
	case PP_WRITE:
		return 0;
	case PP_SAMPLE:
		p->end1 = offsetof(struct event, sample) + sizeof(ev->sample);
		return 0;
	case PP_FAULT:
		if ((uint32_t)ev->fault.mapping >= PP_MAPPING_MAX)
			return -EINVAL;
		p->end1 = offsetof(struct event, fault) + sizeof(ev->fault);
		return 0;
	case PP_NOTE:
		if (ev->note.len > PP_NOTE_CHUNK)
			return -EINVAL;
		p->end1 = offsetof(struct event, note.text) + ev->note.len;
		return 0;
	case PP_OUTPUT:
	case PP_KIND_MAX:
		break;
	}
	return -EINVAL;
}

int message_put_event(struct queue *q, uint64_t id, const struct event *ev)
{
	bool rest = ev->kind == PP_SAMPLE || ev->kind == PP_FAULT;
	enum queue_lane lane = rest ? LANE_REST : LANE_EDGES;
	struct event_message *m;
	struct parts p;
	int err = event_parts(ev, &p);

	if (err)
		return err;
	m = (struct event_message *)queue_reserve(q, lane, sizeof(*m) + p.end1 + p.end2 - p.start2,
						  MSG_EVENT);
	if (!m)
		return -EPIPE;
	m->id = id;
	m->sizes = (struct event_message_sizes){
	    .end1 = (uint32_t)p.end1, .start2 = (uint32_t)p.start2, .end2 = (uint32_t)p.end2};
	memcpy(m->bytes, ev, p.end1);
	memcpy(m->bytes + p.end1, (const char *)ev + p.start2, p.end2 - p.start2);
	queue_push(q, lane);
	return 0;
}

void message_get_event(const struct queue_message *head, uint64_t *id, struct event *ev)
{
	const struct event_message *m = (const struct event_message *)head;

	*id = m->id;
	memcpy(ev, m->bytes, m->sizes.end1);
	memcpy((char *)ev + m->sizes.start2, m->bytes + m->sizes.end1,
	       m->sizes.end2 - m->sizes.start2);
}

static size_t where_offset(size_t end1)
{
	size_t n = end1 + sizeof(struct phase) - offsetof(struct phase, token);

	return (n + 7) & ~(size_t)7;
}

int message_put_phase(struct queue *q, const struct phase *ph)
{
	size_t end1 = offsetof(struct phase, label.bytes) + ph->label.len, rows;
	struct phase_message *m;

	if (ph->label.len > PP_LABEL_MAX)
		return -EINVAL;
	rows = ph->nwhere > MESSAGE_WHERE_MAX ? MESSAGE_WHERE_MAX : ph->nwhere;
	m = (struct phase_message *)queue_reserve(
	    q, LANE_REST, sizeof(*m) + where_offset(end1) + rows * sizeof(*ph->where), MSG_PHASE);
	if (!m)
		return -EPIPE;
	m->end1 = (uint32_t)end1;
	m->rows = (uint32_t)rows;
	memcpy(m->bytes, ph, end1);
	memcpy(m->bytes + end1, (const char *)ph + offsetof(struct phase, token),
	       sizeof(*ph) - offsetof(struct phase, token));
	if (rows)
		memcpy(m->bytes + where_offset(end1), ph->where, rows * sizeof(*ph->where));
	queue_push(q, LANE_REST);
	return 0;
}

void message_get_phase(const struct queue_message *head, struct phase *ph)
{
	const struct phase_message *m = (const struct phase_message *)head;

	memcpy(ph, m->bytes, m->end1);
	memcpy((char *)ph + offsetof(struct phase, token), m->bytes + m->end1,
	       sizeof(*ph) - offsetof(struct phase, token));
	ph->nwhere = m->rows;
	ph->where = m->rows ? (const struct phase_where *)(m->bytes + where_offset(m->end1)) : NULL;
}

int message_put(struct queue *q, enum message_type type, const void *data, size_t size)
{
	struct queue_message *m = queue_reserve(q, LANE_REST, sizeof(*m) + size, type);

	if (!m)
		return -EPIPE;
	memcpy(m + 1, data, size);
	queue_push(q, LANE_REST);
	return 0;
}

const void *message_data(const struct queue_message *m)
{
	return m + 1;
}
