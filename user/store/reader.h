/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Private to the reader's files: an open recording. */
#ifndef PEAKPHASE_STORE_READER_H
#define PEAKPHASE_STORE_READER_H

#include "store/access.h"
#include "store/message.h"
#include "store/schema.h"
#include "store/store.h"

#define INFO_TEXTS 8

struct recording {
	struct access access;
	char *path;
	struct run_info info;
	char *texts[INFO_TEXTS]; /* what the strings of info point to */
	struct run_end end;
	bool has_where;
	sqlite3_stmt *where;
	sqlite3_stmt *phases_at;
	sqlite3_stmt *implied_from;
	sqlite3_stmt *cgroup;
	sqlite3_stmt *output;
	struct phase_where where_rows[MESSAGE_WHERE_MAX];
};

/* "SELECT <keys and columns of t> FROM t.name <rest>". NULL: said. */
sqlite3_stmt *reader_prepare(struct recording *r, const struct table *t, const char *rest);
/* SQLITE_ROW: 1; the end: 0; else an error, said. */
int reader_step(struct recording *r, sqlite3_stmt *st);
/* A value that no recording has: says so. -EBADMSG. */
int reader_bad(struct recording *r, const char *table, const char *column);
/* The current row of st into *ph, with its mappings. 0 or -EBADMSG, said. */
int reader_phase(struct recording *r, sqlite3_stmt *st, struct phase *ph);

/* Fills info and end from the meta and losses tables. */
int reader_meta(struct recording *r);

/* Runs the events through the model into temporary tables that hide the recorded ones. */
int replay_unfinished(struct recording *r);

#endif
