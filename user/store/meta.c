/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The meta table: key → value, written. */
#include "store/writer.h"

#include "lib/text.h"

#include <string.h>

static int run(const char *key, sqlite3_stmt *st)
{
	sqlite3_bind_text(st, 1, key, -1, SQLITE_STATIC);
	sqlite3_step(st);
	return sqlite3_finalize(st);
}

static int prepare(sqlite3 *db, sqlite3_stmt **st)
{
	return sqlite3_prepare_v2(db, "INSERT OR REPLACE INTO main.meta (key, value) VALUES (?, ?)",
				  -1, st, NULL);
}

int writer_meta_text(sqlite3 *db, const char *key, const char *value)
{
	sqlite3_stmt *st;
	size_t len;
	int rc;

	if (!value)
		return SQLITE_OK;
	rc = prepare(db, &st);
	if (rc)
		return rc;
	len = strlen(value);
	/* A command line may hold any bytes: TEXT only where it is. */
	if (text_is_utf8(value, len))
		sqlite3_bind_text(st, 2, value, (int)len, SQLITE_STATIC);
	else
		sqlite3_bind_blob(st, 2, value, (int)len, SQLITE_STATIC);
	return run(key, st);
}

int writer_meta_int(sqlite3 *db, const char *key, uint64_t value)
{
	sqlite3_stmt *st;
	int rc = prepare(db, &st);

	if (rc)
		return rc;
	sqlite3_bind_int64(st, 2, (int64_t)value);
	return run(key, st);
}
