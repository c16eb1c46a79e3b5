/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How fields of a struct are columns of a table: one description serves CREATE, INSERT, SELECT,
 * writing and reading, so that they cannot drift apart.
 *
 * u64 are SQLite's signed 64-bit integers with the same bits; byte strings are BLOBs, never TEXT.
 * Reading trusts nothing: type, range and length of each value are checked.
 */
#ifndef PEAKPHASE_STORE_COLUMN_H
#define PEAKPHASE_STORE_COLUMN_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TABLE_COLUMNS_MAX 64 /* bits of inserter.bound */

enum column_type {
	COL_U64,
	COL_U64_NONE, /* EV_NONE is NULL */
	COL_U32,
	COL_I32,
	COL_U16,
	COL_BOOL,
	COL_BYTES16, /* bytes whose length is a u16 of the struct */
	COL_BYTES32, /* the same, u32 */
	COL_CSTR,    /* bytes up to a NUL */
};

struct column {
	const char *name;
	enum column_type type;
	uint16_t group;	     /* bit of the groups that a row must have; 0: every row has it */
	uint16_t offset;     /* of the field in the struct */
	uint16_t len_offset; /* of the length, COL_BYTES* */
	uint32_t min, max;   /* of unsigned numbers of 32 bits and less; max: bytes of strings */
};

/* keys: one or two leading integer columns that are not fields of the struct. */
struct table {
	const char *name;
	const char *key_decl; /* "id INTEGER PRIMARY KEY" */
	const char *keys[2];
	const char *tail; /* after the columns, ", PRIMARY KEY (…)) WITHOUT ROWID" or ")" */
	int nkeys;
	const struct column *columns;
	int ncolumns;
};

/* An INSERT. Values that do not change from row to row are not bound again. */
struct inserter {
	const struct table *table;
	sqlite3_stmt *stmt;
	int64_t last[TABLE_COLUMNS_MAX];
	uint64_t bound; /* bit of each column whose last[] is bound */
};

/* SQL of a table; caller frees. NULL: no memory. */
char *table_create_sql(const struct table *t, bool temp);
/* "k1, k2, c1, c2, …" for a SELECT; caller frees. */
char *table_columns_sql(const struct table *t);

/* verb: "INSERT", "INSERT OR REPLACE". schema: "main", "temp". Returns an SQLite result code. */
int inserter_prepare(struct inserter *in, sqlite3 *db, const struct table *t, const char *verb,
		     const char *schema);
/* groups: those that this row has. Returns an SQLite result code. */
int inserter_row(struct inserter *in, const int64_t *keys, const void *row, uint32_t groups);
void inserter_finalize(struct inserter *in);

/*
 * The current row of a SELECT of table_columns_sql(), keys left out, into *row, which the caller
 * has zeroed where it must be zero. 0, or -EBADMSG with *bad the column's name.
 */
int table_read_row(const struct table *t, sqlite3_stmt *stmt, void *row, const char **bad);
/* Key number i of the current row: 0, or -EBADMSG when it is no integer. */
int table_read_key(sqlite3_stmt *stmt, int i, int64_t *key);

#endif
