/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "model/tail.h"

#include <string.h>

void tail_append(struct tail *t, const char *bytes, size_t n)
{
	size_t keep = t->len;

	if (n >= TAIL_BYTES) {
		t->cut |= n > TAIL_BYTES || t->len;
		bytes += n - TAIL_BYTES;
		n = TAIL_BYTES;
		keep = 0;
	} else if (keep > TAIL_BYTES - n) {
		keep = TAIL_BYTES - n;
		t->cut = true;
	}
	memmove(t->bytes, t->bytes + t->len - keep, keep);
	memcpy(t->bytes + keep, bytes, n);
	t->len = keep + n;
}

bool tail_prepend(struct tail *t, const char *bytes, size_t n)
{
	size_t room = TAIL_BYTES - t->len, take = n < room ? n : room;

	memmove(t->bytes + take, t->bytes, t->len);
	memcpy(t->bytes, bytes + n - take, take);
	t->len += take;
	t->cut |= take < n;
	return take == n && t->len < TAIL_BYTES;
}

void tail_gap(struct tail *t)
{
	t->len = 0;
	t->cut = true;
}

/* A line as a terminal shows it in the end. */
static struct tail_line line_of(const char *bytes, size_t len, bool cut)
{
	const char *cr;

	while (len && bytes[len - 1] == '\r')
		len--;
	cr = memrchr(bytes, '\r', len);
	if (!cr)
		return (struct tail_line){bytes, len, cut};
	return (struct tail_line){cr + 1, len - (size_t)(cr + 1 - bytes), false};
}

size_t tail_lines(const struct tail *t, struct tail_line lines[static TAIL_LINES])
{
	size_t end = t->len, n = 0, at = TAIL_LINES;

	if (end && t->bytes[end - 1] == '\n')
		end--;
	else if (!end)
		return 0;
	for (; at; n++) {
		const char *nl = memrchr(t->bytes, '\n', end);
		size_t begin = nl ? (size_t)(nl + 1 - t->bytes) : 0;

		lines[--at] = line_of(t->bytes + begin, end - begin, !begin && t->cut);
		if (!nl) {
			n++;
			break;
		}
		end = begin - 1;
	}
	memmove(lines, lines + at, n * sizeof(*lines));
	return n;
}
