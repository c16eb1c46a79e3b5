/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "store/rows.h"

#include <stdio.h>
#include <string.h>

#include "store/schema.h"

/* Implied phases are those from PH_STARTUP on; the bound on start_win from above spares a scan. */
#define COVERED "mm_id = ?1 AND start_win BETWEEN ?2 AND ?3 AND end_win <= ?3 AND kind >= 3"

static int prepare_covered(struct rows *r, const char *schema)
{
	char sql[256];
	int rc;

	snprintf(sql, sizeof(sql),
		 "DELETE FROM %s.phase_where WHERE phase_id IN (SELECT id FROM %s.phases WHERE %s)",
		 schema, schema, COVERED);
	rc = sqlite3_prepare_v3(r->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &r->covered_where, NULL);
	if (rc)
		return rc;
	snprintf(sql, sizeof(sql), "DELETE FROM %s.phases WHERE %s", schema, COVERED);
	return sqlite3_prepare_v3(r->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &r->covered, NULL);
}

static int open_raw(struct rows *r, const char *schema)
{
	int rc = inserter_prepare(&r->edges, r->db, &schema_edges, "INSERT", schema);

	if (!rc)
		rc = inserter_prepare(&r->bases, r->db, &schema_bases, "INSERT", schema);
	if (!rc)
		rc = inserter_prepare(&r->deaths, r->db, &schema_deaths, "INSERT", schema);
	if (!rc)
		rc = inserter_prepare(&r->ooms, r->db, &schema_ooms, "INSERT", schema);
	if (!rc)
		rc = inserter_prepare(&r->samples, r->db, &schema_samples, "INSERT", schema);
	if (!rc)
		rc = inserter_prepare(&r->faults, r->db, &schema_faults, "INSERT", schema);
	if (!rc)
		rc = inserter_prepare(&r->notes, r->db, &schema_notes, "INSERT", schema);
	if (!rc)
		rc = inserter_prepare(&r->cgroups, r->db, &schema_cgroups, "INSERT OR REPLACE",
				      schema);
	if (!rc)
		rc = inserter_prepare(&r->unheard, r->db, &schema_unheard, "INSERT", schema);
	if (!rc)
		rc = inserter_prepare(&r->output, r->db, &schema_output, "INSERT", schema);
	if (!rc)
		rc = inserter_prepare(&r->output_streams, r->db, &schema_output_streams,
				      "INSERT OR REPLACE", schema);
	if (!rc)
		rc = sqlite3_prepare_v3(
		    r->db, "DELETE FROM main.output WHERE id BETWEEN ?1 AND ?2 AND stream = ?3", -1,
		    SQLITE_PREPARE_PERSISTENT, &r->output_drop, NULL);
	return rc;
}

int rows_open(struct rows *r, sqlite3 *db, const char *schema)
{
	int rc = SQLITE_OK;

	*r = (struct rows){.db = db};
	if (strcmp(schema, "temp"))
		rc = open_raw(r, schema);
	if (!rc)
		rc = inserter_prepare(&r->processes, db, &schema_processes, "INSERT OR REPLACE",
				      schema);
	if (!rc)
		rc = inserter_prepare(&r->phases, db, &schema_phases, "INSERT OR REPLACE", schema);
	if (!rc)
		rc = inserter_prepare(&r->where, db, &schema_phase_where, "INSERT OR REPLACE",
				      schema);
	/* A replay keeps what is there. */
	if (!rc)
		rc = inserter_prepare(
		    &r->verdicts, db, &schema_verdicts,
		    strcmp(schema, "temp") ? "INSERT OR REPLACE" : "INSERT OR IGNORE", schema);
	if (!rc)
		rc = inserter_prepare(&r->shares, db, &schema_job_shares, "INSERT OR REPLACE",
				      schema);
	if (!rc)
		rc = prepare_covered(r, schema);
	if (rc)
		rows_close(r);
	return rc;
}

void rows_close(struct rows *r)
{
	inserter_finalize(&r->edges);
	inserter_finalize(&r->bases);
	inserter_finalize(&r->deaths);
	inserter_finalize(&r->ooms);
	inserter_finalize(&r->verdicts);
	inserter_finalize(&r->samples);
	inserter_finalize(&r->faults);
	inserter_finalize(&r->notes);
	inserter_finalize(&r->cgroups);
	inserter_finalize(&r->unheard);
	inserter_finalize(&r->output);
	inserter_finalize(&r->output_streams);
	inserter_finalize(&r->processes);
	inserter_finalize(&r->phases);
	inserter_finalize(&r->where);
	inserter_finalize(&r->shares);
	sqlite3_finalize(r->covered_where);
	sqlite3_finalize(r->covered);
	sqlite3_finalize(r->output_drop);
	r->covered_where = r->covered = r->output_drop = NULL;
}

static uint32_t edge_groups(enum pp_kind kind)
{
	if (kind == PP_MARK || kind == PP_BEGIN || kind == PP_END)
		return EDGE_GROUP_MARK;
	return kind == PP_EXIT || kind == PP_EXEC ? EDGE_GROUP_EXIT : 0;
}

int rows_event(struct rows *r, uint64_t id, const struct event *ev)
{
	int64_t key = (int64_t)id;
	int rc;

	if (ev->kind == PP_SAMPLE)
		return inserter_row(&r->samples, &key, ev, 0);
	if (ev->kind == PP_FAULT)
		return inserter_row(&r->faults, &key, ev, 0);
	if (ev->kind == PP_NOTE)
		return inserter_row(&r->notes, &key, ev, 0);
	rc = inserter_row(&r->edges, &key, ev, edge_groups(ev->kind));
	if (rc)
		return rc;
	if (ev->kind == PP_BASE)
		return inserter_row(&r->bases, &key, ev, 0);
	if (ev->kind == PP_EXIT && (ev->edge.exit_flags || ev->edge.sender.time_ns))
		return inserter_row(&r->deaths, &key, ev, 0);
	if (ev->kind == PP_OOM || ev->kind == PP_OOM_OTHER)
		return inserter_row(&r->ooms, &key, ev, 0);
	return SQLITE_OK;
}

int rows_verdict(struct rows *r, const struct verdict *v)
{
	int64_t key = (int64_t)v->id;

	return inserter_row(&r->verdicts, &key, v, 0);
}

int rows_process(struct rows *r, const struct process *p)
{
	int64_t key = (int64_t)p->mm_id;

	return inserter_row(&r->processes, &key, p, 0);
}

int rows_phase(struct rows *r, const struct phase *ph)
{
	int64_t keys[2] = {(int64_t)ph->id, 0};
	int rc = inserter_row(&r->phases, keys, ph, 0);

	for (uint32_t i = 0; i < ph->nwhere && !rc; i++) {
		keys[1] = i;
		rc = inserter_row(&r->where, keys, &ph->where[i], 0);
	}
	return rc;
}

int rows_share(struct rows *r, const struct job_share *s)
{
	int64_t key = (int64_t)s->mm_id;

	return inserter_row(&r->shares, &key, s, 0);
}

int rows_cgroup(struct rows *r, const struct cgroup *c)
{
	int64_t key = (int64_t)c->id;

	return inserter_row(&r->cgroups, &key, c, 0);
}

int rows_unheard(struct rows *r, const struct unheard *u)
{
	int64_t key = (int64_t)u->id;

	return inserter_row(&r->unheard, &key, u, 0);
}

int rows_output(struct rows *r, const struct output_piece *p)
{
	int64_t key = (int64_t)p->id;

	return inserter_row(&r->output, &key, p, 0);
}

int rows_output_totals(struct rows *r, const struct output_totals *t)
{
	int64_t key = t->stream;

	return inserter_row(&r->output_streams, &key, t, 0);
}

static int run_with(sqlite3_stmt *st, uint64_t a, uint64_t b, uint64_t c)
{
	int rc = sqlite3_bind_int64(st, 1, (int64_t)a);

	if (!rc)
		rc = sqlite3_bind_int64(st, 2, (int64_t)b);
	if (!rc)
		rc = sqlite3_bind_int64(st, 3, (int64_t)c);
	if (rc)
		return rc;
	sqlite3_step(st);
	return sqlite3_reset(st);
}

int rows_output_drop(struct rows *r, uint32_t stream, uint64_t from, uint64_t to)
{
	return run_with(r->output_drop, from, to, stream);
}

int rows_covered(struct rows *r, uint64_t mm_id, uint64_t from_win, uint64_t to_win)
{
	int rc = run_with(r->covered_where, mm_id, from_win, to_win);

	return rc ? rc : run_with(r->covered, mm_id, from_win, to_win);
}
