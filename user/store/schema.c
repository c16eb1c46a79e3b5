/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "store/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>

#include "store/store.h"
#include "store/views.h"

/* clang-format off */
#define U64(s, n, f) {.name = n, .type = COL_U64, .offset = offsetof(struct s, f)}
#define OPT(s, n, f) {.name = n, .type = COL_U64_NONE, .offset = offsetof(struct s, f)}
#define U32(s, n, f) {.name = n, .type = COL_U32, .offset = offsetof(struct s, f), .max = UINT32_MAX}
#define I32(s, n, f) {.name = n, .type = COL_I32, .offset = offsetof(struct s, f)}
#define BIT(s, n, f) {.name = n, .type = COL_BOOL, .offset = offsetof(struct s, f), .max = 1}
#define ENUM(s, n, f, lo, hi) \
	{.name = n, .type = COL_U32, .offset = offsetof(struct s, f), .min = (lo), .max = (hi)}
#define STR(s, n, f, most) \
	{.name = n, .type = COL_CSTR, .offset = offsetof(struct s, f), .max = (most)}
#define MEMBERS(s, pre, f) \
	U64(s, pre "file", f.m[PP_FILE]), U64(s, pre "anon", f.m[PP_ANON]), \
	U64(s, pre "swap", f.m[PP_SWAP]), U64(s, pre "shmem", f.m[PP_SHMEM])
#define LABEL(s, f, g) \
	{.name = "label", .type = COL_BYTES16, .group = g, .offset = offsetof(struct s, f.bytes), \
	 .len_offset = offsetof(struct s, f.len), .max = PP_LABEL_MAX}, \
	{.name = "label_flags", .type = COL_U16, .group = g, .offset = offsetof(struct s, f.flags), \
	 .max = UINT16_MAX}, \
	{.name = "label_hash", .type = COL_U64, .group = g, .offset = offsetof(struct s, f.hash)}
#define TEXT32(s, n, f, len, most) \
	{.name = n, .type = COL_BYTES32, .offset = offsetof(struct s, f), \
	 .len_offset = offsetof(struct s, len), .max = (most)}
#define SENDER(s, f) \
	U64(s, "signal_ns", f.time_ns), U32(s, "signal", f.sig), I32(s, "signal_code", f.code), \
	U32(s, "sender_pid", f.pid), STR(s, "sender_comm", f.comm, 16)
#define ARGS(s, len, f) \
	{.name = "args", .type = COL_BYTES32, .offset = offsetof(struct s, f), \
	 .len_offset = offsetof(struct s, len), .max = PP_ARGS_MAX}
#define HEAD(lo, hi) \
	ENUM(event, "kind", kind, lo, hi), U32(event, "flags", flags), \
	U64(event, "time_ns", time_ns), U64(event, "mm_id", mm_id), \
	U32(event, "pid", pid), U32(event, "tid", tid)
#define PEAK(s) \
	U64(s, "peak_bytes", peak.bytes), U64(s, "peak_at_ns", peak.at_ns), \
	MEMBERS(s, "peak_", peak.members), BIT(s, "peak_members_exact", peak.members_exact), \
	U64(s, "peak_win", peak.win)

static const struct column edges[] = {
	HEAD(PP_BASE, PP_WRITE),
	MEMBERS(event, "", edge.now),
	U64(event, "win_seq", edge.win.seq),
	U64(event, "win_max", edge.win.max),
	U64(event, "win_max_at_ns", edge.win.max_at_ns),
	MEMBERS(event, "win_max_", edge.win.max_members),
	MEMBERS(event, "win_most_", edge.win.member_max),
	U64(event, "win_min", edge.win.min),
	OPT(event, "win_charge_max", edge.win.charge_max),
	U64(event, "win_charge_max_at_ns", edge.win.charge_max_at_ns),
	OPT(event, "win_limiter_max", edge.win.limiter_max),
	U64(event, "thread_grew", edge.thread_grew),
	U64(event, "thread_shrank", edge.thread_shrank),
	U64(event, "mm_grew", edge.mm_grew),
	U64(event, "mm_shrank", edge.mm_shrank),
	U64(event, "ext_grew", edge.ext_grew),
	U64(event, "ext_shrank", edge.ext_shrank),
	U64(event, "faults_minor", edge.minflt),
	U64(event, "faults_major", edge.majflt),
	OPT(event, "charge", edge.charge),
	OPT(event, "limit_bytes", edge.limit),
	OPT(event, "limiter", edge.limiter),
	U64(event, "peak_bytes", edge.peak),
	U32(event, "limit_level", edge.limit_level),
	U32(event, "lost", edge.lost),
	{.name = "token", .type = COL_U64, .group = EDGE_GROUP_MARK,
	 .offset = offsetof(struct event, edge.token)},
	{.name = "printed_bytes", .type = COL_U64_NONE, .group = EDGE_GROUP_MARK,
	 .offset = offsetof(struct event, edge.printed)},
	LABEL(event, edge.label, EDGE_GROUP_MARK),
	{.name = "exit_code", .type = COL_U32, .group = EDGE_GROUP_EXIT, .max = UINT32_MAX,
	 .offset = offsetof(struct event, edge.exit_code)},
	{.name = "threads", .type = COL_U32, .group = EDGE_GROUP_MARK, .max = UINT32_MAX,
	 .offset = offsetof(struct event, edge.threads_now)},
};

static const struct column deaths[] = {
	U32(event, "exit_flags", edge.exit_flags),
	SENDER(event, edge.sender),
};

static const struct column ooms[] = {
	U32(event, "victim_pid", edge.oom.pid),
	STR(event, "victim_comm", edge.oom.comm, 16),
	U64(event, "start_boot_ns", edge.oom.start_boot_ns),
	OPT(event, "hit_limit", edge.oom.hit_limit),
	OPT(event, "hit_usage", edge.oom.hit_usage),
	U32(event, "hit_level", edge.oom.hit_level),
	TEXT32(event, "cgroup", edge.oom.cgroup, edge.oom.cgroup_len, EV_CGROUP_MAX),
	U64(event, "trigger_mm_id", edge.oom.trigger_mm_id),
	U32(event, "trigger_pid", edge.oom.trigger_pid),
	STR(event, "trigger_comm", edge.oom.trigger_comm, 16),
	SENDER(event, edge.oom.sender),
};

static const struct column bases[] = {
	U64(event, "parent_mm_id", edge.parent_mm_id),
	U64(event, "start_ns", edge.start_ns),
	U64(event, "start_boot_ns", edge.start_boot_ns),
	U64(event, "cgroup_id", edge.cgroup_id),
	U32(event, "ppid", edge.ppid),
	U32(event, "ns_pid", edge.ns_pid),
	U32(event, "reason", edge.reason),
	U32(event, "threads", edge.threads),
	STR(event, "comm", edge.comm, 16),
	ARGS(event, edge.args_len, edge.args),
};

static const struct column samples[] = {
	HEAD(PP_SAMPLE, PP_SAMPLE),
	U64(event, "win_seq", sample.seq),
	MEMBERS(event, "", sample.now),
	U64(event, "win_max", sample.max),
	U64(event, "win_min", sample.min),
	OPT(event, "charge", sample.charge),
	U64(event, "threads", sample.threads),
};

static const struct column faults[] = {
	HEAD(PP_FAULT, PP_FAULT),
	U64(event, "win_seq", fault.seq),
	U64(event, "addr", fault.addr),
	U64(event, "ino", fault.ino),
	U32(event, "dev", fault.dev),
	ENUM(event, "mapping", fault.mapping, 0, PP_MAPPING_MAX - 1),
	STR(event, "name", fault.name, PP_NAME_MAX - 1),
};

static const struct column notes[] = {
	HEAD(PP_NOTE, PP_NOTE),
	U64(event, "token", note.token),
	U32(event, "number", note.number),
	ENUM(event, "at", note.at, 0, PP_NOTE_MAX),
	{.name = "text", .type = COL_BYTES16, .offset = offsetof(struct event, note.text),
	 .len_offset = offsetof(struct event, note.len), .max = PP_NOTE_CHUNK},
	{.name = "note_flags", .type = COL_U16, .offset = offsetof(struct event, note.flags),
	 .max = UINT16_MAX},
};

static const struct column output[] = {
	U64(output_piece, "time_ns", time_ns),
	U64(output_piece, "mm_id", mm_id),
	U32(output_piece, "pid", pid),
	U32(output_piece, "tid", tid),
	ENUM(output_piece, "stream", stream, 1, 2),
	U64(output_piece, "at", at),
	TEXT32(output_piece, "bytes", bytes, len, PP_OUT_LARGE),
};

static const struct column output_streams[] = {
	U64(output_totals, "keep_first", keep_first),
	U64(output_totals, "keep_last", keep_last),
	U64(output_totals, "written", written),
	U64(output_totals, "dropped", dropped),
};

static const struct column processes[] = {
	U64(process, "parent_mm_id", parent_mm_id),
	U32(process, "pid", pid),
	U32(process, "ns_pid", ns_pid),
	U32(process, "ppid", ppid),
	U64(process, "proc_start_boot_ns", proc_start_boot_ns),
	U64(process, "cgroup_id", cgroup_id),
	U64(process, "start_ns", start_ns),
	U64(process, "end_ns", end_ns),
	U32(process, "reason", reason),
	STR(process, "comm", comm, 16),
	ARGS(process, args_len, args),
	U64(process, "inherited_bytes", inherited_bytes),
	U64(process, "baseline_bytes", baseline_bytes),
	U64(process, "end_bytes", end_bytes),
	U64(process, "error_bytes", error_bytes),
	U64(process, "ext_grew_bytes", ext_grew_bytes),
	U64(process, "ext_shrank_bytes", ext_shrank_bytes),
	U64(process, "grew_bytes", grew_bytes),
	U64(process, "shrank_bytes", shrank_bytes),
	PEAK(process),
	OPT(process, "charge_peak_bytes", charge_peak),
	OPT(process, "limit_bytes", limit),
	OPT(process, "headroom_min_bytes", headroom_min),
	U32(process, "limit_level", limit_level),
	U64(process, "windows", windows),
	U64(process, "phases", phases),
	U64(process, "lost", lost),
	U64(process, "bad_ends", bad_ends),
	BIT(process, "exact", exact),
	ENUM(process, "exit", exit, PX_RUNNING, PX_EXEC),
	U32(process, "status", status),
};

static const struct column phases[] = {
	U64(phase, "mm_id", mm_id),
	U32(phase, "pid", pid),
	U32(phase, "tid", tid),
	ENUM(phase, "kind", kind, PH_CHECKPOINT, PH_AFTER),
	ENUM(phase, "ended_by", ended_by, PH_BY_MARK, PH_BY_TRACE),
	ENUM(phase, "origin", origin, PH_IMPLIED, PH_FROM_OUTPUT),
	LABEL(phase, label, 0),
	U64(phase, "token", token),
	U64(phase, "start_ns", start_ns),
	U64(phase, "end_ns", end_ns),
	U64(phase, "start_win", start_win),
	U64(phase, "end_win", end_win),
	U64(phase, "start_bytes", start_bytes),
	U64(phase, "end_bytes", end_bytes),
	PEAK(phase),
	U64(phase, "anon_peak_bytes", anon_peak),
	U64(phase, "file_peak_bytes", file_peak),
	OPT(phase, "grew_bytes", grew_bytes),
	OPT(phase, "shrank_bytes", shrank_bytes),
	OPT(phase, "faults_minor", faults_minor),
	OPT(phase, "faults_major", faults_major),
	OPT(phase, "charge_peak_bytes", charge_peak),
	OPT(phase, "limit_bytes", limit),
	OPT(phase, "headroom_min_bytes", headroom_min),
	OPT(phase, "printed_bytes", printed_bytes),
	U32(phase, "depth", depth),
	BIT(phase, "overlaps", overlaps),
	BIT(phase, "exact", exact),
	U32(phase, "lost", lost),
	U32(phase, "threads", threads),
};

static const struct column phase_where[] = {
	ENUM(phase_where, "mapping", mapping, 0, PP_MAPPING_MAX - 1),
	STR(phase_where, "name", name, PP_NAME_MAX - 1),
	U64(phase_where, "hits", hits),
};

static const struct column job_shares[] = {
	U64(job_share, "bytes", bytes),
};

static const struct column cgroups[] = {
	STR(cgroup, "path", path, CGROUP_PATH_ROOM - 1),
	STR(cgroup, "runtime", runtime, 15),
	STR(cgroup, "container", container, 64),
	STR(cgroup, "name", name, CGROUP_NAME_ROOM - 1),
	STR(cgroup, "pod", pod, CGROUP_NAME_ROOM - 1),
	STR(cgroup, "namespace", ns, CGROUP_NAME_ROOM - 1),
};

static const struct column verdicts[] = {
	ENUM(verdict, "kind", kind, VD_OOM, VD_HEADROOM),
	U64(verdict, "at_ns", at_ns),
	U64(verdict, "mm_id", mm_id),
	U64(verdict, "win", win),
	U32(verdict, "pid", pid),
	BIT(verdict, "traced", traced),
	STR(verdict, "comm", comm, 16),
	U64(verdict, "cgroup_id", cgroup_id),
	U32(verdict, "ended_by_signal", signal),
	SENDER(verdict, sender),
	U32(verdict, "trigger_pid", trigger_pid),
	STR(verdict, "trigger_comm", trigger_comm, 16),
	U64(verdict, "threshold_bytes", threshold),
	MEMBERS(verdict, "", members),
	OPT(verdict, "charge", charge),
	OPT(verdict, "limit_bytes", limit),
	OPT(verdict, "limit_usage", limit_usage),
	U32(verdict, "limit_level", limit_level),
	TEXT32(verdict, "cgroup", cgroup, cgroup_len, EV_CGROUP_MAX),
	U64(verdict, "grew_bytes", grew_bytes),
	U64(verdict, "grew_ns", grew_ns),
	U32(verdict, "open_spans", open),
	ENUM(verdict, "phase_kind", phase_kind, PH_CHECKPOINT, PH_AFTER),
	LABEL(verdict, phase_label, 0),
	U64(verdict, "held_read_ns", held.read_ns),
	OPT(verdict, "held_cache", held.cache),
	OPT(verdict, "held_mapped", held.mapped),
	OPT(verdict, "held_shmem", held.shmem),
	OPT(verdict, "held_kernel", held.kernel),
};

static const struct column unheard[] = {
	U64(unheard, "mm_id", mm_id),
	U32(unheard, "pid", pid),
	U64(unheard, "from_ns", from_ns),
	U64(unheard, "to_ns", to_ns),
	BIT(unheard, "looked", looked),
	STR(unheard, "file", file, UNHEARD_FILE_MAX - 1),
};

#define TABLE(var, k) \
	const struct table schema_##var = { \
		.name = #var, .key_decl = k " INTEGER PRIMARY KEY", .keys = {k}, .nkeys = 1, \
		.tail = ")", .columns = var, .ncolumns = sizeof(var) / sizeof((var)[0])}; \
	_Static_assert(sizeof(var) / sizeof((var)[0]) <= TABLE_COLUMNS_MAX, #var)

TABLE(edges, "id");
TABLE(bases, "edge_id");
TABLE(deaths, "edge_id");
TABLE(ooms, "edge_id");
TABLE(samples, "id");
TABLE(faults, "id");
TABLE(notes, "id");
TABLE(output, "id");
TABLE(output_streams, "stream");
TABLE(processes, "mm_id");
TABLE(phases, "id");
TABLE(job_shares, "mm_id");
TABLE(cgroups, "id");
TABLE(verdicts, "id");
TABLE(unheard, "id");
const struct table schema_phase_where = {
	.name = "phase_where", .key_decl = "phase_id INTEGER, rank INTEGER",
	.keys = {"phase_id", "rank"}, .nkeys = 2,
	.tail = ", PRIMARY KEY (phase_id, rank)) WITHOUT ROWID",
	.columns = phase_where, .ncolumns = sizeof(phase_where) / sizeof(phase_where[0])};
/* clang-format on */

const char schema_meta_sql[] = "CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID";
const char schema_losses_sql[] =
    "CREATE TABLE losses (class TEXT PRIMARY KEY, count INTEGER) WITHOUT ROWID";
/* Covers the search for the phases open at a window, and gives the order of a report. */
const char schema_phases_index_sql[] =
    "phases_by_start ON phases (mm_id, start_win, end_win > start_win, end_win DESC, kind DESC)";
const char schema_samples_index_sql[] = "samples_by_mm ON samples (mm_id)";
const char schema_verdicts_index_sql[] = "verdicts_by_mm ON verdicts (mm_id)";
const char schema_notes_index_sql[] = "notes_by_mm ON notes (mm_id, tid, number)";
const char schema_output_index_sql[] = "output_by_mm ON output (mm_id, stream, at)";

const struct job_number schema_job_numbers[JOB_NUMBERS] = {
    {"job_most_live", offsetof(struct job, most_live)},
    {"job_sum_bytes", offsetof(struct job, sum_bytes)},
    {"job_sum_at_ns", offsetof(struct job, sum_at_ns)},
    {"job_sum_error_bytes", offsetof(struct job, sum_error_bytes)},
    {"job_charge_bytes", offsetof(struct job, charge_bytes)},
    {"job_charge_at_ns", offsetof(struct job, charge_at_ns)},
    {"job_charge_mm_id", offsetof(struct job, charge_mm_id)},
};

const char *const schema_loss_names[] = {
    [PP_LOSS_EDGES] = "edges", [PP_LOSS_SAMPLES] = "samples", [PP_LOSS_FAULTS] = "faults",
    [PP_LOSS_MMS] = "mms",     [PP_LOSS_GROWTH] = "growth",   [PP_LOSS_MARKS] = "marks",
    [PP_LOSS_NOTES] = "notes", [PP_LOSS_OUTPUT] = "output",   [PP_LOSS_BYTES] = "output_bytes",
};
_Static_assert(sizeof(schema_loss_names) / sizeof(schema_loss_names[0]) == PP_LOSS_MAX,
	       "a name for each class of loss");

static const struct table *const tables[] = {
    &schema_edges,    &schema_bases,	   &schema_deaths,     &schema_ooms,
    &schema_samples,  &schema_faults,	   &schema_notes,      &schema_processes,
    &schema_phases,   &schema_phase_where, &schema_job_shares, &schema_cgroups,
    &schema_verdicts, &schema_unheard,	   &schema_output,     &schema_output_streams,
};
#define NTABLES (sizeof(tables) / sizeof(tables[0]))

static int create_table(sqlite3 *db, const struct table *t, bool temp)
{
	char *sql = table_create_sql(t, temp);
	int rc = sql ? sqlite3_exec(db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;

	free(sql);
	return rc;
}

static int create_index(sqlite3 *db, const char *schema, const char *definition)
{
	char sql[256];

	snprintf(sql, sizeof(sql), "CREATE INDEX %s.%s", schema, definition);
	return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

int schema_create(sqlite3 *db)
{
	char pragmas[96];
	int rc;

	snprintf(pragmas, sizeof(pragmas), "PRAGMA application_id = %d; PRAGMA user_version = %d",
		 STORE_APPLICATION_ID, STORE_SCHEMA);
	rc = sqlite3_exec(db, pragmas, NULL, NULL, NULL);
	if (!rc)
		rc = sqlite3_exec(db, schema_meta_sql, NULL, NULL, NULL);
	if (!rc)
		rc = sqlite3_exec(db, schema_losses_sql, NULL, NULL, NULL);
	for (size_t i = 0; i < NTABLES && !rc; i++)
		rc = create_table(db, tables[i], false);
	if (!rc)
		rc = create_index(db, "main", schema_phases_index_sql);
	if (!rc)
		rc = create_index(db, "main", schema_samples_index_sql);
	if (!rc)
		rc = create_index(db, "main", schema_verdicts_index_sql);
	if (!rc)
		rc = create_index(db, "main", schema_notes_index_sql);
	if (!rc)
		rc = create_index(db, "main", schema_output_index_sql);
	for (int i = 0; views_sql[i] && !rc; i++)
		rc = sqlite3_exec(db, views_sql[i], NULL, NULL, NULL);
	return rc;
}

int schema_create_temp(sqlite3 *db)
{
	int rc = create_table(db, &schema_processes, true);

	if (!rc)
		rc = create_table(db, &schema_phases, true);
	if (!rc)
		rc = create_table(db, &schema_phase_where, true);
	if (!rc)
		rc = create_table(db, &schema_job_shares, true);
	if (!rc)
		rc = create_table(db, &schema_verdicts, true);
	if (!rc)
		rc = create_index(db, "temp", schema_phases_index_sql);
	return rc;
}

/* A view, a virtual table or computed columns in our name would run what their author likes. */
static int check_one(sqlite3 *db, const char *name, const char *want)
{
	sqlite3_stmt *st;
	const char *sql;
	int ret = -EBADMSG;

	if (sqlite3_prepare_v2(db,
			       "SELECT sql FROM main.sqlite_master WHERE type = 'table' AND "
			       "name = ?",
			       -1, &st, NULL))
		return sqlite3_errcode(db) == SQLITE_NOMEM ? -ENOMEM : -EBADMSG;
	sqlite3_bind_text(st, 1, name, -1, SQLITE_STATIC);
	if (sqlite3_step(st) == SQLITE_ROW) {
		sql = (const char *)sqlite3_column_text(st, 0);
		if (sql && !strcmp(sql, want))
			ret = 0;
	}
	if (sqlite3_finalize(st) == SQLITE_NOMEM)
		ret = -ENOMEM;
	return ret;
}

int schema_check(sqlite3 *db, const char **bad)
{
	int ret;

	*bad = "meta";
	ret = check_one(db, *bad, schema_meta_sql);
	if (ret)
		return ret;
	*bad = "losses";
	ret = check_one(db, *bad, schema_losses_sql);
	for (size_t i = 0; i < NTABLES && !ret; i++) {
		char *sql = table_create_sql(tables[i], false);

		*bad = tables[i]->name;
		ret = sql ? check_one(db, *bad, sql) : -ENOMEM;
		free(sql);
	}
	return ret;
}
