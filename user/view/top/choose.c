/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "view/top/choose.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "view/top/draw.h"
#include "view/top/state.h"

#define SIZE_MS 250 /* how often the size of the terminal is looked at */

struct chooser {
	const char *title;
	const char *const *lines;
	struct top_item *items; /* lines, for the state: numbered from 1 */
	size_t n;
	bool ascii;
	struct draw *draw;
	struct cells cells;
	struct top_state state;
	struct top_facts facts;
};

static int frame(struct chooser *c)
{
	struct top_place *place = top_place(&c->state);
	int rows, cols, err;
	size_t room;

	draw_size(c->draw, &rows, &cols);
	err = cells_reset(&c->cells, rows, cols, c->ascii);
	if (err)
		return err;
	room = rows > 2 ? (size_t)rows - 2 : 1;
	top_state_rows(place, c->items, c->n, room);
	c->facts = (struct top_facts){.rows = c->n, .page_rows = room, .selected = place->selected};
	cells_fill(&c->cells, 0, 0, cols, CELL_HEAD, L' ');
	cells_fit(&c->cells, 0, 0, cols, CELL_HEAD, c->title);
	for (size_t i = 0; i < room && place->first + i < c->n; i++) {
		int row = rows > 1 ? (int)i + 1 : 0;

		cells_fit(&c->cells, row, 0, cols, CELL_PLAIN, c->lines[place->first + i]);
		if (place->first + i == place->row)
			cells_select(&c->cells, row, 0, cols);
	}
	if (rows > 2)
		cells_fit(&c->cells, rows - 1, 0, cols, CELL_KEY, "Enter choose   q quit");
	draw_cells(c->draw, &c->cells, true);
	return 0;
}

/* 0: goes on. */
static int take_keys(struct chooser *c, int *chosen)
{
	int64_t key;

	while ((key = draw_key(c->draw)) > 0) {
		if (key == TOP_KEY_ENTER) {
			*chosen = (int)top_place(&c->state)->row;
			return 1;
		}
		if (key == 'q' || key == TOP_KEY_ESCAPE)
			return -ECANCELED;
		/* Of all keys those that move in the list. */
		if (key >= TOP_KEY_UP || key == 'j' || key == 'k')
			top_state_key(&c->state, &c->facts, (uint32_t)key);
	}
	return (int)key;
}

static int run(struct chooser *c, int stop_fd)
{
	struct pollfd fds[] = {{.fd = stop_fd, .events = POLLIN},
			       {.fd = STDIN_FILENO, .events = POLLIN}};
	int chosen = -ECANCELED, err = 0;

	while (!err) {
		err = frame(c);
		if (!err && poll(fds, 2, SIZE_MS) < 0 && errno != EINTR)
			err = -errno;
		if (fds[0].revents || fds[1].revents & (POLLERR | POLLHUP))
			err = -ECANCELED;
		else if (!err && fds[1].revents)
			err = take_keys(c, &chosen);
	}
	return err < 0 ? err : chosen;
}

int choose(const char *title, const char *const *lines, size_t n, bool ascii, int stop_fd)
{
	struct chooser c = {.title = title, .lines = lines, .n = n, .ascii = ascii};
	int ret = draw_open(&c.draw);

	if (ret)
		return ret;
	top_state_init(&c.state);
	c.items = calloc(n, sizeof(*c.items));
	for (size_t i = 0; c.items && i < n; i++)
		c.items[i] = (struct top_item){.mm_id = i + 1, .start_win = TOP_NOW};
	ret = c.items ? run(&c, stop_fd) : -ENOMEM;
	draw_close(&c.draw);
	cells_free(&c.cells);
	free(c.items);
	return ret;
}
