/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "lib/json.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text.h"

#define BUF_SIZE (64 * 1024)
#define PIECE 4096 /* bytes of a string escaped at a time */

int jw_open(struct jw *j, FILE *f)
{
	*j = (struct jw){.f = f, .buf = malloc(BUF_SIZE)};
	return j->buf ? 0 : -ENOMEM;
}

static void flush(struct jw *j)
{
	if (!j->err && j->len && fwrite(j->buf, 1, j->len, j->f) != j->len)
		j->err = errno ? -errno : -EIO;
	j->len = 0;
}

static inline void put(struct jw *j, const char *s, size_t n)
{
	assert(n <= BUF_SIZE);
	if (n > BUF_SIZE - j->len)
		flush(j);
	memcpy(j->buf + j->len, s, n);
	j->len += n;
}

/* Room for n bytes, at most BUF_SIZE, which the caller writes and adds to len. */
static char *room(struct jw *j, size_t n)
{
	if (n > BUF_SIZE - j->len)
		flush(j);
	return j->buf + j->len;
}

static void put_indent(struct jw *j)
{
	static const char spaces[2 * JSON_DEPTH_MAX + 1] =
	    "                                                                ";

	if (j->inline_from && j->depth >= j->inline_from) {
		put(j, " ", 1);
		return;
	}
	put(j, "\n", 1);
	put(j, spaces, 2 * j->depth);
}

/* What stands between the value before and this one, and whether one may stand here. */
static inline void before_value(struct jw *j)
{
	if (!j->depth) {
		assert(!j->done);
		return;
	}
	if (j->level[j->depth - 1].object) {
		assert(j->have_key);
		j->have_key = false;
		return;
	}
	if (j->level[j->depth - 1].any)
		put(j, ",", 1);
	put_indent(j);
	j->level[j->depth - 1].any = true;
}

static void after_value(struct jw *j)
{
	if (!j->depth)
		j->done = true;
}

static void begin(struct jw *j, bool object)
{
	before_value(j);
	assert(j->depth < JSON_DEPTH_MAX);
	put(j, object ? "{" : "[", 1);
	j->level[j->depth].object = object;
	j->level[j->depth].any = false;
	j->depth++;
}

static void end(struct jw *j, bool object)
{
	bool any, one_line;

	assert(j->depth && !j->have_key && j->level[j->depth - 1].object == object);
	j->depth--;
	any = j->level[j->depth].any;
	one_line = j->inline_from && j->depth + 1 >= j->inline_from;
	if (any && one_line)
		put(j, " ", 1);
	else if (any)
		put_indent(j);
	put(j, object ? "}" : "]", 1);
	if (j->inline_from > j->depth)
		j->inline_from = 0;
	after_value(j);
}

void jw_begin_object(struct jw *j)
{
	begin(j, true);
}

void jw_end_object(struct jw *j)
{
	end(j, true);
}

void jw_begin_array(struct jw *j)
{
	begin(j, false);
}

void jw_end_array(struct jw *j)
{
	end(j, false);
}

void jw_inline(struct jw *j)
{
	if (!j->inline_from)
		j->inline_from = j->depth + 1;
}

/* Half of a report of many phases are keys: each is written at one go where it stands on one line.
 */
void jw_key(struct jw *j, const char *name)
{
	char *p;

	assert(j->depth && j->level[j->depth - 1].object && !j->have_key);
	if (j->inline_from && j->depth >= j->inline_from) {
		p = room(j, JSON_KEY_MAX + 6);
		*p = ',';
		p += j->level[j->depth - 1].any;
		p = mempcpy(p, " \"", 2);
		p = stpcpy(p, name);
		p = mempcpy(p, "\": ", 3);
		j->len = (size_t)(p - j->buf);
	} else {
		if (j->level[j->depth - 1].any)
			put(j, ",", 1);
		put_indent(j);
		put(j, "\"", 1);
		put(j, name, strlen(name));
		put(j, "\": ", 3);
	}
	j->level[j->depth - 1].any = true;
	j->have_key = true;
}

static void value(struct jw *j, const char *s, size_t n)
{
	before_value(j);
	put(j, s, n);
	after_value(j);
}

/* A piece ends between characters, so that none is taken for two halves that are not UTF-8. */
static size_t whole_piece(const char *bytes, size_t len)
{
	size_t n = PIECE;

	if (len <= PIECE)
		return len;
	for (size_t back = 0; back <= 3; back++)
		if (((unsigned char)bytes[n - back] & 0xc0) != 0x80)
			return n - back;
	return n;
}

void jw_string(struct jw *j, const char *bytes, size_t len)
{
	size_t n;

	before_value(j);
	put(j, "\"", 1);
	for (; len; bytes += n, len -= n) {
		size_t most;

		n = whole_piece(bytes, len);
		most = n * TEXT_JSON_MAX + 1;
		j->len += text_escape_json(room(j, most), most, bytes, n);
	}
	put(j, "\"", 1);
	after_value(j);
}

void jw_text(struct jw *j, const char *s)
{
	if (s)
		jw_string(j, s, strlen(s));
	else
		jw_null(j);
}

void jw_hex(struct jw *j, const char *bytes, size_t len)
{
	static const char hex[] = "0123456789abcdef";

	before_value(j);
	put(j, "\"", 1);
	for (size_t i = 0; i < len; i++) {
		unsigned char b = (unsigned char)bytes[i];

		put(j, (char[]){hex[b >> 4], hex[b & 15]}, 2);
	}
	put(j, "\"", 1);
	after_value(j);
}

void jw_u64(struct jw *j, uint64_t n)
{
	before_value(j);
	j->len += text_u64(room(j, 24), n);
	after_value(j);
}

void jw_i64(struct jw *j, int64_t n)
{
	char s[32] = "-";

	if (n < 0)
		value(j, s, 1 + text_u64(s + 1, 0 - (uint64_t)n));
	else
		jw_u64(j, (uint64_t)n);
}

void jw_bool(struct jw *j, bool b)
{
	value(j, b ? "true" : "false", b ? 4 : 5);
}

void jw_null(struct jw *j)
{
	value(j, "null", 4);
}

void jw_ratio(struct jw *j, uint64_t num, uint64_t den)
{
	char s[32];
	uint64_t scaled;
	size_t n;

	if (!den) {
		jw_null(j);
		return;
	}
	scaled = (uint64_t)(((unsigned __int128)num * 10000 + den / 2) / den);
	n = text_u64(s, scaled / 10000);
	scaled %= 10000;
	s[n++] = '.';
	for (uint64_t unit = 1000; unit; unit /= 10)
		s[n++] = (char)('0' + scaled / unit % 10);
	value(j, s, n);
}

int jw_close(struct jw *j)
{
	assert(!j->depth && j->done);
	put(j, "\n", 1);
	flush(j);
	if (!j->err && fflush(j->f))
		j->err = errno ? -errno : -EIO;
	free(j->buf);
	j->buf = NULL;
	return j->err;
}
