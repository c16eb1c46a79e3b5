/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Processes and phases, from the recording or from its replay. */
#include <errno.h>
#include <string.h>

#include "store/reader.h"

/* Marks of one write have one instant: what lasts no time comes before what begins there. */
#define BY_START "start_win, end_win > start_win, end_win DESC, kind DESC, id"

int recording_each_process(struct recording *r, int (*fn)(void *, const struct process *),
			   void *ctx)
{
	sqlite3_stmt *st = reader_prepare(r, &schema_processes, "ORDER BY start_ns, mm_id");
	int err = 0, n = 0;

	if (!st)
		return -EBADMSG;
	while (!err && (n = reader_step(r, st)) > 0) {
		struct process p = {0};
		const char *bad;
		int64_t key;

		if (table_read_key(st, 0, &key))
			err = reader_bad(r, "processes", "mm_id");
		else if (table_read_row(&schema_processes, st, &p, &bad))
			err = reader_bad(r, "processes", bad);
		if (err)
			break;
		p.mm_id = (uint64_t)key;
		err = fn(ctx, &p);
	}
	sqlite3_finalize(st);
	return err ? err : n;
}

int recording_each_verdict(struct recording *r, uint64_t mm_id,
			   int (*fn)(void *, const struct verdict *), void *ctx)
{
	sqlite3_stmt *st =
	    reader_prepare(r, &schema_verdicts,
			   mm_id ? "WHERE mm_id = ?1 ORDER BY at_ns, id" : "ORDER BY at_ns, id");
	int err = 0, n = 0;

	if (!st)
		return -EBADMSG;
	if (mm_id)
		sqlite3_bind_int64(st, 1, (int64_t)mm_id);
	while (!err && (n = reader_step(r, st)) > 0) {
		struct verdict v = {0};
		const char *bad;
		int64_t key;

		if (table_read_key(st, 0, &key))
			err = reader_bad(r, "verdicts", "id");
		else if (table_read_row(&schema_verdicts, st, &v, &bad))
			err = reader_bad(r, "verdicts", bad);
		if (err)
			break;
		v.id = (uint64_t)key;
		err = fn(ctx, &v);
	}
	sqlite3_finalize(st);
	return err ? err : n;
}

/* Largest first, as they were given. */
static int read_where(struct recording *r, struct phase *ph)
{
	const char *bad;
	int n = 0;

	if (!r->where)
		r->where =
		    reader_prepare(r, &schema_phase_where, "WHERE phase_id = ? ORDER BY rank");
	if (!r->where)
		return -EBADMSG;
	sqlite3_bind_int64(r->where, 1, (int64_t)ph->id);
	while (ph->nwhere < MESSAGE_WHERE_MAX && (n = reader_step(r, r->where)) > 0) {
		struct phase_where *w = &r->where_rows[ph->nwhere];

		memset(w, 0, sizeof(*w));
		if (table_read_row(&schema_phase_where, r->where, w, &bad)) {
			n = reader_bad(r, "phase_where", bad);
			break;
		}
		ph->nwhere++;
	}
	sqlite3_reset(r->where);
	if (ph->nwhere)
		ph->where = r->where_rows;
	return n < 0 ? n : 0;
}

/* Does b come after a in the order BY_START? Else the pages of the index lead in circles. */
static bool follows(const struct phase *a, const struct phase *b)
{
	if (a->start_win != b->start_win)
		return (int64_t)a->start_win < (int64_t)b->start_win;
	if ((a->end_win > a->start_win) != (b->end_win > b->start_win))
		return a->end_win <= a->start_win;
	if (a->end_win != b->end_win)
		return (int64_t)a->end_win > (int64_t)b->end_win;
	return a->kind != b->kind ? a->kind > b->kind : (int64_t)a->id < (int64_t)b->id;
}

int reader_phase(struct recording *r, sqlite3_stmt *st, struct phase *ph)
{
	const char *bad;
	int64_t key;

	memset(ph, 0, sizeof(*ph));
	if (table_read_key(st, 0, &key))
		return reader_bad(r, "phases", "id");
	if (table_read_row(&schema_phases, st, ph, &bad))
		return reader_bad(r, "phases", bad);
	ph->id = (uint64_t)key;
	return r->has_where ? read_where(r, ph) : 0;
}

static bool implied(const struct phase *ph)
{
	return ph->kind >= PH_STARTUP;
}

/* Rows of st, which has its parameters, in the order BY_START, implied ones apart if first. */
static int each_row(struct recording *r, sqlite3_stmt *st, uint64_t mm_id, bool implied_first,
		    int (*fn)(void *, const struct phase *), void *ctx)
{
	struct phase ph[2];
	int err = 0, n = 0;

	for (unsigned i = 0; !err && (n = reader_step(r, st)) > 0; i++) {
		struct phase *now = &ph[i & 1], *last = &ph[~i & 1];

		err = reader_phase(r, st, now);
		if (!err && now->mm_id != mm_id)
			err = reader_bad(r, "phases", "mm_id");
		if (err)
			break;
		if (i && !follows(last, now) && !(implied_first && implied(last) && !implied(now)))
			err = reader_bad(r, "phases", "start_win");
		else
			err = fn(ctx, now);
	}
	return err ? err : n;
}

int recording_each_phase(struct recording *r, uint64_t mm_id,
			 int (*fn)(void *, const struct phase *), void *ctx)
{
	sqlite3_stmt *st = reader_prepare(r, &schema_phases, "WHERE mm_id = ? ORDER BY " BY_START);
	int err;

	if (!st)
		return -EBADMSG;
	sqlite3_bind_int64(st, 1, (int64_t)mm_id);
	err = each_row(r, st, mm_id, false, fn, ctx);
	sqlite3_finalize(st);
	return err;
}

/* The ids come from the index alone, which is a tenth of the rows. */
#define OPEN_AT                                                                                    \
	"WHERE id IN (SELECT id FROM phases WHERE mm_id = ?1 AND start_win < ?2 AND end_win >= "   \
	"?2) ORDER BY kind < 3, " BY_START

int recording_phases_at(struct recording *r, uint64_t mm_id, uint64_t win,
			int (*fn)(void *, const struct phase *), void *ctx)
{
	int err;

	if (!r->phases_at)
		r->phases_at = reader_prepare(r, &schema_phases, OPEN_AT);
	if (!r->phases_at)
		return -EBADMSG;
	sqlite3_bind_int64(r->phases_at, 1, (int64_t)mm_id);
	sqlite3_bind_int64(r->phases_at, 2, (int64_t)win);
	err = each_row(r, r->phases_at, mm_id, true, fn, ctx);
	sqlite3_reset(r->phases_at);
	return err;
}

int recording_implied_from(struct recording *r, uint64_t mm_id, uint64_t win, struct phase *out)
{
	const char *bad;
	int64_t key;
	int n;

	if (!r->implied_from)
		r->implied_from = reader_prepare(
		    r, &schema_phases,
		    "WHERE mm_id = ?1 AND start_win = ?2 AND end_win > start_win AND kind >= 3 LIMIT 1");
	if (!r->implied_from)
		return -EBADMSG;
	sqlite3_bind_int64(r->implied_from, 1, (int64_t)mm_id);
	sqlite3_bind_int64(r->implied_from, 2, (int64_t)win);
	n = reader_step(r, r->implied_from);
	memset(out, 0, sizeof(*out));
	if (n > 0 && table_read_key(r->implied_from, 0, &key))
		n = reader_bad(r, "phases", "id");
	else if (n > 0 && table_read_row(&schema_phases, r->implied_from, out, &bad))
		n = reader_bad(r, "phases", bad);
	if (n > 0)
		out->id = (uint64_t)key;
	sqlite3_reset(r->implied_from);
	return n;
}

/*
 * Windows follow each other in time: the last one, of those that a phase of mm_id begins behind,
 * that does so before ns. Found by halves, since only windows are in the index. 0: none.
 */
static int window_before(struct recording *r, uint64_t mm_id, uint64_t ns, int64_t *win)
{
	int64_t low = 0, high = INT64_MAX, middle;
	sqlite3_stmt *st;
	int n = 0;

	if (sqlite3_prepare_v2(r->access.db,
			       "SELECT start_win, start_ns FROM phases WHERE mm_id = ?1 AND "
			       "start_win >= ?2 ORDER BY start_win LIMIT 1",
			       -1, &st, NULL))
		return access_failed(&r->access, r->path);
	sqlite3_bind_int64(st, 1, (int64_t)mm_id);
	while (low < high && n >= 0) {
		middle = low + (high - low) / 2 + 1;
		sqlite3_bind_int64(st, 2, middle);
		n = reader_step(r, st);
		if (n > 0 && sqlite3_column_int64(st, 1) < (int64_t)ns &&
		    sqlite3_column_int64(st, 0) >= middle)
			low = sqlite3_column_int64(st, 0);
		else
			high = middle - 1;
		sqlite3_reset(st);
	}
	sqlite3_finalize(st);
	*win = low;
	return n < 0 ? n : 0;
}

/* A zero-length one has no moment. As in OPEN_AT, the index has the ids. */
#define OPEN_AT_TIME                                                                               \
	"WHERE id IN (SELECT id FROM phases WHERE mm_id = ?1 AND start_win <= ?3 AND end_win > "   \
	"?3) AND start_ns < ?2 AND end_ns >= ?2 ORDER BY kind < 3, " BY_START

int recording_phases_at_time(struct recording *r, uint64_t mm_id, uint64_t ns,
			     int (*fn)(void *, const struct phase *), void *ctx)
{
	sqlite3_stmt *st;
	int64_t win = 0;
	int err = window_before(r, mm_id, ns, &win);

	if (err)
		return err;
	st = reader_prepare(r, &schema_phases, OPEN_AT_TIME);
	if (!st)
		return -EBADMSG;
	sqlite3_bind_int64(st, 1, (int64_t)mm_id);
	sqlite3_bind_int64(st, 2, (int64_t)ns);
	sqlite3_bind_int64(st, 3, win);
	err = each_row(r, st, mm_id, true, fn, ctx);
	sqlite3_finalize(st);
	return err;
}

int recording_each_share(struct recording *r, int (*fn)(void *, const struct job_share *),
			 void *ctx)
{
	sqlite3_stmt *st = reader_prepare(r, &schema_job_shares, "ORDER BY bytes DESC, mm_id");
	int err = 0, n = 0;

	if (!st)
		return -EBADMSG;
	while (!err && (n = reader_step(r, st)) > 0) {
		struct job_share s = {0};
		const char *bad;
		int64_t key;

		if (table_read_key(st, 0, &key))
			err = reader_bad(r, "job_shares", "mm_id");
		else if (table_read_row(&schema_job_shares, st, &s, &bad))
			err = reader_bad(r, "job_shares", bad);
		if (err)
			break;
		s.mm_id = (uint64_t)key;
		err = fn(ctx, &s);
	}
	sqlite3_finalize(st);
	return err ? err : n;
}

/* All rows are looked at, but only few of them read: a report has no second pass to spare. */
int recording_phases_of_headroom(struct recording *r, uint64_t mm_id, uint64_t headroom_min,
				 int (*fn)(void *, const struct phase *), void *ctx)
{
	sqlite3_stmt *st = reader_prepare(
	    r, &schema_phases,
	    "NOT INDEXED WHERE mm_id = ? AND headroom_min_bytes = ? ORDER BY " BY_START);
	int err;

	if (!st)
		return -EBADMSG;
	sqlite3_bind_int64(st, 1, (int64_t)mm_id);
	sqlite3_bind_int64(st, 2, (int64_t)headroom_min);
	err = each_row(r, st, mm_id, false, fn, ctx);
	sqlite3_finalize(st);
	return err;
}

int recording_cgroup(struct recording *r, uint64_t id, struct cgroup *out)
{
	const char *bad;
	int n;

	if (!r->cgroup)
		r->cgroup = reader_prepare(r, &schema_cgroups, "WHERE id = ?");
	if (!r->cgroup)
		return -EBADMSG;
	memset(out, 0, sizeof(*out));
	sqlite3_bind_int64(r->cgroup, 1, (int64_t)id);
	n = reader_step(r, r->cgroup);
	if (n > 0 && table_read_row(&schema_cgroups, r->cgroup, out, &bad))
		n = reader_bad(r, "cgroups", bad);
	out->id = id;
	sqlite3_reset(r->cgroup);
	return n;
}

int recording_each_unheard(struct recording *r, int (*fn)(void *, const struct unheard *),
			   void *ctx)
{
	sqlite3_stmt *st = reader_prepare(r, &schema_unheard, "ORDER BY id");
	int err = 0, n = 0;

	if (!st)
		return -EBADMSG;
	while (!err && (n = reader_step(r, st)) > 0) {
		struct unheard u = {0};
		const char *bad;
		int64_t key;

		if (table_read_key(st, 0, &key))
			err = reader_bad(r, "unheard", "id");
		else if (table_read_row(&schema_unheard, st, &u, &bad))
			err = reader_bad(r, "unheard", bad);
		if (err)
			break;
		u.id = (uint64_t)key;
		err = fn(ctx, &u);
	}
	sqlite3_finalize(st);
	return err ? err : n;
}
