/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <string.h>

#include "view/freed.h"
#include "view/report_text.h"

#define INDENT 2
#define INDENT_LEVELS 16   /* deeper ones stand at this depth: numbers have to stay in sight */
#define LABEL_MIN 16	   /* columns */
#define LABEL_PIPED_MAX 60 /* longer labels are not cut, they push their numbers to the right */
#define MEASURED 20000	   /* rows looked at to choose the width; a later one may be longer */
#define NOTE_WIDTH 9	   /* "   ◀ peak" */
#define WHERE_MAX 5

static size_t columns_of(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)s[i] >= 0x80)
			return text_columns(s);
	return len;
}

static size_t indent_of(const struct phase *ph)
{
	return INDENT * (ph->depth < INDENT_LEVELS ? ph->depth : INDENT_LEVELS);
}

struct measure {
	struct report *r;
	uint64_t rows;
	size_t widest;
};

static int measure_phase(void *arg, const struct phase *ph)
{
	struct measure *m = arg;
	char label[VIEW_LABEL_MAX];
	size_t len = view_label(label, ph, m->r->flags);
	size_t cols = indent_of(ph) + columns_of(label, len);

	m->r->printed |= ph->origin == PH_FROM_OUTPUT && ph->printed_bytes != EV_NONE;
	if (cols > m->widest)
		m->widest = cols;
	return ++m->rows >= MEASURED;
}

static int measure_process(void *arg, const struct process *p)
{
	struct measure *m = arg;
	const struct report_source *src = m->r->src;

	return src->each_phase(src->ctx, p->mm_id, measure_phase, m);
}

static bool shown(const struct report *r, const struct column *c)
{
	if (c->flags & COLUMN_MEMBERS && !r->style->members)
		return false;
	if (c->flags & COLUMN_LIMIT && !r->limit_met)
		return false;
	if (c->flags & COLUMN_PRINTED && !r->printed)
		return false;
	if (c->flags & COLUMN_LIVE || (c->flags & COLUMN_WIDE && r->narrow))
		return false;
	return c->title && c->width;
}

/* Columns of a row beside its label. */
static size_t numbers_width(const struct report *r)
{
	size_t width = INDENT + NOTE_WIDTH;

	for (size_t i = 0; i < phase_ncolumns; i++)
		if (shown(r, &phase_columns[i]))
			width += phase_columns[i].width;
	return width;
}

static int choose_width(struct report *r)
{
	struct measure m = {.r = r, .widest = LABEL_MIN};
	size_t terminal = r->style->width, most = LABEL_PIPED_MAX;
	int err = r->src->each_process(r->src->ctx, measure_process, &m);

	if (err < 0)
		return err;
	if (terminal) {
		r->narrow = terminal < numbers_width(r) + m.widest;
		most = numbers_width(r);
		most = terminal > most + LABEL_MIN ? terminal - most : LABEL_MIN;
	}
	r->label_width = m.widest < most ? m.widest : most;
	return 0;
}

/* Bytes of the longest beginning of s with at most cols columns. */
static size_t head_bytes(const char *s, size_t len, size_t cols)
{
	uint32_t cp;
	char one[5];
	size_t at = 0, n, w;

	while (at < len) {
		n = text_utf8_next(s + at, len - at, &cp);
		n = n ? n : 1;
		memcpy(one, s + at, n);
		one[n] = '\0';
		w = text_columns(one);
		if (w > cols)
			break;
		cols -= w;
		at += n;
	}
	return at;
}

/*
 * On a terminal a label that is too long loses its middle: what tells labels apart is at their ends
 * as often as at their beginnings.
 */
static void put_cut_label(struct report *r, const char *label, size_t len, size_t cols, size_t room)
{
	const char *mark = r->style->ascii ? "..." : "…";
	size_t mark_cols = r->style->ascii ? 3 : 1;
	size_t head = head_bytes(label, len, (room - mark_cols + 1) / 2);
	size_t used = text_columns(label) - text_columns(label + head) + mark_cols;
	size_t skip = head_bytes(label + head, len - head, cols + mark_cols - room);

	/* A wide character may straddle the place: one more goes. */
	while (used + text_columns(label + head + skip) > room)
		skip += head_bytes(label + head + skip, len - head - skip, 2);
	out_bytes(&r->out, label, head);
	out_str(&r->out, mark);
	out_bytes(&r->out, label + head + skip, len - head - skip);
	out_spaces(&r->out, room - used - text_columns(label + head + skip));
}

static void put_label(struct report *r, const struct phase *ph)
{
	char label[VIEW_LABEL_MAX];
	size_t len = view_label(label, ph, r->flags), cols = columns_of(label, len);
	size_t indent = indent_of(ph);

	if (r->style->width && indent > r->label_width - LABEL_MIN)
		indent = r->label_width - LABEL_MIN;
	out_spaces(&r->out, INDENT + indent);
	if (r->style->width && indent + cols > r->label_width) {
		put_cut_label(r, label, len, cols, r->label_width - indent);
		return;
	}
	out_bytes(&r->out, label, len);
	if (indent + cols < r->label_width)
		out_spaces(&r->out, r->label_width - indent - cols);
}

static const char *ended_note(const struct report *r, const struct phase *ph)
{
	switch (ph->ended_by) {
	case PH_BY_EXIT:
		return view_implied_name(ph->kind) ? NULL : "open at exit";
	case PH_BY_EXEC:
		return view_implied_name(ph->kind) ? NULL : "ended by exec";
	case PH_BY_SIGNAL:
		return "open when killed";
	case PH_BY_OOM:
		return "open at the OOM kill";
	case PH_BY_TRACE:
		return r->src->run->running ? "still open" : "open when the tracing ended";
	case PH_BY_MARK:
	case PH_BY_END:
		break;
	}
	return NULL;
}

static void put_note(struct report *r, unsigned *n, const char *note)
{
	out_str(&r->out, (*n)++ ? ", " : "   ");
	out_str(&r->out, note);
}

/* What allocators keep back and what is rounded to nothing is no news. */
#define FREED_SAID (1ull << 20)

static void put_notes(struct report *r, const struct phase *ph, const struct freed *freed)
{
	const char *ended = ended_note(r, ph);
	char lost[24];
	unsigned n = 0;

	if (r->owner_id && ph->id == r->owner_id) {
		report_bold(r, true);
		put_note(r, &n, r->style->ascii ? "<- peak" : "◀ peak");
		report_bold(r, false);
	}
	if (ended)
		put_note(r, &n, ended);
	if (ph->overlaps)
		put_note(r, &n, "overlaps");
	if (freed->bytes >= FREED_SAID) {
		put_note(r, &n, freed->exact ? "" : "~");
		out_mib(&r->out, freed->bytes);
		out_str(&r->out, " freed later");
	}
	if (ph->lost) {
		text_u64(lost, ph->lost);
		put_note(r, &n, lost);
		out_str(&r->out, ph->lost == 1 ? " mark lost" : " marks lost");
	}
}

static uint64_t percent_of(uint64_t part, uint64_t whole)
{
	return (uint64_t)(((unsigned __int128)part * 100 + whole / 2) / whole);
}

static void put_share(struct report *r, uint64_t percent, const char *name)
{
	out_u64(&r->out, percent);
	out_str(&r->out, " % ");
	out_str(&r->out, name);
}

/* "61 % heap, 30 % anonymous, 9 % libfoo.so  (of 812 faults sampled, 1 in 64)" */
static void put_where(struct report *r, const struct phase *ph)
{
	char name[PP_NAME_MAX * TEXT_ESCAPED_MAX + 1];
	uint64_t hits = 0, named = 0;

	for (uint32_t i = 0; i < ph->nwhere; i++)
		hits += ph->where[i].hits;
	if (!hits)
		return;
	out_spaces(&r->out, 2 * INDENT + indent_of(ph));
	for (uint32_t i = 0; i < ph->nwhere && i < WHERE_MAX; i++) {
		const struct phase_where *w = &ph->where[i];
		size_t len;
		const char *bytes = where_name(w, &len);

		if (i && !percent_of(w->hits, hits))
			break;
		named += w->hits;
		text_escape_as(name, sizeof(name), bytes, len, r->flags);
		out_str(&r->out, i ? ", " : "");
		put_share(r, percent_of(w->hits, hits), name);
	}
	if (percent_of(hits - named, hits)) {
		out_str(&r->out, ", ");
		put_share(r, percent_of(hits - named, hits), "others");
	}
	out_str(&r->out, "  (of ");
	out_u64(&r->out, hits);
	out_str(&r->out, hits == 1 ? " fault sampled, 1 in " : " faults sampled, 1 in ");
	out_u64(&r->out, r->src->run->where_every);
	out_str(&r->out, ")\n");
}

#define NOTE_PIECE 1024 /* bytes of a line of a note that are escaped at once */

struct note_place {
	struct report *r;
	size_t indent;
};

static void put_note_line(struct report *r, size_t indent, const char *line, size_t len)
{
	char s[NOTE_PIECE * TEXT_ESCAPED_MAX + 1];

	out_spaces(&r->out, indent);
	out_str(&r->out, "| ");
	for (size_t at = 0; at < len; at += NOTE_PIECE) {
		text_escape_as(s, sizeof(s), line + at,
			       len - at < NOTE_PIECE ? len - at : NOTE_PIECE, r->flags);
		out_str(&r->out, s);
	}
	out_bytes(&r->out, "\n", 1);
}

/* Line by line, as it is text of the program's: nothing in it can look like a line of ours. */
static int put_note_text(void *arg, const struct note *n, const char *text)
{
	const struct note_place *place = arg;
	struct report *r = place->r;
	size_t at = 0;

	while (at < n->bytes) {
		const char *line = text + at, *end = memchr(line, '\n', n->bytes - at);
		size_t len = end ? (size_t)(end - line) : n->bytes - at;

		put_note_line(r, place->indent, line, len);
		at += len + 1;
	}
	if (!note_whole(n)) {
		out_spaces(&r->out, place->indent);
		out_str(&r->out, n->flags & PP_NOTE_CUT		 ? "(cut after 1 MiB)\n"
				 : n->flags & PP_NOTE_UNREADABLE ? "(the rest could not be read)\n"
								 : "(the rest was lost)\n");
	}
	return r->out.err;
}

static int put_phase(void *arg, const struct phase *ph)
{
	struct report *r = arg;
	struct note_place place = {r, 2 * INDENT + indent_of(ph)};
	struct row row = {.run = r->src->run, .p = r->p, .ph = ph, .owner_id = r->owner_id};
	struct freed freed;
	char s[32];
	int err = freed_later(r->src, ph, &freed);

	if (err)
		return err;
	put_label(r, ph);
	for (size_t i = 0; i < phase_ncolumns; i++) {
		const struct column *c = &phase_columns[i];
		char *number = s;

		if (!shown(r, c))
			continue;
		if (column_marked(c, &row))
			*number++ = '~';
		out_right(&r->out, s, (size_t)(number - s) + column_text(number, c, &row),
			  c->width);
	}
	put_notes(r, ph, &freed);
	out_bytes(&r->out, "\n", 1);
	if (r->src->run->where_every && ph->nwhere)
		put_where(r, ph);
	if (r->notes.n)
		err = notes_each(&r->notes, ph, put_note_text, &place);
	if (!err && r->output.n)
		err = report_output(r, ph, place.indent);
	if (err)
		return err;
	return r->out.err; /* nobody reads on: stop */
}

static void put_titles(struct report *r)
{
	out_spaces(&r->out, INDENT);
	out_str(&r->out, phase_columns[0].title);
	out_spaces(&r->out, r->label_width - strlen(phase_columns[0].title));
	for (size_t i = 0; i < phase_ncolumns; i++)
		if (shown(r, &phase_columns[i]))
			out_right(&r->out, phase_columns[i].title, strlen(phase_columns[i].title),
				  phase_columns[i].width);
	out_str(&r->out, "\n");
}

static int put_heading(struct report *r, const struct process *p)
{
	int err;

	report_bold(r, true);
	report_pid(r, p);
	out_str(&r->out, " ");
	report_command(r, p);
	report_bold(r, false);
	out_str(&r->out, p->exact ? "   peak " : "   peak ~");
	out_mib(&r->out, p->peak.bytes);
	report_bound(r, p->error_bytes);
	out_str(&r->out, " MiB   from ");
	report_since(r, p->start_ns);
	if (p->reason == PP_BY_FORK) {
		out_str(&r->out, ", forked from pid ");
		out_u64(&r->out, p->ppid);
		out_str(&r->out, ", inherited ");
		out_mib(&r->out, p->inherited_bytes);
		out_str(&r->out, " MiB");
	}
	out_str(&r->out, "   ");
	err = report_ended(r, p);
	out_str(&r->out, "\n");
	return err;
}

/* "held 22.5 MiB when it was attached to; not traced before: 12.34 s since it began" */
static void put_before(struct report *r, const struct process *p)
{
	uint64_t ns;
	char s[24];

	out_str(&r->out, "  held ");
	out_mib(&r->out, p->baseline_bytes);
	out_str(&r->out, p->reason == PP_BY_JOIN ? " MiB when it came into the cgroup"
						 : " MiB when it was attached to");
	if (untraced_before(r->src->run, p, &ns)) {
		out_str(&r->out, "; not traced before: ");
		text_duration(s, ns);
		out_str(&r->out, s);
		out_str(&r->out, " since it began");
	}
	out_str(&r->out, "\n");
}

static void put_process_notes(struct report *r, const struct process *p)
{
	if (p->reason == PP_BY_ATTACH || p->reason == PP_BY_JOIN)
		put_before(r, p);
	report_outside(r, p);
}

void report_outside(struct report *r, const struct process *p)
{
	if (p->ext_grew_bytes || p->ext_shrank_bytes) {
		out_str(&r->out, "  changed from outside (reclaim, other processes): grew ");
		out_mib(&r->out, p->ext_grew_bytes);
		out_str(&r->out, ", shrank ");
		out_mib(&r->out, p->ext_shrank_bytes);
		out_str(&r->out, " MiB\n");
	}
}

static int put_process(void *arg, const struct process *p)
{
	struct report *r = arg;
	struct phase owner;
	int err = rollup_takes(r, p);

	r->bad_ends += p->bad_ends;
	if (err)
		return err < 0 ? err : 0;
	err = answer_owner(r->src, p, &owner);
	if (err < 0)
		return err;
	r->owner_id = err ? owner.id : 0;
	r->p = p;
	out_str(&r->out, "\n");
	if (r->answer.images > 1) {
		err = put_heading(r, p);
		err = err ? err : report_ended_tail(r, p);
		if (err < 0)
			return err;
	}
	put_titles(r);
	err = r->style->notes ? notes_load(&r->notes, r->src, p->mm_id) : 0;
	err = err ? err : notes_load_output(&r->output, r->src, p->mm_id);
	if (!err)
		err = r->src->each_phase(r->src->ctx, p->mm_id, put_phase, r);
	put_process_notes(r, p);
	return err;
}

int report_tables(struct report *r)
{
	int err = choose_width(r);

	if (!err)
		err = rollup_open(r);
	if (!err)
		err = r->src->each_process(r->src->ctx, put_process, r);
	if (!err)
		err = rollup_put(r);
	rollup_close(r);
	return err;
}
