/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "view/tail_text.h"

#include <string.h>

size_t tail_text(char out[static TAIL_TEXT_MAX], const struct tail_line *line, unsigned flags)
{
	const char *head = !line->cut ? "  | " : flags & TEXT_ASCII ? "  | ..." : "  | …";
	size_t n = strlen(head), room = TAIL_TEXT_MAX - 2 - n, len;

	memcpy(out, head, n);
	len = text_escape_as(out + n, room, line->bytes, line->len, flags);
	n += len < room ? len : room - 1;
	out[n++] = '\n';
	out[n] = '\0';
	return n;
}
