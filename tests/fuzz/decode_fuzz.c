/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Any bytes as a record: an event within its promises, or an error. */
#include <errno.h>
#include <stdlib.h>

#include "decode/decode.h"

#define MUST(c)                                                                                    \
	do {                                                                                       \
		if (!(c))                                                                          \
			abort();                                                                   \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_edge(const struct event *ev)
{
	const struct ev_edge *e = &ev->edge;

	MUST(ev_rss(&e->now) <= 3ull << 60 && ev_rss(&e->win.max_members) <= 3ull << 60);
	MUST(e->win.max <= 1ull << 60 && e->win.min <= 1ull << 60 && e->peak <= 1ull << 60);
	MUST(e->win.seq <= 0xffffff);
	MUST(e->mm_grew <= 1ull << 60 && e->thread_shrank <= 1ull << 60);
	MUST(e->args_len <= PP_ARGS_MAX);
	if (ev->kind == PP_OOM)
		MUST(e->oom.cgroup_len <= EV_CGROUP_MAX && !e->oom.comm[16]);
	else
		MUST(e->label.len <= PP_LABEL_MAX);
	MUST(!e->comm[sizeof(e->comm) - 1]);
}

static void check_output(const uint8_t *data, size_t size)
{
	struct ev_output out;

	if (decode_output(data, size, &out))
		return;
	MUST(out.stream == 1 || out.stream == 2);
	MUST(out.bytes >= (const char *)data && out.len <= size);
	MUST(out.bytes + out.len <= (const char *)data + size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t pages[] = {4096, 16384, 65536, 1, 1u << 31, 0, 3};
	struct event ev;

	check_output(data, size);
	for (size_t i = 0; i < sizeof(pages) / sizeof(*pages); i++) {
		int err = decode_record(data, size, pages[i], &ev);

		MUST(err == 0 || err == -EBADMSG || err == -ENOTSUP);
		if (err)
			continue;
		MUST(ev.kind >= PP_BASE && ev.kind < PP_KIND_MAX);
		if (event_is_edge(ev.kind))
			check_edge(&ev);
		else if (ev.kind == PP_OOM_OTHER)
			MUST(ev.edge.oom.cgroup_len <= EV_CGROUP_MAX);
		else if (ev.kind == PP_FAULT)
			MUST(ev.fault.mapping < PP_MAPPING_MAX && !ev.fault.name[PP_NAME_MAX - 1]);
		else if (ev.kind == PP_NOTE)
			MUST(ev.note.len <= PP_NOTE_CHUNK &&
			     ev.note.at + ev.note.len <= PP_NOTE_MAX);
		else
			MUST(ev.sample.max <= 1ull << 60);
	}
	return 0;
}
