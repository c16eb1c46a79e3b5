/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rows into tables: the statements that the writer of a recording and the replay of an unfinished
 * one share. Transactions are the caller's. All return SQLite result codes.
 */
#ifndef PEAKPHASE_STORE_ROWS_H
#define PEAKPHASE_STORE_ROWS_H

#include "decode/unheard.h"
#include "model/cgroup.h"
#include "model/kept.h"
#include "model/verdict.h"
#include "store/column.h"

struct rows {
	sqlite3 *db;
	struct inserter edges, bases, deaths, ooms, samples, faults, notes, cgroups, unheard,
	    output, output_streams; /* not in temp */
	struct inserter processes, phases, where, shares, verdicts;
	sqlite3_stmt *covered_where, *covered;
	sqlite3_stmt *output_drop; /* not in temp */
};

/* schema: "main" (all tables) or "temp" (what the model makes only). */
int rows_open(struct rows *r, sqlite3 *db, const char *schema);
void rows_close(struct rows *r);

int rows_event(struct rows *r, uint64_t id, const struct event *ev);
int rows_process(struct rows *r, const struct process *p);
int rows_verdict(struct rows *r, const struct verdict *v);
int rows_phase(struct rows *r, const struct phase *ph);
int rows_share(struct rows *r, const struct job_share *s);
int rows_cgroup(struct rows *r, const struct cgroup *c);
int rows_unheard(struct rows *r, const struct unheard *u);
int rows_output(struct rows *r, const struct output_piece *p);
int rows_output_drop(struct rows *r, uint32_t stream, uint64_t from, uint64_t to);
int rows_output_totals(struct rows *r, const struct output_totals *t);
int rows_covered(struct rows *r, uint64_t mm_id, uint64_t from_win, uint64_t to_win);

#endif
