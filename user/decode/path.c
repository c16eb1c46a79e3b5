/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/path.h"

#include <string.h>

static const char CUT[] = "…";

/* From its end: what is nearest to the process is what tells cgroups apart. */
size_t path_join(char *out, size_t cap, const char (*names)[PP_CGROUP_NAME], uint32_t levels,
		 uint32_t level)
{
	const size_t mark = sizeof(CUT) - 1;
	size_t at = cap, room = cap > mark ? cap - mark : 0;
	uint32_t i;

	for (i = level; i < levels; i++) {
		size_t n = strnlen(names[i], PP_CGROUP_NAME);

		if (!n || n + 1 > room)
			break;
		room -= n + 1;
		at -= n;
		memcpy(out + at, names[i], n);
		out[--at] = '/';
	}
	if (at == cap && i < levels && !names[i][0] && cap)
		out[--at] = '/';
	else if ((i == levels || names[i][0]) && cap - at + mark <= cap) {
		at -= mark;
		memcpy(out + at, CUT, mark);
	}
	memmove(out, out + at, cap - at);
	return cap - at;
}
