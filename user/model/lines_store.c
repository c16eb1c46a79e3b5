/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "model/lines_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <utlist.h>

/* Bounds over all processes. */
#define OPEN_LINES_MAX 4096u
#define OPEN_BYTES_MAX (16u << 20)
#define REFS_MAX 512u /* writes with an edge in one line */
#define KEEP_BYTES 512u

void lines_clear(struct lines *l, struct line *ln)
{
	while (ln->nrefs)
		writes_put(&l->writes, ln->refs[--ln->nrefs].write);
	l->bytes -= ln->len;
	ln->len = ln->joint = 0;
	ln->matched = ln->cut = false;
	ln->wraps = 0;
	if (ln->cap > KEEP_BYTES) {
		free(ln->buf);
		ln->buf = NULL;
		ln->cap = 0;
	}
	if (ln->caprefs > 8) {
		free(ln->refs);
		ln->refs = NULL;
		ln->caprefs = 0;
	}
}

struct out_file *lines_file(const struct lines *l, uint32_t number)
{
	struct out_file *f;

	HASH_FIND(hh, l->files, &number, sizeof(number), f);
	return f;
}

void lines_remove(struct lines *l, struct line *ln)
{
	struct out_file *f = lines_file(l, ln->key.file);

	lines_clear(l, ln);
	HASH_DEL(l->lines, ln);
	DL_DELETE(f->lines, ln);
	free(ln->buf);
	free(ln->refs);
	free(ln);
	if (f->lines)
		return;
	HASH_DEL(l->files, f);
	free(f);
}

struct out_file *lines_get_file(struct lines *l, const struct ev_output *out)
{
	struct out_file *f = lines_file(l, out->file);

	if (f)
		return f;
	f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	f->number = out->file;
	f->mm_id = out->mm_id;
	f->last_tid = out->tid;
	HASH_ADD(hh, l->files, number, sizeof(f->number), f);
	if (!f->hh.tbl) {
		free(f);
		return NULL;
	}
	return f;
}

struct line *lines_get(struct lines *l, struct out_file *f, const struct ev_output *out)
{
	struct line_key key = {out->file, out->tid};
	struct line *ln;

	HASH_FIND(hh, l->lines, &key, sizeof(key), ln);
	if (ln)
		return ln;
	ln = calloc(1, sizeof(*ln));
	if (!ln)
		return NULL;
	ln->key = key;
	ln->mm_id = out->mm_id;
	HASH_ADD(hh, l->lines, key, sizeof(key), ln);
	if (!ln->hh.tbl) {
		free(ln);
		return NULL;
	}
	DL_APPEND(f->lines, ln);
	return ln;
}

void lines_make_room(struct lines *l, const struct line *keep)
{
	while (HASH_COUNT(l->lines) > OPEN_LINES_MAX || l->bytes > OPEN_BYTES_MAX) {
		struct line *ln = l->lines;

		if (ln == keep)
			ln = ln->hh.next;
		if (!ln)
			return;
		if (ln->len)
			l->counts.torn++;
		lines_remove(l, ln);
	}
}

static int add_ref(struct line *ln, struct out_write *w)
{
	struct ref *more;

	if (!w || (ln->nrefs && ln->refs[ln->nrefs - 1].write == w) || ln->nrefs == REFS_MAX)
		return 0;
	if (ln->nrefs == ln->caprefs) {
		size_t cap = ln->caprefs ? 2 * ln->caprefs : 4;

		more = realloc(ln->refs, cap * sizeof(*more));
		if (!more)
			return -ENOMEM;
		ln->refs = more;
		ln->caprefs = cap;
	}
	ln->refs[ln->nrefs++] = (struct ref){w, ln->len};
	w->refs++;
	return 0;
}

int lines_append(struct lines *l, struct line *ln, const char *bytes, size_t n, struct out_write *w)
{
	int err = add_ref(ln, w);
	char *more;

	if (ln->len + n > LINE_MAX_BYTES) {
		n = LINE_MAX_BYTES - ln->len;
		l->counts.cut += !ln->cut;
		ln->cut = true;
	}
	if (err || !n)
		return err;
	if (ln->len + n > ln->cap) {
		size_t cap = ln->cap ? ln->cap : 128;

		while (cap < ln->len + n)
			cap *= 2;
		more = realloc(ln->buf, cap);
		if (!more)
			return -ENOMEM;
		ln->buf = more;
		ln->cap = cap;
	}
	memcpy(ln->buf + ln->len, bytes, n);
	ln->len += n;
	l->bytes += n;
	return 0;
}
