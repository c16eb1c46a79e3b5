/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/gather.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FULL 1 /* no more room for what is ready */

const char *const gather_folders[] = {
    [GATHER_CHECKPOINTS] = "checkpoints",
    [GATHER_STDERR] = "stderr",
    [GATHER_SAMPLES] = "samples",
};

int gather_begin(struct gather *g)
{
	*g = (struct gather){.explain = malloc(TOLD_TEXT_MAX)};
	for (int i = 0; i < GATHER_KINDS; i++)
		batch_init(&g->open[i], gather_folders[i], i == GATHER_STDERR ? ".log" : ".json");
	return g->explain ? 0 : -ENOMEM;
}

void gather_end(struct gather *g)
{
	for (int i = 0; i < GATHER_KINDS; i++)
		batch_free(&g->open[i]);
	for (unsigned int i = 0; i < g->nready; i++)
		object_free(&g->ready[i]);
	told_free(&g->told);
	entry_end(&g->entry);
	free(g->explain);
	*g = (struct gather){0};
}

static bool is_full(const struct gather *g)
{
	return g->nready == GATHER_READY_MAX || g->ready_bytes >= GATHER_READY_BYTES;
}

static void ready(struct gather *g)
{
	g->ready_bytes += g->ready[g->nready++].len;
}

/* A row into its batch; one that it does not fit in is ready first. 0, FULL, -ENOMEM. */
static int batch_row(struct gather *g, enum gather_kind kind, uint64_t wall_ns, const char *row,
		     size_t len)
{
	struct batch *b = &g->open[kind];
	int err = 0;

	if (!batch_takes(b, wall_ns)) {
		if (is_full(g))
			return FULL;
		if (b->sent < b->n) {
			err = batch_object(b, &g->ready[g->nready]);
			if (err)
				return err;
			ready(g);
		}
		batch_next(b);
	}
	return batch_add(b, wall_ns, row, len);
}

static int on_sample(void *ctx, uint64_t id, const struct event *ev)
{
	struct gather *g = ctx;
	int err = entry_sample(&g->entry, ev);

	err = err ? err
		  : batch_row(g, GATHER_SAMPLES, entry_wall(&g->entry, ev->time_ns), g->entry.text,
			      g->entry.len);
	if (!err)
		g->sample_id = id;
	return err;
}

static int on_output(void *ctx, const struct output_piece *o)
{
	struct gather *g = ctx;
	int err = batch_row(g, GATHER_STDERR, entry_wall(&g->entry, o->time_ns), o->bytes, o->len);

	if (!err)
		g->output_id = o->id;
	return err;
}

struct phases {
	struct gather *g;
	uint64_t until_ns;
	bool implied;
};

static int on_piece(void *ctx, uint64_t id, const struct event *ev)
{
	struct phases *p = ctx;
	int err;

	if (ev->time_ns > p->until_ns)
		return FULL;
	err = told_add(&p->g->told, ev);
	if (!err)
		p->g->note_id = id;
	return err;
}

/* An object of its own. */
static int single(struct gather *g, const struct phase *ph, uint64_t wall_ns)
{
	struct object *o = &g->ready[g->nready];
	char label[PLACE_LABEL_MAX + 1];

	place_label(label, ph);
	snprintf(o->key, sizeof(o->key), "checkpoints/%s_%llu.json", label,
		 (unsigned long long)wall_ns);
	o->data = malloc(g->entry.len + 1);
	if (!o->data)
		return -ENOMEM;
	memcpy(o->data, g->entry.text, g->entry.len);
	o->data[g->entry.len] = '\n';
	o->len = g->entry.len + 1;
	ready(g);
	return 0;
}

static int on_phase(void *ctx, const struct phase *ph)
{
	struct phases *p = ctx;
	struct gather *g = p->g;
	uint64_t wall = entry_wall(&g->entry, ph->end_ns);
	size_t told;
	int err;

	if (ph->end_ns > p->until_ns || is_full(g))
		return FULL;
	told = p->implied ? 0 : told_take(&g->told, ph, g->explain);
	err = entry_phase(&g->entry, ph, told ? g->explain : NULL, told);
	if (!err)
		err = singles_take(&g->singles, wall)
			  ? single(g, ph, wall)
			  : batch_row(g, GATHER_CHECKPOINTS, wall, g->entry.text, g->entry.len);
	if (err)
		return err;
	if (p->implied)
		g->implied_id = ph->id;
	else
		g->phase_id = ph->id;
	return 0;
}

static int read_phases(struct gather *g, struct recording *r, uint64_t until_ns, bool final)
{
	struct phases p = {.g = g, .until_ns = until_ns};
	int err = recording_note_pieces_after(r, g->note_id, on_piece, &p);

	if (err >= 0)
		err = recording_phases_after(r, g->phase_id, false, on_phase, &p);
	p.implied = true;
	if (!err && final)
		err = recording_phases_after(r, g->implied_id, true, on_phase, &p);
	return err;
}

int gather_read(struct gather *g, struct recording *r, uint64_t until_ns, bool final)
{
	const struct run_info *info = recording_info(r);
	int phases, output, samples, err = 0;

	if (!g->entry.f)
		err = entry_begin(&g->entry, &(struct report_run){
						 .wall_ns = info->wall_ns,
						 .mono_ns = info->mono_ns,
						 .where_every = info->where_every,
					     });
	if (err)
		return err;
	/* What people wait for comes first. */
	phases = read_phases(g, r, until_ns, final);
	if (phases < 0)
		return phases;
	output = recording_output_after(r, g->output_id, KEPT_STDERR, on_output, g);
	if (output < 0)
		return output;
	samples = recording_samples_after(r, g->sample_id, on_sample, g);
	if (samples < 0)
		return samples;
	g->all = !phases && !output && !samples;
	return 0;
}

struct object *gather_ready(struct gather *g)
{
	return g->nready ? &g->ready[0] : NULL;
}

void gather_sent(struct gather *g)
{
	g->ready_bytes -= g->ready[0].len;
	object_free(&g->ready[0]);
	memmove(g->ready, g->ready + 1, --g->nready * sizeof(*g->ready));
}

int gather_open(const struct gather *g, enum gather_kind kind, struct object *o)
{
	const struct batch *b = &g->open[kind];
	int err;

	if (b->sent == b->n)
		return 0;
	err = batch_object(b, o);
	return err ? err : 1;
}

void gather_open_sent(struct gather *g, enum gather_kind kind)
{
	g->open[kind].sent = g->open[kind].n;
}
