/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "store/views.h"

#include <stddef.h>

/* clang-format off */

/*
 * Bytes as text. What could steer a terminal (control characters, NUL) is shown as an SQL blob
 * literal, X'1B5B…', which gives the bytes back when it is pasted into a query.
 */
#define SAFE_TEXT(b) \
	"CASE WHEN instr(" b ", x'00') OR CAST(" b " AS TEXT) GLOB " \
	"'*[' || char(1) || '-' || char(31) || char(127) || '-' || char(159) || ']*' " \
	"THEN quote(" b ") ELSE CAST(" b " AS TEXT) END"

#define MIB(x) "round((" x ") / 1048576.0, 1)"

static const char labels[] =
	"CREATE VIEW labelled AS SELECT p.*, "
	"CASE kind WHEN 3 THEN '(startup)' WHEN 4 THEN '(between)' WHEN 5 THEN '(after)' "
	"ELSE " SAFE_TEXT("label") " || CASE WHEN label_flags & 1 THEN '…' ELSE '' END END AS label_text, "
	"CASE kind WHEN 1 THEN 'checkpoint' WHEN 2 THEN 'span' WHEN 3 THEN 'startup' "
	"WHEN 4 THEN 'between' WHEN 5 THEN 'after' END AS kind_text, "
	"CASE ended_by WHEN 1 THEN 'mark' WHEN 2 THEN 'end' WHEN 3 THEN 'exit' WHEN 4 THEN 'exec' "
	"WHEN 5 THEN 'signal' WHEN 6 THEN 'oom' WHEN 7 THEN 'trace' END AS ended_by_text "
	"FROM phases p";

/*
 * Innermost phase open at the peak: of those open in its window, a real one, begun last.
 * LIMIT -1 keeps SQLite from evaluating the subquery anew for each phase of a join.
 */
static const char owners[] =
	"CREATE VIEW owners AS SELECT q.mm_id, q.pid, "
	SAFE_TEXT("q.comm") " AS command, "
	MIB("q.peak_bytes") " AS peak_mib, "
	"(q.peak_at_ns - q.start_ns) / 1e9 AS at_s, "
	"(SELECT o.id FROM phases o WHERE o.mm_id = q.mm_id "
	"AND o.start_win < q.peak_win AND o.end_win >= q.peak_win "
	"ORDER BY o.kind >= 3, o.start_win DESC, o.end_win, o.id DESC LIMIT 1) AS phase_id "
	"FROM processes q LIMIT -1";

static const char report[] =
	"CREATE VIEW report AS SELECT l.id, l.pid, l.tid, l.label_text AS phase, l.kind_text AS kind, "
	"round((l.end_ns - l.start_ns) / 1e9, 3) AS time_s, "
	MIB("l.peak_bytes") " AS peak_mib, "
	MIB("l.grew_bytes") " AS grew_mib, "
	MIB("l.end_bytes - l.start_bytes") " AS kept_mib, "
	MIB("l.peak_bytes - max(l.start_bytes, l.end_bytes)") " AS spike_mib, "
	"l.faults_minor + l.faults_major AS faults, l.ended_by_text AS ended_by, "
	"l.id = o.phase_id AS owns_peak, l.exact, l.lost "
	"FROM labelled l JOIN owners o USING (mm_id) "
	"ORDER BY l.mm_id, l.start_win, l.end_win > l.start_win, l.end_win DESC, l.id";

const char *const views_sql[] = {labels, owners, report, NULL};
