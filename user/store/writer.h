/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The thread that takes messages out of the queue and commits them. */
#ifndef PEAKPHASE_STORE_WRITER_H
#define PEAKPHASE_STORE_WRITER_H

#include <stdatomic.h>

#include "store/checkpoint.h"
#include "store/message.h"
#include "store/rows.h"
#include "store/store.h"

struct writer {
	sqlite3 *db;
	struct queue *queue;
	const char *path; /* for messages */
	struct rows rows;
	sqlite3_stmt *loss;
	struct event event; /* scratch */
	struct phase phase;

	bool in_transaction;
	uint64_t uncommitted; /* rows */
	uint64_t oldest_ns;   /* when the oldest of them was given; 0: none */
	uint64_t next_commit_ns;
	int log_pages; /* of the WAL */
	struct checkpointer checkpointer;
	struct store_times times;

	_Atomic int error; /* 0, or the first one, -errno: from then on rows are dropped */
	_Atomic uint64_t dropped;
};

/* Prepares the statements. 0, or -errno. */
int writer_init(struct writer *w, sqlite3 *db, struct queue *q, const char *path);
/* Until the queue is closed and empty; commits. Blocks nothing but itself. */
void writer_run(struct writer *w);
void writer_fini(struct writer *w);

/* key → value of the meta table; NULL text is left out. SQLite result codes. */
int writer_meta_text(sqlite3 *db, const char *key, const char *value);
int writer_meta_int(sqlite3 *db, const char *key, uint64_t value);
int writer_losses(struct writer *w, const struct message_losses *l);

#endif
