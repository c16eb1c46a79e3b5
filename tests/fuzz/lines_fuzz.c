/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Anything that can be written, in any pieces, by any threads, with any edges: whatever comes in,
 * each edge goes out once, in its order, and what is a mark has an edge of its own or the same.
 */
#include <stdlib.h>
#include <string.h>

#include "model/printed.h"

#define MUST(c)                                                                                    \
	do {                                                                                       \
		if (!(c))                                                                          \
			abort();                                                                   \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
	uint64_t in, out; /* edges */
};

static int take(void *ctx, const struct event *ev)
{
	struct seen *s = ctx;

	MUST(ev->edge.label.len <= PP_LABEL_MAX);
	if (ev->flags & PP_F_SAME) {
		MUST(ev->flags & PP_F_OUTPUT);
		MUST(ev->edge.win.seq == s->out);
		return 0;
	}
	MUST(ev->edge.win.seq == ++s->out);
	return 0;
}

static void edge_of(struct printed *p, struct seen *s, uint8_t what, uint64_t write, uint64_t ns)
{
	static const enum pp_kind kinds[] = {PP_WRITE, PP_WRITE, PP_MARK, PP_EXIT,
					     PP_BASE,  PP_WRITE, PP_EXEC, PP_DETACH};
	struct event ev = {.kind = kinds[what & 7], .time_ns = ns, .mm_id = what >> 3 & 3};

	ev.edge.win.seq = ++s->in;
	ev.edge.token = ev.kind == PP_WRITE ? write : 0;
	if (ev.kind == PP_WRITE)
		ev.edge.route = (struct ev_route){
		    .to = write & 3, .from = write >> 2 & 3, .reader = {write >> 4 & 3}};
	MUST(!printed_event(p, &ev));
}

static struct patterns *make(void)
{
	struct patterns *ps = patterns_new();
	char error[PATTERN_ERROR_MAX];

	MUST(ps);
	MUST(!patterns_add(ps, PATTERN_MARK, "R\\[(.*?)\\](?: (?<mb>[\\d.]+))?", NULL, error));
	MUST(!patterns_add(ps, PATTERN_BEGIN, "^b(\\w*)", NULL, error));
	MUST(!patterns_add(ps, PATTERN_END, "^e(\\w*)", NULL, error));
	MUST(!patterns_add(ps, PATTERN_END, "^x$", NULL, error));
	MUST(!patterns_add(ps, PATTERN_JOIN, "L\\s+\\n\\s*(\\w+)\\(", NULL, error));
	MUST(!patterns_add(ps, PATTERN_STEP, "^s(?<n>\\w+)", "step:${n}", error));
	return ps;
}

/* A command of four bytes; pieces of output take their bytes from behind it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct patterns *ps;
	struct seen s = {0};
	struct printed *p;
	uint64_t ns = 1000;

	if (!ps)
		ps = make();
	p = printed_new(ps, take, &s);
	MUST(p);
	while (size >= 4) {
		uint8_t what = data[0], who = data[1], write = data[2], n = data[3];

		data += 4;
		size -= 4;
		ns += (uint64_t)(who & 0xf0) << 22;
		if (what & 1) {
			struct ev_output out = {.time_ns = ns,
						.mm_id = who & 3,
						.pid = 1,
						.tid = who >> 2 & 3,
						.file = (who & 3) * 2 + (what >> 1 & 1),
						.stream = 1,
						.write = write,
						.flags = what >> 4,
						.len = n < size ? n : (uint32_t)size,
						.bytes = (const char *)data};

			MUST(!printed_output(p, &out));
			data += out.len;
			size -= out.len;
		} else if (what & 2) {
			MUST(!printed_poll(p, ns));
		} else {
			edge_of(p, &s, who, write, ns);
		}
	}
	MUST(!printed_finish(p));
	MUST(s.in == s.out);
	printed_free(&p);
	return 0;
}
