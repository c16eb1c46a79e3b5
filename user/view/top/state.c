/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "view/top/state.h"

#include <stdio.h>
#include <string.h>

#define ZOOM_MAX 12
#define MESSAGE_NS 8000000000ull

static const struct {
	const char *text;
	unsigned int eighths;
} speeds[] = {{"1/8", 1}, {"1/4", 2},  {"1/2", 4},  {"1", 8},	 {"2", 16},    {"4", 32},
	      {"8", 64},  {"16", 128}, {"32", 256}, {"64", 512}, {"128", 1024}};
#define NSPEEDS (sizeof(speeds) / sizeof(speeds[0]))

const char *top_speed(const struct top_state *s)
{
	return speeds[s->speed < NSPEEDS ? s->speed : TOP_SPEED_ONE].text;
}

void top_state_init(struct top_state *s)
{
	*s = (struct top_state){.at_ns = TOP_NOW, .speed = TOP_SPEED_ONE, .color = true};
}

static void enter(struct top_state *s, enum top_page page, struct top_item of)
{
	if (s->depth + 1 == TOP_PAGES_MAX)
		return;
	s->place[++s->depth] = (struct top_place){.page = page, .of = of};
}

static void leave(struct top_state *s)
{
	if (s->depth)
		s->depth--;
	else if (s->filter[0])
		s->filter[0] = '\0';
	else
		s->at_ns = TOP_NOW;
}

static void toggle(struct top_state *s, enum top_page page)
{
	if (top_place(s)->page == page)
		leave(s);
	else
		enter(s, page, (struct top_item){0});
}

static void open_selected(struct top_state *s, const struct top_facts *f)
{
	const struct top_item *item = &f->selected;
	enum top_page page = top_place(s)->page;

	if (page == TOP_HELP || page == TOP_PHASE || !item->mm_id)
		return;
	if (item->start_win == TOP_THREAD) {
		if (!item->id && page == TOP_PROCESS)
			enter(s, TOP_THREADS, *item);
		return;
	}
	enter(s, item->start_win == TOP_NOW ? TOP_PROCESS : TOP_PHASE, *item);
}

static void move_row(struct top_state *s, const struct top_facts *f, int64_t by)
{
	struct top_place *p = top_place(s);
	uint64_t back = (uint64_t)-by;

	if (by < 0)
		p->row = back > p->row ? 0 : p->row - back;
	else
		p->row += (size_t)by;
	if (p->row >= f->rows)
		p->row = f->rows ? f->rows - 1 : 0;
	p->moved = true;
}

/* To a moment; at the end of what goes on it is "now", which goes on too. */
static void move_to(struct top_state *s, const struct top_facts *f, uint64_t ns)
{
	if (ns <= f->first_ns)
		s->at_ns = f->first_ns;
	else
		s->at_ns = ns >= f->last_ns ? TOP_NOW : ns;
}

static uint64_t moment(const struct top_state *s, const struct top_facts *f)
{
	return s->at_ns == TOP_NOW ? f->last_ns : s->at_ns;
}

static void move_time(struct top_state *s, const struct top_facts *f, int columns)
{
	uint64_t at = moment(s, f), by = f->step_ns ? f->step_ns : 1;

	s->playing = false;
	by = by > (UINT64_MAX - at) / 64 ? 0 : by * (uint64_t)(columns < 0 ? -columns : columns);
	if (columns < 0)
		move_to(s, f, at > by ? at - by : 0);
	else
		move_to(s, f, at + by);
}

static void jump(struct top_state *s, const struct top_facts *f, uint64_t ns)
{
	if (ns == TOP_NOW)
		return;
	s->playing = false;
	move_to(s, f, ns);
}

/* Of what goes on: stands still, or goes on again. A recording plays, from its begin at its end. */
static void freeze(struct top_state *s, const struct top_facts *f)
{
	if (!f->recording) {
		s->at_ns = s->at_ns == TOP_NOW ? f->last_ns : TOP_NOW;
		return;
	}
	s->playing = !s->playing;
	if (s->playing && s->at_ns == TOP_NOW)
		s->at_ns = f->first_ns;
}

static void change_speed(struct top_state *s, int by)
{
	if (by < 0 && s->speed > 0)
		s->speed--;
	if (by > 0 && s->speed + 1 < NSPEEDS)
		s->speed++;
}

static size_t put_utf8(char out[4], uint32_t c)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 0x3f));
		out[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 0x3f));
	out[2] = (char)(0x80 | (c >> 6 & 0x3f));
	out[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

/* Backspace takes a whole character. */
static void erase_last(char *text)
{
	size_t len = strlen(text);

	while (len && (text[len - 1] & 0xc0) == 0x80)
		len--;
	if (len)
		len--;
	text[len] = '\0';
}

/* False: the key is no part of a filter. */
static bool type(struct top_state *s, uint32_t key)
{
	size_t len = strlen(s->filter), n;
	char c[4];

	switch (key) {
	case TOP_KEY_ESCAPE:
		s->filter[0] = '\0';
		s->typing = false;
		return true;
	case TOP_KEY_ENTER:
		s->typing = false;
		return true;
	case TOP_KEY_BACKSPACE:
		erase_last(s->filter);
		return true;
	default:
		break;
	}
	if (key < 0x20 || key == 0x7f || key >= TOP_KEY_UP)
		return false;
	n = put_utf8(c, key);
	if (len + n <= TOP_FILTER_MAX && (key < 0xd800 || key > 0xdfff)) {
		memcpy(s->filter + len, c, n);
		s->filter[len + n] = '\0';
	}
	return true;
}

static bool key_of_list(struct top_state *s, const struct top_facts *f, uint32_t key)
{
	int64_t page = f->page_rows > 1 ? (int64_t)f->page_rows - 1 : 1;

	switch (key) {
	case TOP_KEY_UP:
	case 'k':
		move_row(s, f, -1);
		return true;
	case TOP_KEY_DOWN:
	case 'j':
		move_row(s, f, 1);
		return true;
	case TOP_KEY_PAGE_UP:
		move_row(s, f, -page);
		return true;
	case TOP_KEY_PAGE_DOWN:
		move_row(s, f, page);
		return true;
	case TOP_KEY_HOME:
		move_row(s, f, INT32_MIN);
		return true;
	case TOP_KEY_END:
		move_row(s, f, INT32_MAX);
		return true;
	case TOP_KEY_ENTER:
		open_selected(s, f);
		return true;
	case '/':
		s->typing = true;
		return true;
	case 's':
		s->sort = f->ncolumns ? (s->sort + 1) % (f->ncolumns + 1) : 0;
		return true;
	case 'r':
		s->reverse = !s->reverse;
		return true;
	case 't':
		s->flat = !s->flat;
		return true;
	default:
		return false;
	}
}

static bool key_of_time(struct top_state *s, const struct top_facts *f, uint32_t key)
{
	switch (key) {
	case ' ':
		freeze(s, f);
		return true;
	case '+':
	case '=':
		s->zoom += s->zoom < ZOOM_MAX;
		return true;
	case '-':
		s->zoom -= s->zoom > 0;
		return true;
	case '<':
	case ',':
	case TOP_KEY_LEFT:
		move_time(s, f, -1);
		return true;
	case '>':
	case '.':
	case TOP_KEY_RIGHT:
		move_time(s, f, 1);
		return true;
	case '[':
		jump(s, f, f->before_ns);
		return true;
	case ']':
		jump(s, f, f->after_ns);
		return true;
	case '{':
		change_speed(s, -1);
		return true;
	case '}':
		change_speed(s, 1);
		return true;
	case 'p':
		jump(s, f, f->peak_ns);
		return true;
	case 'g':
		jump(s, f, f->first_ns);
		return true;
	case 'G':
		s->at_ns = TOP_NOW;
		s->playing = false;
		return true;
	default:
		return false;
	}
}

void top_state_key(struct top_state *s, const struct top_facts *f, uint32_t key)
{
	s->message[0] = '\0';
	if (s->typing && type(s, key))
		return;
	if (top_place(s)->page == TOP_HELP && key != 'q' && key != 'c') {
		leave(s); /* any key */
		return;
	}
	if (key_of_list(s, f, key) || key_of_time(s, f, key))
		return;
	switch (key) {
	case 'q':
		s->quit = true;
		break;
	case TOP_KEY_ESCAPE:
	case TOP_KEY_BACKSPACE:
		leave(s);
		break;
	case '?':
	case 'h':
		enter(s, TOP_HELP, (struct top_item){0});
		break;
	case 'f':
		toggle(s, TOP_DONE);
		break;
	case 'n':
		toggle(s, TOP_NOTES);
		break;
	case 'c':
		s->color = !s->color;
		break;
	case 'w':
		s->snapshot = true;
		break;
	case 'L' - 64: /* Ctrl-L */
		s->redraw = true;
		break;
	default:
		break;
	}
}

void top_state_say(struct top_state *s, const char *message)
{
	snprintf(s->message, sizeof(s->message), "%s", message);
	s->message_left_ns = MESSAGE_NS;
}

static void age_message(struct top_state *s, uint64_t elapsed_ns)
{
	if (elapsed_ns >= s->message_left_ns)
		s->message[0] = '\0';
	else
		s->message_left_ns -= elapsed_ns;
}

void top_state_tick(struct top_state *s, const struct top_facts *f, uint64_t elapsed_ns)
{
	uint64_t by;

	age_message(s, elapsed_ns);
	if (!s->playing || s->at_ns == TOP_NOW)
		return;
	if (elapsed_ns > 10000000000ull)
		elapsed_ns = 10000000000ull;
	by = elapsed_ns / 8 * speeds[s->speed < NSPEEDS ? s->speed : TOP_SPEED_ONE].eighths;
	s->at_ns = by < UINT64_MAX - s->at_ns ? s->at_ns + by : TOP_NOW;
	if (s->at_ns >= f->last_ns) {
		s->at_ns = TOP_NOW;
		s->playing = false;
	}
}

static bool same(const struct top_item *a, const struct top_item *b)
{
	return a->mm_id == b->mm_id && a->start_win == b->start_win && a->id == b->id;
}

/* An open phase that has ended meanwhile has an id now. */
static bool became(const struct top_item *was, const struct top_item *is)
{
	return !was->id && is->id && was->mm_id == is->mm_id && was->start_win == is->start_win;
}

void top_state_rows(struct top_place *p, const struct top_item *rows, size_t n, size_t room)
{
	size_t found = n;

	if (!p->moved)
		for (size_t i = 0; i < n && found == n; i++)
			if (same(&rows[i], &p->selected) || became(&p->selected, &rows[i]))
				found = i;
	if (found < n)
		p->row = found;
	else if (p->row >= n)
		p->row = n ? n - 1 : 0;
	p->moved = false;
	if (n)
		p->selected = rows[p->row];
	if (p->row < p->first || !room)
		p->first = p->row;
	else if (p->row >= p->first + room)
		p->first = p->row - room + 1;
	if (room && n > room && p->first > n - room)
		p->first = n - room;
	if (n <= room)
		p->first = 0;
}
