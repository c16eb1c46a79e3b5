/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rows that are listed, and room for more. */
#include <errno.h>
#include <stdlib.h>

#include "view/top/view.h"

#define INDENT_MAX 32u

struct top_list *top_list_new(void)
{
	return calloc(1, sizeof(struct top_list));
}

void top_list_free(struct top_list **lp)
{
	struct top_list *l = *lp;

	if (!l)
		return;
	free(l->rows);
	free(l->items);
	free(l->processes);
	free(l);
	*lp = NULL;
}

int top_add_row(struct top_view *v, struct top_row row)
{
	struct top_list *l = v->list;

	if (l->n == l->room) {
		size_t room = l->room ? 2 * l->room : 64;
		struct top_row *rows = reallocarray(l->rows, room, sizeof(*rows));
		struct top_item *items;

		if (!rows)
			return -ENOMEM;
		l->rows = rows;
		items = reallocarray(l->items, room, sizeof(*items));
		if (!items)
			return -ENOMEM;
		l->items = items;
		l->room = room;
	}
	row.order = l->n;
	if (row.depth > INDENT_MAX)
		row.depth = INDENT_MAX;
	l->rows[l->n++] = row;
	return 0;
}
