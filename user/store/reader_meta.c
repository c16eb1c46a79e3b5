/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The meta and losses tables, read. What is not there stays 0 or NULL. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/reader.h"

/* 1: a row, 0: no such key. */
static int seek(struct recording *r, sqlite3_stmt *st, const char *key)
{
	sqlite3_reset(st);
	sqlite3_bind_text(st, 1, key, -1, SQLITE_STATIC);
	return reader_step(r, st);
}

static int read_text(struct recording *r, sqlite3_stmt *st, const char *key, char **out)
{
	int n = seek(r, st, key), type;
	const void *bytes;

	if (n <= 0)
		return n;
	type = sqlite3_column_type(st, 0);
	if (type != SQLITE_TEXT && type != SQLITE_BLOB)
		return reader_bad(r, "meta", key);
	bytes = sqlite3_column_blob(st, 0);
	*out = strndup(bytes ? bytes : "", (size_t)sqlite3_column_bytes(st, 0));
	return *out ? 0 : -ENOMEM;
}

static int read_int(struct recording *r, sqlite3_stmt *st, const char *table, const char *key,
		    int64_t *out)
{
	int n = seek(r, st, key);

	if (n <= 0)
		return n;
	if (sqlite3_column_type(st, 0) != SQLITE_INTEGER)
		return reader_bad(r, table, key);
	*out = sqlite3_column_int64(st, 0);
	return 0;
}

static int read_texts(struct recording *r, sqlite3_stmt *st)
{
	const struct {
		const char *key, **text;
	} texts[INFO_TEXTS] = {
	    {"peakphase", &r->info.version}, {"kernel", &r->info.kernel},
	    {"machine", &r->info.machine},   {"command", &r->info.command},
	    {"mode", &r->info.mode},	     {"options", &r->info.options},
	    {"counters", &r->info.counters}, {"probe", &r->info.probe},
	};
	int err = 0;

	for (int i = 0; i < INFO_TEXTS && !err; i++) {
		err = read_text(r, st, texts[i].key, &r->texts[i]);
		*texts[i].text = r->texts[i];
	}
	return err;
}

static int read_numbers(struct recording *r, sqlite3_stmt *st)
{
	struct model_counts *c = &r->end.counts;
	int64_t page_size = 0, cpus = 0, every = 0, exact = 0, finished = 0, status = -1, error = 0;
	uint64_t reached = 0;
	const struct {
		const char *key;
		void *to;
		int64_t min, max;
	} numbers[] = {
	    {"wall_ns", &r->info.wall_ns, INT64_MIN, INT64_MAX},
	    {"mono_ns", &r->info.mono_ns, INT64_MIN, INT64_MAX},
	    {"boot_ns", &r->info.boot_ns, INT64_MIN, INT64_MAX},
	    {"boot_id_hash", &r->info.boot_id_hash, INT64_MIN, INT64_MAX},
	    {"error_per_thread", &r->info.error_per_thread, INT64_MIN, INT64_MAX},
	    {"ceiling", &r->info.ceiling, INT64_MIN, INT64_MAX},
	    {"headroom", &r->info.headroom, INT64_MIN, INT64_MAX},
	    {"end_ns", &r->end.end_ns, INT64_MIN, INT64_MAX},
	    {"reached_ns", &reached, INT64_MIN, INT64_MAX},
	    {"dropped", &r->end.dropped, INT64_MIN, INT64_MAX},
	    {"model_edges", &c->edges, INT64_MIN, INT64_MAX},
	    {"model_samples", &c->samples, INT64_MIN, INT64_MAX},
	    {"model_faults", &c->faults, INT64_MIN, INT64_MAX},
	    {"model_bad_ends", &c->bad_ends, INT64_MIN, INT64_MAX},
	    {"model_orphans", &c->orphans, INT64_MIN, INT64_MAX},
	    {"model_reordered", &c->reordered, INT64_MIN, INT64_MAX},
	    {"model_cut_open", &c->cut_open, INT64_MIN, INT64_MAX},
	    {"page_size", &page_size, 0, UINT32_MAX},
	    {"cpus", &cpus, 0, UINT32_MAX},
	    {"where_every", &every, 0, UINT32_MAX},
	    {"exact", &exact, 0, 1},
	    {"finished", &finished, 0, 1},
	    {"status", &status, INT32_MIN, INT32_MAX},
	    {"error", &error, -4095, 0},
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]) && !err; i++) {
		int64_t v;

		memcpy(&v, numbers[i].to, sizeof(v));
		err = read_int(r, st, "meta", numbers[i].key, &v);
		if (!err && (v < numbers[i].min || v > numbers[i].max))
			err = reader_bad(r, "meta", numbers[i].key);
		memcpy(numbers[i].to, &v, sizeof(v));
	}
	r->info.page_size = (uint32_t)page_size;
	r->info.cpus = (uint32_t)cpus;
	r->info.where_every = (uint32_t)every;
	r->info.exact = exact;
	r->end.finished = finished;
	if (!finished)
		r->end.end_ns = reached; /* the tracing may have gone on behind a full disk */
	r->end.status = (int)status;
	r->end.error = (int)error;
	return err;
}

static int read_job(struct recording *r, sqlite3_stmt *st)
{
	struct job *j = &r->end.job;
	int err = 0;

	*j = (struct job){.charge_bytes = EV_NONE};
	for (size_t i = 0; i < JOB_NUMBERS && !err; i++) {
		char *to = (char *)j + schema_job_numbers[i].offset;
		int64_t n;

		memcpy(&n, to, sizeof(n));
		err = read_int(r, st, "meta", schema_job_numbers[i].key, &n);
		memcpy(to, &n, sizeof(n));
	}
	return err;
}

static int read_losses(struct recording *r, sqlite3_stmt *st)
{
	int64_t n = 0;
	int err = 0;

	for (int i = 0; i < PP_LOSS_MAX && !err; i++) {
		n = 0;
		err = read_int(r, st, "losses", schema_loss_names[i], &n);
		r->end.losses[i] = (uint64_t)n;
	}
	n = 0;
	if (!err)
		err = read_int(r, st, "losses", "missed", &n);
	r->end.missed = (uint64_t)n;
	return err;
}

int reader_meta(struct recording *r)
{
	sqlite3_stmt *meta = NULL, *losses = NULL;
	int err = 0;

	if (sqlite3_prepare_v2(r->access.db, "SELECT value FROM main.meta WHERE key = ?", -1, &meta,
			       NULL) ||
	    sqlite3_prepare_v2(r->access.db, "SELECT count FROM main.losses WHERE class = ?", -1,
			       &losses, NULL))
		err = access_failed(&r->access, r->path);
	if (!err)
		err = read_texts(r, meta);
	if (!err)
		err = read_numbers(r, meta);
	if (!err)
		err = read_job(r, meta);
	if (!err)
		err = read_losses(r, losses);
	sqlite3_finalize(losses);
	sqlite3_finalize(meta);
	return err;
}
