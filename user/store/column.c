/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "store/column.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/event.h"

static bool column_is_bytes(const struct column *c)
{
	return c->type == COL_BYTES16 || c->type == COL_BYTES32 || c->type == COL_CSTR;
}

char *table_create_sql(const struct table *t, bool temp)
{
	char *sql = NULL;
	size_t size;
	FILE *f = open_memstream(&sql, &size);

	if (!f)
		return NULL;
	fprintf(f, "CREATE %sTABLE %s (%s", temp ? "TEMP " : "", t->name, t->key_decl);
	for (int i = 0; i < t->ncolumns; i++)
		fprintf(f, ", %s %s", t->columns[i].name,
			column_is_bytes(&t->columns[i]) ? "BLOB" : "INTEGER");
	fputs(t->tail, f);
	if (fclose(f)) {
		free(sql);
		return NULL;
	}
	return sql;
}

char *table_columns_sql(const struct table *t)
{
	char *sql = NULL;
	size_t size;
	FILE *f = open_memstream(&sql, &size);

	if (!f)
		return NULL;
	for (int i = 0; i < t->nkeys; i++)
		fprintf(f, "%s%s", i ? ", " : "", t->keys[i]);
	for (int i = 0; i < t->ncolumns; i++)
		fprintf(f, ", %s", t->columns[i].name);
	if (fclose(f)) {
		free(sql);
		return NULL;
	}
	return sql;
}

int inserter_prepare(struct inserter *in, sqlite3 *db, const struct table *t, const char *verb,
		     const char *schema)
{
	char *columns = table_columns_sql(t), *sql = NULL;
	size_t size;
	FILE *f;
	int rc = SQLITE_NOMEM;

	*in = (struct inserter){.table = t};
	if (!columns)
		return SQLITE_NOMEM;
	f = open_memstream(&sql, &size);
	if (!f)
		goto out;
	fprintf(f, "%s INTO %s.%s (%s) VALUES (?", verb, schema, t->name, columns);
	for (int i = 1; i < t->nkeys + t->ncolumns; i++)
		fputs(", ?", f);
	fputc(')', f);
	if (!fclose(f))
		rc = sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &in->stmt, NULL);
out:
	free(sql);
	free(columns);
	return rc;
}

void inserter_finalize(struct inserter *in)
{
	sqlite3_finalize(in->stmt);
	in->stmt = NULL;
}

static uint64_t field_u64(const void *row, size_t offset)
{
	uint64_t v;

	memcpy(&v, (const char *)row + offset, sizeof(v));
	return v;
}

static uint32_t field_u32(const void *row, size_t offset)
{
	uint32_t v;

	memcpy(&v, (const char *)row + offset, sizeof(v));
	return v;
}

static uint16_t field_u16(const void *row, size_t offset)
{
	uint16_t v;

	memcpy(&v, (const char *)row + offset, sizeof(v));
	return v;
}

static int bind_int(struct inserter *in, int i, int param, int64_t v)
{
	uint64_t bit = 1ull << i;

	if ((in->bound & bit) && in->last[i] == v)
		return SQLITE_OK;
	in->last[i] = v;
	in->bound |= bit;
	return sqlite3_bind_int64(in->stmt, param, v);
}

static int bind_null(struct inserter *in, int i, int param)
{
	in->bound &= ~(1ull << i);
	return sqlite3_bind_null(in->stmt, param);
}

static int bind_bytes(struct inserter *in, const struct column *c, int param, const void *row)
{
	const char *p = (const char *)row + c->offset;
	size_t len;

	if (c->type == COL_CSTR)
		len = strnlen(p, c->max);
	else if (c->type == COL_BYTES16)
		len = field_u16(row, c->len_offset);
	else
		len = field_u32(row, c->len_offset);
	if (len > c->max)
		len = c->max;
	/* Static: the row outlives the step, and every row binds this column anew. */
	return sqlite3_bind_blob(in->stmt, param, p, (int)len, SQLITE_STATIC);
}

static int bind_column(struct inserter *in, int i, int param, const void *row)
{
	const struct column *c = &in->table->columns[i];
	uint64_t v;

	switch (c->type) {
	case COL_U64:
		return bind_int(in, i, param, (int64_t)field_u64(row, c->offset));
	case COL_U64_NONE:
		v = field_u64(row, c->offset);
		return v == EV_NONE ? bind_null(in, i, param) : bind_int(in, i, param, (int64_t)v);
	case COL_U32:
		return bind_int(in, i, param, field_u32(row, c->offset));
	case COL_I32:
		return bind_int(in, i, param, (int32_t)field_u32(row, c->offset));
	case COL_U16:
		return bind_int(in, i, param, field_u16(row, c->offset));
	case COL_BOOL:
		return bind_int(in, i, param, *((const bool *)row + c->offset));
	case COL_BYTES16:
	case COL_BYTES32:
	case COL_CSTR:
		return bind_bytes(in, c, param, row);
	}
	return SQLITE_MISUSE;
}

int inserter_row(struct inserter *in, const int64_t *keys, const void *row, uint32_t groups)
{
	const struct table *t = in->table;
	int rc = SQLITE_OK, param = 1;

	for (int i = 0; i < t->nkeys && !rc; i++)
		rc = sqlite3_bind_int64(in->stmt, param++, keys[i]);
	for (int i = 0; i < t->ncolumns && !rc; i++, param++) {
		uint32_t group = t->columns[i].group;

		rc = group && !(group & groups) ? bind_null(in, i, param)
						: bind_column(in, i, param, row);
	}
	if (rc)
		return rc;
	sqlite3_step(in->stmt);
	return sqlite3_reset(in->stmt);
}

static int read_bytes(const struct column *c, sqlite3_value *v, void *row)
{
	char *p = (char *)row + c->offset;
	int len;

	if (sqlite3_value_type(v) != SQLITE_BLOB)
		return -EBADMSG;
	len = sqlite3_value_bytes(v);
	if (len < 0 || (uint32_t)len > c->max)
		return -EBADMSG;
	if (len)
		memcpy(p, sqlite3_value_blob(v), (size_t)len);
	if (c->type == COL_CSTR) {
		p[len] = '\0'; /* max leaves room for it */
	} else if (c->type == COL_BYTES16) {
		uint16_t n = (uint16_t)len;

		memcpy((char *)row + c->len_offset, &n, sizeof(n));
	} else {
		uint32_t n = (uint32_t)len;

		memcpy((char *)row + c->len_offset, &n, sizeof(n));
	}
	return 0;
}

static int read_small(const struct column *c, int64_t v, char *p)
{
	if (c->type == COL_I32) {
		int32_t n = (int32_t)v;

		if (n != v)
			return -EBADMSG;
		memcpy(p, &n, sizeof(n));
		return 0;
	}
	if (v < c->min || v > c->max)
		return -EBADMSG;
	if (c->type == COL_U32) {
		uint32_t n = (uint32_t)v;

		memcpy(p, &n, sizeof(n));
	} else if (c->type == COL_U16) {
		uint16_t n = (uint16_t)v;

		memcpy(p, &n, sizeof(n));
	} else {
		*(bool *)p = v != 0;
	}
	return 0;
}

static int read_column(const struct column *c, sqlite3_value *v, void *row)
{
	char *p = (char *)row + c->offset;
	int type = sqlite3_value_type(v);
	int64_t n;

	/* Most of what there is. */
	if (type == SQLITE_INTEGER && c->type <= COL_U64_NONE) {
		n = sqlite3_value_int64(v);
		memcpy(p, &n, sizeof(n));
		return 0;
	}
	if (type == SQLITE_NULL) {
		uint64_t none = EV_NONE;

		if (c->type == COL_U64_NONE)
			memcpy(p, &none, sizeof(none));
		return c->type == COL_U64_NONE || c->group ? 0 : -EBADMSG;
	}
	if (column_is_bytes(c))
		return read_bytes(c, v, row);
	if (type != SQLITE_INTEGER)
		return -EBADMSG;
	return read_small(c, sqlite3_value_int64(v), p);
}

int table_read_row(const struct table *t, sqlite3_stmt *stmt, void *row, const char **bad)
{
	for (int i = 0; i < t->ncolumns; i++) {
		sqlite3_value *v = sqlite3_column_value(stmt, t->nkeys + i);

		if (read_column(&t->columns[i], v, row)) {
			*bad = t->columns[i].name;
			return -EBADMSG;
		}
	}
	return 0;
}

int table_read_key(sqlite3_stmt *stmt, int i, int64_t *key)
{
	sqlite3_value *v = sqlite3_column_value(stmt, i);

	if (sqlite3_value_type(v) != SQLITE_INTEGER)
		return -EBADMSG;
	*key = sqlite3_value_int64(v);
	return 0;
}
