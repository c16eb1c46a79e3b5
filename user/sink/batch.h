/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rows → objects. What lies together in one object depends on the rows alone, never on when they
 * were read: so sending a recording anew makes the same keys with the same contents.
 *
 * An object is one row where it stands for one. Where it stands for several it has the fields of
 * the last, and all of them in an array. The batch that is still open is sent too, again and again
 * under one key as it grows.
 */
#ifndef PEAKPHASE_SINK_BATCH_H
#define PEAKPHASE_SINK_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sink/place.h"

/* A batch ends with its first row after a minute, after a second when it is large, when it is huge.
 */
#define BATCH_LONG_NS 60000000000ull
#define BATCH_SHORT_NS 1000000000ull
#define BATCH_LARGE (128u << 10)
#define BATCH_HUGE (4u << 20)

struct object {
	char key[PLACE_KEY_MAX];
	char *data; /* its own */
	size_t len;
};
void object_free(struct object *o);

struct batch {
	const char *folder; /* of the keys; also the name of the array */
	const char *suffix; /* ".json"; of what is no JSON the rows follow each other */
	char *rows;
	size_t len, cap;
	size_t last;	   /* where the last row begins */
	unsigned int n;	   /* rows */
	unsigned int sent; /* so many of them are out already */
	uint64_t first_ns; /* of the first row */
	uint64_t key_ns;   /* in the key: rises from batch to batch */
};

void batch_init(struct batch *b, const char *folder, const char *suffix);
void batch_free(struct batch *b);
/* Does a row of that time (wall clock) go into it? Else it has to be taken out first. */
bool batch_takes(const struct batch *b, uint64_t wall_ns);
/* 0 or -ENOMEM. */
int batch_add(struct batch *b, uint64_t wall_ns, const char *row, size_t len);
/* As it stands: FOLDER/TIME.json. 0 or -ENOMEM. */
int batch_object(const struct batch *b, struct object *o);
/* Begins the next. */
void batch_next(struct batch *b);

/*
 * Which phases have objects of their own, named by their label: at most so many in a second, and in
 * all. Those beyond are batched.
 */
#define SINGLES_A_SECOND 5
#define SINGLES_MAX 1000

struct singles {
	unsigned int all, in_second;
	uint64_t second, last_ns;
};
bool singles_take(struct singles *s, uint64_t wall_ns);

#endif
