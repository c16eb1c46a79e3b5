/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The tables of a recording. docs/recording.md explains each column; a test holds them together. */
#ifndef PEAKPHASE_STORE_SCHEMA_H
#define PEAKPHASE_STORE_SCHEMA_H

#include "store/column.h"

/* "PkPh": tells recordings from other programs' SQLite files (PRAGMA application_id). */
#define STORE_APPLICATION_ID 0x506b5068

/* Groups of columns of the edges table that only some kinds have. */
#define EDGE_GROUP_MARK 0x1u
#define EDGE_GROUP_EXIT 0x2u

extern const struct table schema_edges;	  /* struct event; key: number of the event */
extern const struct table schema_bases;	  /* struct event; key: number of the edge */
extern const struct table schema_deaths;  /* struct event, of PP_EXIT and PP_EXEC; the same */
extern const struct table schema_ooms;	  /* struct event, of PP_OOM*; the same */
extern const struct table schema_samples; /* struct event */
extern const struct table schema_faults;  /* struct event */
extern const struct table schema_notes;	  /* struct event: pieces */
extern const struct table schema_output;  /* struct output_piece; key: id */
extern const struct table schema_output_streams; /* struct output_totals; key: stream */
extern const struct table schema_processes;	 /* struct process; key: mm_id */
extern const struct table schema_phases;	 /* struct phase; key: id */
extern const struct table schema_cgroups;	 /* struct cgroup; key: id */
extern const struct table schema_verdicts;	 /* struct verdict; key: id */
extern const struct table schema_unheard;	 /* struct unheard; key: id */
extern const struct table schema_phase_where;	 /* struct phase_where; keys: phase, rank */
extern const struct table schema_job_shares;	 /* struct job_share; key: mm_id */

/* Keys of meta for the numbers of struct job. */
#define JOB_NUMBERS 7
struct job_number {
	const char *key;
	size_t offset;
};
extern const struct job_number schema_job_numbers[JOB_NUMBERS];

/* meta(key, value) and losses(class, count): written and read by name. */
extern const char schema_meta_sql[];
extern const char schema_losses_sql[];
extern const char schema_phases_index_sql[]; /* also on the temporary table of a replay */
extern const char schema_samples_index_sql[];
extern const char schema_verdicts_index_sql[];
extern const char schema_notes_index_sql[];
extern const char schema_output_index_sql[];
extern const char *const schema_loss_names[]; /* of enum pp_loss */

/* Creates everything in an empty database, application_id and user_version included. */
int schema_create(sqlite3 *db);
/* Tables of a replay, in temp, where they hide the recording's own. */
int schema_create_temp(sqlite3 *db);
/* Are the tables what schema_create() made? 0, -EBADMSG with *bad the table, -EIO, -ENOMEM. */
int schema_check(sqlite3 *db, const char **bad);

#endif
