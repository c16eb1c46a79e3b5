/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/say.h"
#include "store/reader.h"

static int has_rows(struct recording *r, const char *table, bool *out)
{
	char sql[96];
	sqlite3_stmt *st;
	int n;

	snprintf(sql, sizeof(sql), "SELECT 1 FROM %s LIMIT 1", table);
	if (sqlite3_prepare_v2(r->access.db, sql, -1, &st, NULL))
		return access_failed(&r->access, r->path);
	n = reader_step(r, st);
	sqlite3_finalize(st);
	*out = n > 0;
	return n < 0 ? n : 0;
}

static int load(struct recording *r, bool as_written)
{
	const char *bad;
	int err;

	access_progress(&r->access);
	err = schema_check(r->access.db, &bad);
	if (err == -EBADMSG)
		say_error("%s: damaged: table %s is missing or not as peakphase made it", r->path,
			  bad);
	if (err)
		return err;
	err = reader_meta(r);
	if (err)
		return err;
	r->end.running = r->access.running && !r->end.finished;
	if (!r->end.finished && !(r->end.running && as_written)) {
		err = replay_unfinished(r);
		if (err)
			return err;
	}
	return has_rows(r, "phase_where", &r->has_where);
}

static int open_path(struct recording **out, const char *path, bool as_written)
{
	struct recording *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	r->path = strdup(path);
	err = r->path ? access_open(&r->access, path) : -ENOMEM;
	if (!err)
		err = load(r, as_written);
	if (err)
		recording_close(&r);
	*out = r;
	return err;
}

int recording_open(struct recording **out, const char *path)
{
	return open_path(out, path, false);
}

int recording_open_as_written(struct recording **out, const char *path)
{
	return open_path(out, path, true);
}

void recording_close(struct recording **rp)
{
	struct recording *r = *rp;

	if (!r)
		return;
	sqlite3_finalize(r->where);
	sqlite3_finalize(r->phases_at);
	sqlite3_finalize(r->implied_from);
	sqlite3_finalize(r->cgroup);
	sqlite3_finalize(r->output);
	access_close(&r->access);
	for (int i = 0; i < INFO_TEXTS; i++)
		free(r->texts[i]);
	free(r->path);
	free(r);
	*rp = NULL;
}

const struct run_info *recording_info(const struct recording *r)
{
	return &r->info;
}

const struct run_end *recording_end(const struct recording *r)
{
	return &r->end;
}
