/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the program wrote, in the text report: below its phases, and its last lines below its end.
 */
#include <signal.h>
#include <string.h>

#include "view/report_text.h"
#include "view/tail_text.h"
#include "view/verdict.h"

#define SINCE_WIDTH 12 /* "+12.408 s" and what is behind it */

/* Pieces are no lines: a line may go on in the next one, and so may a character. */
struct writing {
	struct report *r;
	size_t indent;
	uint32_t stream; /* of the line that is open; 0: none is */
	char rest[4];	 /* of a character whose end is still to come */
	size_t nrest;
};

static void put_bytes(struct writing *w, const char *bytes, size_t len)
{
	char s[1024 * TEXT_ESCAPED_MAX * 2 + 1];

	for (size_t at = 0, n; at < len; at += n) {
		n = len - at < 1024 ? len - at : view_whole_chars(bytes + at, 1024);
		text_escape_as(s, sizeof(s), bytes + at, n, w->r->flags);
		out_str(&w->r->out, s);
	}
}

static void end_line(struct writing *w)
{
	if (!w->stream)
		return;
	put_bytes(w, w->rest, w->nrest);
	w->nrest = 0;
	w->stream = 0;
	out_str(&w->r->out, "\n");
}

static void begin_line(struct writing *w, const struct note *n, bool first)
{
	struct report *r = w->r;

	w->stream = n->stream;
	out_spaces(&r->out, w->indent);
	if (first)
		report_since_in(r, n->time_ns, SINCE_WIDTH);
	else
		out_spaces(&r->out, SINCE_WIDTH);
	out_str(&r->out, n->stream == KEPT_STDOUT ? "out| " : "err| ");
}

/* A part of a line. */
static void put_part(struct writing *w, const char *bytes, size_t len, bool whole)
{
	char joined[sizeof(w->rest) + PP_OUT_LARGE];
	size_t n = w->nrest, keep;

	memcpy(joined, w->rest, n);
	memcpy(joined + n, bytes, len);
	n += len;
	keep = whole ? n : view_whole_chars(joined, n);
	put_bytes(w, joined, keep);
	w->nrest = n - keep;
	memcpy(w->rest, joined + keep, w->nrest);
}

static void put_missing(struct writing *w, const struct note *n)
{
	struct report *r = w->r;
	char size[24];

	end_line(w);
	out_spaces(&r->out, w->indent + SINCE_WIDTH);
	out_str(&r->out, "(");
	out_str(&r->out, text_size(size, n->missing));
	out_str(&r->out, n->stream == KEPT_STDOUT ? " of stdout" : " of stderr");
	out_str(&r->out, " are not kept)\n");
}

static int put_piece(void *arg, const struct note *n, const char *text)
{
	struct writing *w = arg;
	bool first = true;

	if (n->missing)
		put_missing(w, n);
	if (w->stream != n->stream)
		end_line(w);
	for (size_t at = 0; at < n->bytes && !w->r->out.err;) {
		const char *nl = memchr(text + at, '\n', n->bytes - at);
		size_t len = nl ? (size_t)(nl - text) - at : n->bytes - at;

		if (!w->stream)
			begin_line(w, n, first);
		first = false;
		put_part(w, text + at, len, nl != NULL);
		if (nl)
			end_line(w);
		at += len + (nl != NULL);
	}
	return w->r->out.err;
}

int report_output(struct report *r, const struct phase *ph, size_t indent)
{
	struct writing w = {.r = r, .indent = indent};
	int err;

	if (!r->output.n || !output_wanted(r->src, ph))
		return 0;
	err = notes_each(&r->output, ph, put_piece, &w);
	end_line(&w);
	return err;
}

int report_stderr_tail(struct report *r, uint64_t mm_id)
{
	struct tail_line lines[TAIL_LINES];
	char text[TAIL_TEXT_MAX];
	struct tail tail;
	size_t n;
	int err;

	if (!r->src->stderr_tail)
		return 0;
	err = r->src->stderr_tail(r->src->ctx, mm_id, &tail);
	if (err)
		return err;
	n = tail_lines(&tail, lines);
	for (size_t i = 0; i < n; i++)
		out_bytes(&r->out, text, tail_text(text, &lines[i], r->flags));
	return r->out.err;
}

int report_ended_tail(struct report *r, const struct process *p)
{
	/* An OOM kill stands above, with its lines. */
	return p->exit == PX_SIGNAL && p->status != SIGPIPE ? report_stderr_tail(r, p->mm_id) : 0;
}

struct totals {
	struct report *r;
	bool any;
};

static int put_totals(void *arg, const struct output_totals *t)
{
	struct totals *all = arg;
	struct report *r = all->r;
	char size[24];

	if (!t->dropped)
		return 0;
	out_str(&r->out, all->any ? "" : "\n");
	all->any = true;
	out_str(&r->out, t->stream == KEPT_STDOUT ? "stdout: " : "stderr: ");
	out_str(&r->out, text_size(size, t->dropped));
	out_str(&r->out, " of ");
	out_str(&r->out, text_size(size, t->written));
	out_str(&r->out, " are not kept: they lie between the first ");
	out_str(&r->out, text_size(size, t->keep_first));
	out_str(&r->out, " and the last ");
	out_str(&r->out, text_size(size, t->keep_last));
	out_str(&r->out, " (--output-keep)\n");
	return r->out.err;
}

int report_output_totals(struct report *r)
{
	const struct report_source *src = r->src;
	struct totals all = {.r = r};

	if (!src->each_output || !src->each_output_totals)
		return 0;
	return src->each_output_totals(src->ctx, put_totals, &all);
}
