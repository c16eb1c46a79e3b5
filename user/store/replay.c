/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>

#include "lib/say.h"
#include "store/reader.h"
#include "store/rows.h"

struct feed {
	struct model *model;
	uint64_t end_ns;
	int (*fn)(void *, const struct event *); /* NULL: nobody looks on */
	void *ctx;
};

static int feed_event(void *ctx, const struct event *ev)
{
	struct feed *f = ctx;
	int err;

	if (ev->time_ns > f->end_ns)
		f->end_ns = ev->time_ns;
	err = model_feed(f->model, ev);
	return err || !f->fn ? err : f->fn(f->ctx, ev);
}

int recording_replay_events(struct recording *r, const struct model_sink *sink,
			    int (*fn)(void *, const struct event *), void *ctx,
			    struct model_counts *counts, uint64_t *end_ns)
{
	struct model_options opt = {
	    .error_per_thread = r->info.error_per_thread,
	    .ceiling = r->info.ceiling,
	    .headroom = r->info.headroom,
	};
	/* The tracer may have seen for long that nothing happened any more. */
	struct feed f = {
	    .model = model_new(&opt, sink),
	    .end_ns = r->end.finished ? 0 : r->end.end_ns,
	    .fn = fn,
	    .ctx = ctx,
	};
	int err;

	if (!f.model)
		return -ENOMEM;
	err = recording_each_event(r, feed_event, &f);
	if (!err)
		err = model_finish(f.model, f.end_ns);
	if (!err && counts)
		*counts = *model_counts(f.model);
	if (!err && end_ns)
		*end_ns = f.end_ns;
	model_free(&f.model);
	return err;
}

int recording_replay(struct recording *r, const struct model_sink *sink,
		     struct model_counts *counts, uint64_t *end_ns)
{
	return recording_replay_events(r, sink, NULL, NULL, counts, end_ns);
}

/* The sink has no way to stop the model: the first error is kept, and the rest is not written. */
struct unfinished {
	struct rows rows;
	struct job job;
	int rc;
};

static void on_process(void *ctx, const struct process *p)
{
	struct unfinished *u = ctx;

	if (!u->rc)
		u->rc = rows_process(&u->rows, p);
}

static void on_phase(void *ctx, const struct process *p, const struct phase *ph)
{
	struct unfinished *u = ctx;

	(void)p;
	if (!u->rc)
		u->rc = rows_phase(&u->rows, ph);
}

static void on_covered(void *ctx, uint64_t mm_id, uint64_t from_win, uint64_t to_win)
{
	struct unfinished *u = ctx;

	if (!u->rc)
		u->rc = rows_covered(&u->rows, mm_id, from_win, to_win);
}

static void on_job(void *ctx, const struct job *j)
{
	struct unfinished *u = ctx;

	u->job = *j;
	u->job.shares = NULL;
	u->job.nshares = 0;
	for (size_t i = 0; i < j->nshares && !u->rc; i++)
		u->rc = rows_share(&u->rows, &j->shares[i]);
}

/* What was recorded of it stays: it has what the system said at that time. */
static void on_verdict(void *ctx, const struct process *p, const struct verdict *v)
{
	struct unfinished *u = ctx;

	(void)p;
	if (!u->rc)
		u->rc = rows_verdict(&u->rows, v);
}

static int open_tables(struct recording *r, struct unfinished *u)
{
	sqlite3 *db = r->access.db;
	int rc = sqlite3_exec(db, "PRAGMA temp.journal_mode = OFF; PRAGMA temp.cache_size = -8192",
			      NULL, NULL, NULL);

	if (!rc)
		rc = schema_create_temp(db);
	if (!rc)
		rc = rows_open(&u->rows, db, "temp");
	if (!rc)
		rc = sqlite3_exec(db, "INSERT INTO temp.verdicts SELECT * FROM main.verdicts", NULL,
				  NULL, NULL);
	if (!rc)
		return 0;
	rc = access_failed(&r->access, r->path);
	rows_close(&u->rows);
	return rc;
}

int replay_unfinished(struct recording *r)
{
	struct unfinished u = {0};
	struct model_sink sink = {
	    .ctx = &u,
	    .process_begun = on_process,
	    .phase_ended = on_phase,
	    .implied_covered = on_covered,
	    .process_ended = on_process,
	    .job = on_job,
	    .process_revised = on_process,
	    .verdict = on_verdict,
	};
	int err = open_tables(r, &u);

	if (err)
		return err;
	if (sqlite3_exec(r->access.db, "BEGIN", NULL, NULL, NULL))
		err = access_failed(&r->access, r->path);
	if (!err)
		err = recording_replay(r, &sink, &r->end.counts, &r->end.end_ns);
	if (!err && u.rc) {
		say_error("%s: cannot be replayed: %s", r->path, sqlite3_errstr(u.rc));
		say_remedy("the replay of an unfinished recording needs room in TMPDIR");
		err = -EIO;
	}
	r->end.job = u.job;
	rows_close(&u.rows);
	if (sqlite3_exec(r->access.db, err ? "ROLLBACK" : "COMMIT", NULL, NULL, NULL) && !err)
		err = access_failed(&r->access, r->path);
	return err;
}
