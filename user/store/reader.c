/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "store/reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/say.h"

int reader_bad(struct recording *r, const char *table, const char *column)
{
	say_error("%s: damaged: impossible value in table %s, column %s", r->path, table, column);
	return -EBADMSG;
}

sqlite3_stmt *reader_prepare(struct recording *r, const struct table *t, const char *rest)
{
	char *columns = table_columns_sql(t), *sql = NULL;
	sqlite3_stmt *st = NULL;

	if (columns && asprintf(&sql, "SELECT %s FROM %s %s", columns, t->name, rest) < 0)
		sql = NULL;
	access_progress(&r->access);
	if (sql)
		sqlite3_prepare_v2(r->access.db, sql, -1, &st, NULL);
	if (!st)
		access_failed(&r->access, r->path);
	free(sql);
	free(columns);
	return st;
}

int reader_step(struct recording *r, sqlite3_stmt *st)
{
	int rc;

	access_progress(&r->access);
	rc = sqlite3_step(st);
	if (rc == SQLITE_ROW)
		return 1;
	return rc == SQLITE_DONE ? 0 : access_failed(&r->access, r->path);
}
