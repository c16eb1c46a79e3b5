/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keys → what is to be shown. Pure: no terminal, no clock, no board. What a key means may depend on
 * what the last frame showed; that is told by struct top_facts.
 */
#ifndef PEAKPHASE_VIEW_TOP_STATE_H
#define PEAKPHASE_VIEW_TOP_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOP_NOW UINT64_MAX
/* In an item instead of a window: what is no phase. */
#define TOP_THREAD (TOP_NOW - 1) /* id: its tid; 0: those that have no row */
#define TOP_SMALL (TOP_NOW - 2)	 /* processes of no note, in one row */
#define TOP_FILTER_MAX 64
#define TOP_PAGES_MAX 8
#define TOP_SPEED_ONE 3 /* index of 1 in the list of speeds */

enum top_page { TOP_TREE, TOP_DONE, TOP_PROCESS, TOP_THREADS, TOP_PHASE, TOP_NOTES, TOP_HELP };

/* Keys that are no characters; past the last character of Unicode. */
enum top_key {
	TOP_KEY_UP = 0x110000,
	TOP_KEY_DOWN,
	TOP_KEY_LEFT,
	TOP_KEY_RIGHT,
	TOP_KEY_PAGE_UP,
	TOP_KEY_PAGE_DOWN,
	TOP_KEY_HOME,
	TOP_KEY_END,
	TOP_KEY_ENTER,
	TOP_KEY_ESCAPE,
	TOP_KEY_BACKSPACE,
	TOP_KEY_LAST = TOP_KEY_BACKSPACE,
};

/* A process, or a phase of it: known by the window that it began after. */
struct top_item {
	uint64_t mm_id;
	uint64_t start_win; /* TOP_NOW: the process itself */
	uint64_t id;	    /* of a finished phase; 0: open */
};

/* One page and where one was in it. */
struct top_place {
	enum top_page page;
	struct top_item of;	  /* of the pages of a process and of a phase */
	struct top_item selected; /* the row */
	size_t row, first;	  /* its number; that of the first row shown */
	bool moved;		  /* the number counts, not the row that was there */
};

struct top_state {
	struct top_place place[TOP_PAGES_MAX];
	size_t depth; /* of the page shown; 0 is the tree */
	size_t sort;  /* number among the columns that are shown; 0: by begin */
	bool reverse, flat;
	char filter[TOP_FILTER_MAX + 1]; /* UTF-8 */
	bool typing;
	unsigned int zoom; /* the timeline shows the 2^zoom-th part of the run */
	uint64_t at_ns;	   /* moment shown; TOP_NOW: the last one */
	bool playing;
	unsigned int speed; /* index */
	bool color;
	/* for whoever runs the loop to do and to reset */
	bool quit, snapshot, redraw;
	char message[160]; /* what the last action led to, or went wrong: until the next key */
	uint64_t message_left_ns;
};

/* What the last frame showed. */
struct top_facts {
	bool recording;		      /* has an end: it can be played */
	uint64_t first_ns, last_ns;   /* the time that can be shown */
	uint64_t step_ns;	      /* of one column of the timeline */
	uint64_t peak_ns;	      /* of the peak on the page */
	uint64_t before_ns, after_ns; /* the boundaries next to the moment; TOP_NOW: none */
	size_t rows, page_rows;
	size_t ncolumns;	  /* that can be sorted by */
	struct top_item selected; /* mm_id 0: none */
};

void top_state_init(struct top_state *s);
void top_state_key(struct top_state *s, const struct top_facts *f, uint32_t key);
/* To be read beside the keys, for some seconds. */
void top_state_say(struct top_state *s, const char *message);
/* Time went by: of a recording that plays, and of a message. */
void top_state_tick(struct top_state *s, const struct top_facts *f, uint64_t elapsed_ns);

/* Finds the selected row again among n rows, and what of them is to be shown in `room` of them. */
void top_state_rows(struct top_place *p, const struct top_item *rows, size_t n, size_t room);

static inline struct top_place *top_place(struct top_state *s)
{
	return &s->place[s->depth];
}

/* "1/8", …, "1", "2", … */
const char *top_speed(const struct top_state *s);

#endif
