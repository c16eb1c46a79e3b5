/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Any keys, in any size, over a run that goes on: three bytes are a key, or a new size, or
 * something that happens. No key leaves the state where it must not be, and every frame fits its
 * grid.
 */
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "view/top/layout.h"

#define MUST(c)                                                                                    \
	do {                                                                                       \
		if (!(c))                                                                          \
			abort();                                                                   \
	} while (0)
#define MMS 6

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct run {
	struct model *model;
	struct board board;
	struct top_state state;
	struct top_facts facts;
	struct top_list *list;
	struct cells cells;
	uint64_t ns, win[MMS];
	int rows, cols;
	bool over;
};

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	setlocale(LC_CTYPE, "C.UTF-8");
	return 0;
}

static void begun(void *ctx, const struct process *p)
{
	board_process_begun(&((struct run *)ctx)->board, p);
}

static void phase(void *ctx, const struct process *p, const struct phase *ph)
{
	(void)p;
	board_phase_ended(&((struct run *)ctx)->board, ph);
}

static void covered(void *ctx, uint64_t mm_id, uint64_t from, uint64_t to)
{
	board_covered(&((struct run *)ctx)->board, mm_id, from, to);
}

static void ended(void *ctx, const struct process *p)
{
	board_process_ended(&((struct run *)ctx)->board, p);
}

static void verdict(void *ctx, const struct process *p, const struct verdict *v)
{
	(void)p;
	board_verdict(&((struct run *)ctx)->board, v);
}

/* b: kind and process, memory, label and time */
static void happen(struct run *r, const uint8_t b[3])
{
	static const enum pp_kind kinds[] = {PP_BASE,	PP_MARK, PP_BEGIN,  PP_END,
					     PP_SAMPLE, PP_EXIT, PP_THREAD, PP_EXEC};
	struct event ev = {.kind = kinds[b[0] % 8]};
	unsigned mm = b[0] / 8 % MMS;
	uint64_t rss = (uint64_t)b[1] << 20;

	if (r->over)
		return;
	r->ns += (uint64_t)b[2] << (b[2] & 1 ? 22 : 10);
	ev.mm_id = 1 + mm;
	ev.pid = ev.tid = 100 + mm;
	ev.time_ns = r->ns;
	if (ev.kind == PP_SAMPLE) {
		ev.sample.seq = r->win[mm];
		ev.sample.now.m[PP_ANON] = rss;
		ev.sample.max = rss + ((uint64_t)b[2] << 20);
		ev.sample.charge = b[2] & 2 ? EV_NONE : rss;
	} else {
		ev.edge.win.seq = r->win[mm]++;
		ev.edge.now.m[PP_ANON] = rss;
		ev.edge.win.max = rss + ((uint64_t)b[2] << 18);
		ev.edge.win.max_at_ns = r->ns - b[2];
		ev.edge.charge = ev.edge.limiter = b[2] & 2 ? EV_NONE : rss;
		ev.edge.limit = b[2] & 4 ? EV_NONE : (uint64_t)b[2] << 21;
		ev.edge.win.charge_max = ev.edge.win.limiter_max = ev.edge.charge;
		ev.edge.reason = 1 + b[2] % 3;
		ev.edge.parent_mm_id = b[1] % (MMS + 1);
		ev.edge.token = b[2] % 4;
		ev.edge.label.len = b[2];
		memset(ev.edge.label.bytes, b[1], b[2]);
		ev.edge.exit_code = b[2];
	}
	MUST(!model_feed(r->model, &ev));
	board_event(&r->board, &ev);
}

static void check(const struct run *r)
{
	const struct cells *g = &r->cells;

	MUST(r->state.depth < TOP_PAGES_MAX);
	MUST(strlen(r->state.filter) <= TOP_FILTER_MAX);
	MUST(r->facts.rows == 0 || r->state.place[r->state.depth].row < r->facts.rows);
	for (int row = 0; row < g->rows; row++)
		for (int col = 0; col < g->cols; col++) {
			const struct cell *c = cell_at(g, row, col);

			MUST(c->width <= 2 && c->style < CELL_NSTYLES);
			MUST(c->width != 2 ||
			     (col + 1 < g->cols && !cell_at(g, row, col + 1)->width));
			MUST(c->width || (col && cell_at(g, row, col - 1)->width == 2));
			MUST(!g->ascii || (c->ch[0] >= 0x20 && c->ch[0] < 0x7f && !c->ch[1]));
		}
}

static void frame(struct run *r, bool ascii)
{
	MUST(!cells_reset(&r->cells, r->rows, r->cols, ascii));
	MUST(!top_layout(&r->board, &r->state, &r->facts, r->list, &r->cells, r->ns));
	check(r);
}

static void step(struct run *r, const uint8_t b[3])
{
	uint32_t key;

	switch (b[0] >> 6) {
	case 0:
		happen(r, b);
		return;
	case 1:
		r->rows = 1 + b[1] % 110;
		r->cols = 1 + b[2] % 250;
		r->facts.recording = b[1] & 1;
		break;
	case 2:
		/* What keyboards have, mostly; and any number now and then. */
		key = b[1] < 128 ? b[1] : (uint32_t)TOP_KEY_UP + b[1] % 16;
		if (b[2] == 255)
			key = (uint32_t)b[1] << 13 | b[2];
		top_state_key(&r->state, &r->facts, key);
		r->state.quit = false;
		break;
	default:
		top_state_tick(&r->state, &r->facts, (uint64_t)b[1] << b[2] % 56);
		if (b[1] == 255 && !r->over) {
			MUST(!model_finish(r->model, r->ns));
			board_over(&r->board, r->ns, b[2]);
			r->over = true;
		}
		break;
	}
	frame(r, b[0] & 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct run r = {.ns = 1000000000, .rows = 24, .cols = 80};
	struct model_options opt = {0};
	struct model_sink sink = {.ctx = &r,
				  .process_begun = begun,
				  .phase_ended = phase,
				  .implied_covered = covered,
				  .process_ended = ended,
				  .verdict = verdict};

	MUST(!board_init(&r.board));
	r.model = model_new(&opt, &sink);
	r.list = top_list_new();
	MUST(r.model && r.list);
	r.board.model = r.model;
	top_state_init(&r.state);
	/* Frames are dear: a long input would only be slow. */
	for (size_t i = 0; i + 3 <= size && i < 1200; i += 3)
		step(&r, data + i);
	frame(&r, false);
	model_free(&r.model);
	board_free(&r.board);
	top_list_free(&r.list);
	cells_free(&r.cells);
	return 0;
}
