/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which containers the processes on the board are in. */
#include <stdlib.h>

#include "view/top/board.h"

struct board_cgroup {
	struct cgroup c;
	UT_hash_handle hh;
};

const struct cgroup *board_cgroup_of(const struct board *b, uint64_t id)
{
	struct board_cgroup *found;

	HASH_FIND(hh, b->cgroups, &id, sizeof(id), found);
	return found ? &found->c : NULL;
}

void board_cgroup(struct board *b, const struct cgroup *c)
{
	struct board_cgroup *new;

	if (!c->runtime[0] || board_cgroup_of(b, c->id) ||
	    HASH_COUNT(b->cgroups) >= BOARD_CGROUPS_MAX)
		return;
	new = calloc(1, sizeof(*new));
	if (!new)
		return;
	new->c = *c;
	HASH_ADD(hh, b->cgroups, c.id, sizeof(new->c.id), new);
	if (!new->hh.tbl)
		free(new);
}

void board_cgroups_free(struct board *b)
{
	struct board_cgroup *c, *next;

	HASH_ITER (hh, b->cgroups, c, next) {
		HASH_DEL(b->cgroups, c);
		free(c);
	}
}
