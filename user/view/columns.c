/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "view/columns.h"

#include <string.h>

static struct value none(void)
{
	return (struct value){.kind = VALUE_NONE};
}

static struct value u64(uint64_t u)
{
	return (struct value){.kind = VALUE_U64, .u = u};
}

static struct value known(uint64_t u)
{
	return u == EV_NONE ? none() : u64(u);
}

static struct value i64(int64_t i)
{
	return (struct value){.kind = VALUE_I64, .i = i};
}

static struct value boolean(bool b)
{
	return (struct value){.kind = VALUE_BOOL, .b = b};
}

static struct value text(const char *s)
{
	return (struct value){.kind = s ? VALUE_TEXT : VALUE_NONE, .text = s};
}

/* A second, over the time of the phase. */
static struct value rate(uint64_t n, const struct phase *ph)
{
	uint64_t ns = ph->end_ns > ph->start_ns ? ph->end_ns - ph->start_ns : 0;

	return ns && n != EV_NONE ? u64((uint64_t)((unsigned __int128)n * 1000000000u / ns))
				  : none();
}

static uint64_t faults_of(const struct phase *ph)
{
	return ph->faults_minor == EV_NONE ? EV_NONE : ph->faults_minor + ph->faults_major;
}

#define PHASE_VALUE(name, expr)                                                                    \
	static struct value phase_##name(const struct row *r)                                      \
	{                                                                                          \
		return expr;                                                                       \
	}
#define PROCESS_VALUE(name, expr)                                                                  \
	static struct value process_##name(const struct row *r)                                    \
	{                                                                                          \
		return expr;                                                                       \
	}

static struct value phase_label(const struct row *r)
{
	(void)r;
	return (struct value){.kind = VALUE_LABEL};
}

/* Only where the label alone does not tell the bytes. */
static struct value phase_label_hex(const struct row *r)
{
	const struct ev_label *l = &r->ph->label;

	if (view_implied_name(r->ph->kind) || !l->len)
		return none();
	if (!(l->flags & (PP_LABEL_CUT | PP_LABEL_UNREADABLE)) && text_is_utf8(l->bytes, l->len))
		return none();
	return (struct value){.kind = VALUE_HEX};
}

static struct value phase_label_state(const struct row *r)
{
	if (view_implied_name(r->ph->kind))
		return none();
	if (r->ph->label.flags & PP_LABEL_NULL)
		return text("null");
	return text(r->ph->label.flags & PP_LABEL_UNREADABLE ? "unreadable" : NULL);
}

static struct value phase_kind(const struct row *r)
{
	switch (r->ph->kind) {
	case PH_CHECKPOINT:
		return text("checkpoint");
	case PH_SPAN:
		return text("span");
	case PH_STARTUP:
		return text("startup");
	case PH_BETWEEN:
		return text("between");
	case PH_AFTER:
		return text("after");
	}
	return none();
}

static struct value phase_ended_by(const struct row *r)
{
	switch (r->ph->ended_by) {
	case PH_BY_MARK:
		return text("mark");
	case PH_BY_END:
		return text("end");
	case PH_BY_EXIT:
		return text("exit");
	case PH_BY_EXEC:
		return text("exec");
	case PH_BY_SIGNAL:
		return text("signal");
	case PH_BY_OOM:
		return text("oom");
	case PH_BY_TRACE:
		return text("trace");
	}
	return none();
}

static struct value phase_origin(const struct row *r)
{
	switch (r->ph->origin) {
	case PH_IMPLIED:
		return none();
	case PH_FROM_CALL:
		return text("call");
	case PH_FROM_OUTPUT:
		return text("output");
	}
	return none();
}

static struct value phase_peak_members(const struct row *r)
{
	return (struct value){.kind = VALUE_MEMBERS, .members = &r->ph->peak.members};
}

static struct value phase_where(const struct row *r)
{
	return (struct value){.kind = r->run->where_every ? VALUE_WHERE : VALUE_NONE};
}

PHASE_VALUE(cut, boolean(r->ph->label.flags &PP_LABEL_CUT))
PHASE_VALUE(tid, u64(r->ph->tid))
PHASE_VALUE(start, u64(r->ph->start_ns))
PHASE_VALUE(end, u64(r->ph->end_ns))
PHASE_VALUE(time, u64(r->ph->end_ns > r->ph->start_ns ? r->ph->end_ns - r->ph->start_ns : 0))
PHASE_VALUE(start_bytes, u64(r->ph->start_bytes))
PHASE_VALUE(end_bytes, u64(r->gone ? 0 : r->ph->end_bytes))
PHASE_VALUE(peak, u64(r->ph->peak.bytes))
PHASE_VALUE(anon_peak, u64(r->ph->anon_peak))
PHASE_VALUE(file_peak, u64(r->ph->file_peak))
PHASE_VALUE(peak_at, u64(r->ph->peak.at_ns))
PHASE_VALUE(members_exact, boolean(r->ph->peak.members_exact))
PHASE_VALUE(anon, u64(r->ph->peak.members.m[PP_ANON]))
PHASE_VALUE(file, u64(r->ph->peak.members.m[PP_FILE]))
PHASE_VALUE(shmem, u64(r->ph->peak.members.m[PP_SHMEM]))
PHASE_VALUE(grew_value, known(r->ph->grew_bytes))
PHASE_VALUE(shrank, known(r->ph->shrank_bytes))
PHASE_VALUE(kept_value, i64(phase_kept(r->ph)))
PHASE_VALUE(freed_later, r->freed_later ? u64(*r->freed_later) : none())
PHASE_VALUE(spike_value, u64(phase_spike(r->ph)))
PHASE_VALUE(faults, known(faults_of(r->ph)))
PHASE_VALUE(fault_rate, rate(faults_of(r->ph), r->ph))
PHASE_VALUE(faults_minor, known(r->ph->faults_minor))
PHASE_VALUE(faults_major, known(r->ph->faults_major))
PHASE_VALUE(charge, known(r->ph->charge_peak))
PHASE_VALUE(limit, known(r->ph->limit))
PHASE_VALUE(headroom, known(r->ph->headroom_min))
PHASE_VALUE(printed, r->ph->origin == PH_FROM_OUTPUT ? known(r->ph->printed_bytes) : none())
PHASE_VALUE(depth, u64(r->ph->depth))
PHASE_VALUE(overlaps, boolean(r->ph->overlaps))
PHASE_VALUE(owns_peak, boolean(r->owner_id && r->ph->id == r->owner_id))
PHASE_VALUE(exact, boolean(r->ph->exact))
PHASE_VALUE(lost, u64(r->ph->lost))

const struct column phase_columns[] = {
    {"phase", "label", UNIT_NONE, 0, 0, phase_label},
    {NULL, "label_hex", UNIT_NONE, 0, COLUMN_OPTIONAL, phase_label_hex},
    {NULL, "label_state", UNIT_NONE, 0, COLUMN_OPTIONAL, phase_label_state},
    {NULL, "cut", UNIT_NONE, 0, 0, phase_cut},
    {NULL, "kind", UNIT_NONE, 0, 0, phase_kind},
    {NULL, "origin", UNIT_NONE, 0, COLUMN_OPTIONAL, phase_origin},
    {NULL, "tid", UNIT_NONE, 0, 0, phase_tid},
    {NULL, "start_ns", UNIT_INSTANT, 0, 0, phase_start},
    {NULL, "end_ns", UNIT_INSTANT, 0, 0, phase_end},
    {"time", NULL, UNIT_DURATION, 12, 0, phase_time},
    {NULL, "ended_by", UNIT_NONE, 0, 0, phase_ended_by},
    {NULL, "start_bytes", UNIT_BYTES, 0, 0, phase_start_bytes},
    {"now", "end_bytes", UNIT_BYTES, 9, COLUMN_LIVE, phase_end_bytes},
    {"peak MiB", "peak_bytes", UNIT_BYTES, 11, COLUMN_MARKED | COLUMN_ANSWER, phase_peak},
    {"printed", "printed_bytes", UNIT_BYTES, 10, COLUMN_OPTIONAL | COLUMN_PRINTED, phase_printed},
    {NULL, "peak_at_ns", UNIT_INSTANT, 0, 0, phase_peak_at},
    {NULL, "peak_members", UNIT_BYTES, 0, 0, phase_peak_members},
    {NULL, "members_exact", UNIT_NONE, 0, 0, phase_members_exact},
    {"anon", NULL, UNIT_BYTES, 9, COLUMN_MEMBERS, phase_anon},
    {"file", NULL, UNIT_BYTES, 9, COLUMN_MEMBERS, phase_file},
    {"shmem", NULL, UNIT_BYTES, 9, COLUMN_MEMBERS, phase_shmem},
    {"grew", "grew_bytes", UNIT_BYTES, 9, COLUMN_MARKED | COLUMN_TOTAL, phase_grew_value},
    {NULL, "shrank_bytes", UNIT_BYTES, 0, 0, phase_shrank},
    {"kept", "kept_bytes", UNIT_BYTES, 9, COLUMN_MARKED, phase_kept_value},
    {NULL, "freed_later_bytes", UNIT_BYTES, 0, COLUMN_OPTIONAL, phase_freed_later},
    {"spike", "spike_bytes", UNIT_BYTES, 9, COLUMN_MARKED | COLUMN_EXTRA, phase_spike_value},
    {"faults", NULL, UNIT_COUNT, 9, COLUMN_COUNTED | COLUMN_WIDE | COLUMN_TOTAL, phase_faults},
    {"faults/s", NULL, UNIT_COUNT, 10, COLUMN_COUNTED | COLUMN_LIVE | COLUMN_TOTAL,
     phase_fault_rate},
    {NULL, "faults_minor", UNIT_COUNT, 0, 0, phase_faults_minor},
    {NULL, "faults_major", UNIT_COUNT, 0, 0, phase_faults_major},
    {NULL, "where", UNIT_NONE, 0, COLUMN_OPTIONAL, phase_where},
    {NULL, "charge_peak_bytes", UNIT_BYTES, 0, 0, phase_charge},
    {NULL, "limit_bytes", UNIT_BYTES, 0, 0, phase_limit},
    {"headroom", "headroom_min_bytes", UNIT_BYTES, 11, COLUMN_LIMIT, phase_headroom},
    {NULL, "anon_peak_bytes", UNIT_BYTES, 0, 0, phase_anon_peak},
    {NULL, "file_peak_bytes", UNIT_BYTES, 0, 0, phase_file_peak},
    {NULL, "depth", UNIT_NONE, 0, 0, phase_depth},
    {NULL, "overlaps", UNIT_NONE, 0, 0, phase_overlaps},
    {NULL, "owns_peak", UNIT_NONE, 0, 0, phase_owns_peak},
    {NULL, "exact", UNIT_NONE, 0, 0, phase_exact},
    {NULL, "lost", UNIT_NONE, 0, 0, phase_lost},
};
const size_t phase_ncolumns = sizeof(phase_columns) / sizeof(phase_columns[0]);

static struct value process_command(const struct row *r)
{
	(void)r;
	return (struct value){.kind = VALUE_COMMAND};
}

static struct value process_container(const struct row *r)
{
	return (struct value){.kind = r->cgroup ? VALUE_CONTAINER : VALUE_NONE};
}

static struct value process_begun_by(const struct row *r)
{
	switch (r->p->reason) {
	case PP_BY_ATTACH:
		return text("attach");
	case PP_BY_EXEC:
		return text("exec");
	case PP_BY_FORK:
		return text("fork");
	case PP_BY_JOIN:
		return text("join");
	default:
		return none();
	}
}

bool untraced_before(const struct report_run *run, const struct process *p, uint64_t *ns)
{
	uint64_t start_boot_ns = p->start_ns + (run->boot_ns - run->mono_ns);

	*ns = 0;
	if (p->reason != PP_BY_ATTACH && p->reason != PP_BY_JOIN)
		return true;
	if (!run->boot_ns || !p->proc_start_boot_ns)
		return false;
	if (start_boot_ns > p->proc_start_boot_ns)
		*ns = start_boot_ns - p->proc_start_boot_ns;
	return true;
}

static struct value process_untraced(const struct row *r)
{
	uint64_t ns;

	return untraced_before(r->run, r->p, &ns) ? u64(ns) : none();
}

PROCESS_VALUE(pid, u64(r->p->pid))
PROCESS_VALUE(ns_pid, u64(r->p->ns_pid))
PROCESS_VALUE(ppid, u64(r->p->ppid))
PROCESS_VALUE(start, u64(r->p->start_ns))
PROCESS_VALUE(end, r->p->end_ns ? u64(r->p->end_ns) : none())
PROCESS_VALUE(boot, u64(r->p->proc_start_boot_ns))
PROCESS_VALUE(inherited, u64(r->p->inherited_bytes))
PROCESS_VALUE(baseline, u64(r->p->baseline_bytes))
PROCESS_VALUE(end_bytes, u64(r->p->end_bytes))
PROCESS_VALUE(error, u64(r->p->error_bytes))
PROCESS_VALUE(grew, u64(r->p->grew_bytes))
PROCESS_VALUE(shrank, u64(r->p->shrank_bytes))
PROCESS_VALUE(ext_grew, u64(r->p->ext_grew_bytes))
PROCESS_VALUE(ext_shrank, u64(r->p->ext_shrank_bytes))
PROCESS_VALUE(charge, known(r->p->charge_peak))
PROCESS_VALUE(limit, known(r->p->limit))
PROCESS_VALUE(headroom, known(r->p->headroom_min))
PROCESS_VALUE(bad_ends, u64(r->p->bad_ends))
PROCESS_VALUE(exact, boolean(r->p->exact))
PROCESS_VALUE(lost, u64(r->p->lost))

const struct column process_columns[] = {
    {"pid", "pid", UNIT_NONE, 0, 0, process_pid},
    {NULL, "ns_pid", UNIT_NONE, 0, 0, process_ns_pid},
    {NULL, "ppid", UNIT_NONE, 0, 0, process_ppid},
    {NULL, "begun_by", UNIT_NONE, 0, 0, process_begun_by},
    {NULL, "start_ns", UNIT_INSTANT, 0, 0, process_start},
    {NULL, "end_ns", UNIT_INSTANT, 0, 0, process_end},
    {NULL, "start_boot_ns", UNIT_INSTANT, 0, 0, process_boot},
    {NULL, "untraced_ns", UNIT_DURATION, 0, 0, process_untraced},
    {"command", "command", UNIT_NONE, 0, 0, process_command},
    {NULL, "container", UNIT_NONE, 0, 0, process_container},
    {NULL, "inherited_bytes", UNIT_BYTES, 0, 0, process_inherited},
    {NULL, "baseline_bytes", UNIT_BYTES, 0, 0, process_baseline},
    {NULL, "end_bytes", UNIT_BYTES, 0, 0, process_end_bytes},
    {NULL, "error_bytes", UNIT_BYTES, 0, 0, process_error},
    {NULL, "grew_bytes", UNIT_BYTES, 0, 0, process_grew},
    {NULL, "shrank_bytes", UNIT_BYTES, 0, 0, process_shrank},
    {NULL, "external_grew_bytes", UNIT_BYTES, 0, 0, process_ext_grew},
    {NULL, "external_shrank_bytes", UNIT_BYTES, 0, 0, process_ext_shrank},
    {NULL, "charge_peak_bytes", UNIT_BYTES, 0, 0, process_charge},
    {NULL, "limit_bytes", UNIT_BYTES, 0, 0, process_limit},
    {NULL, "headroom_min_bytes", UNIT_BYTES, 0, 0, process_headroom},
    {NULL, "bad_ends", UNIT_COUNT, 0, 0, process_bad_ends},
    {NULL, "exact", UNIT_NONE, 0, 0, process_exact},
    {NULL, "lost", UNIT_COUNT, 0, 0, process_lost},
};
const size_t process_ncolumns = sizeof(process_columns) / sizeof(process_columns[0]);

const struct loss_name loss_names[PP_LOSS_MAX] = {
    [PP_LOSS_EDGES] =
	{"edges",
	 "edges (marks, starts, ends): peaks are not touched, the phases around them are merged"},
    [PP_LOSS_SAMPLES] = {"samples", "points of the timeline: peaks are not touched"},
    [PP_LOSS_FAULTS] = {"faults", "sampled faults: shares of mappings are less sure"},
    [PP_LOSS_MMS] = {"processes",
		     "processes that were not traced: the table of processes was full"},
    [PP_LOSS_GROWTH] = {"growth_pages", "pages of growth that no thread could be charged with"},
    [PP_LOSS_MARKS] = {"marks", "marks that could not be read: their phases are missing"},
    [PP_LOSS_NOTES] = {"notes", "notes, or the rest of them: too many at once"},
    [PP_LOSS_OUTPUT] =
	{"output", "writes of the program that were not seen as a whole: marks may be missing"},
    [PP_LOSS_BYTES] = {"output_bytes", "bytes of the output to be kept"},
};
