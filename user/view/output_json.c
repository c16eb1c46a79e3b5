/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "view/output_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text.h"
#include "view/put.h"

#define WRITE_MAX (1u << 20) /* a longer write is several objects */

/* Pieces of one write are one object. */
struct writes {
	struct jw *j;
	struct note first; /* of the write in hand; bytes: all that it has so far */
	char *text;
	size_t cap;
};

static const char *stream_name(uint32_t stream)
{
	return stream == KEPT_STDOUT ? "stdout" : "stderr";
}

static void put_write(struct writes *w)
{
	const struct note *n = &w->first;
	struct jw *j = w->j;

	if (!n->bytes)
		return;
	jw_begin_object(j);
	put_u64(j, "at_ns", n->time_ns);
	put_u64(j, "tid", n->tid);
	put_text(j, "stream", stream_name(n->stream));
	put_u64(j, "offset", n->at);
	put_u64(j, "missing_bytes", n->missing);
	jw_key(j, "text");
	jw_string(j, w->text, n->bytes);
	if (!text_is_utf8(w->text, n->bytes)) {
		jw_key(j, "hex");
		jw_hex(j, w->text, n->bytes);
	}
	jw_end_object(j);
	w->first.bytes = 0;
}

static bool goes_on(const struct writes *w, const struct note *n)
{
	const struct note *f = &w->first;

	return f->bytes && f->stream == n->stream && f->tid == n->tid && f->time_ns == n->time_ns &&
	       f->at + f->bytes == n->at && f->bytes + n->bytes <= WRITE_MAX;
}

static int put_piece(void *arg, const struct note *n, const char *text)
{
	struct writes *w = arg;
	char *more;

	if (!goes_on(w, n)) {
		put_write(w);
		w->first = *n;
		w->first.bytes = 0;
	}
	if (w->first.bytes + n->bytes > w->cap) {
		size_t cap = 2 * (w->first.bytes + n->bytes);

		more = realloc(w->text, cap);
		if (!more)
			return -ENOMEM;
		w->text = more;
		w->cap = cap;
	}
	memcpy(w->text + w->first.bytes, text, n->bytes);
	w->first.bytes += n->bytes;
	return w->j->err;
}

int output_json(struct jw *j, const struct report_source *src, struct notes *output,
		const struct phase *ph)
{
	struct writes w = {.j = j};
	size_t count;
	int err;

	notes_of(output->rows, output->n, ph->id, &count);
	if (!count || !output_wanted(src, ph))
		return 0;
	jw_key(j, "output");
	jw_begin_array(j);
	err = notes_each(output, ph, put_piece, &w);
	put_write(&w);
	jw_end_array(j);
	free(w.text);
	return err;
}

struct totals {
	struct jw *j;
	bool any;
};

static int put_totals(void *arg, const struct output_totals *t)
{
	struct totals *all = arg;
	struct jw *j = all->j;

	if (!all->any) {
		jw_key(j, "output");
		jw_begin_array(j);
	}
	all->any = true;
	jw_inline(j);
	jw_begin_object(j);
	put_text(j, "stream", stream_name(t->stream));
	put_u64(j, "keep_first_bytes", t->keep_first);
	put_u64(j, "keep_last_bytes", t->keep_last);
	put_u64(j, "written_bytes", t->written);
	put_u64(j, "dropped_bytes", t->dropped);
	jw_end_object(j);
	return j->err;
}

int output_totals_json(struct jw *j, const struct report_source *src)
{
	struct totals all = {.j = j};
	int err = src->each_output_totals ? src->each_output_totals(src->ctx, put_totals, &all) : 0;

	if (all.any)
		jw_end_array(j);
	return err;
}

int output_tail_json(struct jw *j, const struct report_source *src, uint64_t mm_id)
{
	struct tail_line lines[TAIL_LINES];
	struct tail tail;
	size_t n;
	int err;

	if (!src->stderr_tail)
		return 0;
	err = src->stderr_tail(src->ctx, mm_id, &tail);

	n = err ? 0 : tail_lines(&tail, lines);
	if (!n)
		return err;
	jw_key(j, "stderr_lines");
	jw_begin_array(j);
	for (size_t i = 0; i < n; i++)
		jw_string(j, lines[i].bytes, lines[i].len);
	jw_end_array(j);
	return j->err;
}
