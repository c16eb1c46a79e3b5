/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Processes and phases made by hand, as a source of reports. */
#ifndef PEAKPHASE_TESTS_VIEW_FAKE_H
#define PEAKPHASE_TESTS_VIEW_FAKE_H

#include <string.h>

#include "view/source.h"

#define FAKE_MIB (1024ull * 1024)
#define FAKE_MS 1000000ull
#define FAKE_T0 (5000 * FAKE_MS) /* start of the first process */

struct fake {
	struct report_run run;
	struct process processes[64];
	struct phase phases[64];
	struct job_share shares[8];
	struct cgroup cgroups[4];
	struct verdict verdicts[8];
	struct unheard unheard[8];
	struct note notes[8];
	const char *texts[8]; /* of the notes, by first_id */
	size_t nprocesses, nphases, nshares, ncgroups, nverdicts, nunheard, nnotes;
	int fail; /* what each_phase returns after its first row; 0: goes on */
};

static inline int fake_each_process(void *ctx, report_process_fn fn, void *arg)
{
	struct fake *f = ctx;
	int err = 0;

	for (size_t i = 0; i < f->nprocesses && !err; i++)
		err = fn(arg, &f->processes[i]);
	return err;
}

static inline int fake_each_phase(void *ctx, uint64_t mm_id, report_phase_fn fn, void *arg)
{
	struct fake *f = ctx;
	int err = 0;

	for (size_t i = 0; i < f->nphases && !err; i++) {
		if (f->phases[i].mm_id != mm_id)
			continue;
		err = fn(arg, &f->phases[i]);
		if (!err && f->fail)
			err = f->fail;
	}
	return err;
}

static inline int fake_phases_at(void *ctx, uint64_t mm_id, uint64_t win, report_phase_fn fn,
				 void *arg)
{
	struct fake *f = ctx;
	int err = 0;

	for (size_t i = 0; i < f->nphases && !err; i++) {
		const struct phase *ph = &f->phases[i];

		if (ph->mm_id == mm_id && ph->start_win < win && win <= ph->end_win)
			err = fn(arg, ph);
	}
	return err;
}

static inline int fake_phases_at_time(void *ctx, uint64_t mm_id, uint64_t ns, report_phase_fn fn,
				      void *arg)
{
	struct fake *f = ctx;
	int err = 0;

	for (size_t i = 0; i < f->nphases && !err; i++) {
		const struct phase *ph = &f->phases[i];

		if (ph->mm_id == mm_id && ph->start_ns < ns && ns <= ph->end_ns)
			err = fn(arg, ph);
	}
	return err;
}

/* Rising evenly within each phase. */
static inline int fake_rss_at(void *ctx, uint64_t mm_id, uint64_t from_ns, uint64_t to_ns,
			      uint64_t *bytes)
{
	struct fake *f = ctx;
	int told = 0;

	for (size_t i = 0; i < f->nphases; i++) {
		const struct phase *ph = &f->phases[i];
		double part;

		if (ph->mm_id != mm_id || ph->start_ns >= to_ns || to_ns > ph->end_ns ||
		    from_ns >= to_ns)
			continue;
		part = (double)(to_ns - ph->start_ns) / (double)(ph->end_ns - ph->start_ns);
		*bytes =
		    ph->start_bytes +
		    (uint64_t)(int64_t)(part * (double)(int64_t)(ph->end_bytes - ph->start_bytes));
		told = 1;
	}
	return told;
}

static inline int fake_each_share(void *ctx, report_share_fn fn, void *arg)
{
	struct fake *f = ctx;
	int err = 0;

	for (size_t i = 0; i < f->nshares && !err; i++)
		err = fn(arg, &f->shares[i]);
	return err;
}

static inline int fake_phases_of_headroom(void *ctx, uint64_t mm_id, uint64_t headroom_min,
					  report_phase_fn fn, void *arg)
{
	struct fake *f = ctx;
	int err = 0;

	for (size_t i = 0; i < f->nphases && !err; i++)
		if (f->phases[i].mm_id == mm_id && f->phases[i].headroom_min == headroom_min)
			err = fn(arg, &f->phases[i]);
	return err;
}

static inline int fake_implied_from(void *ctx, uint64_t mm_id, uint64_t win, struct phase *out)
{
	const struct fake *f = ctx;

	for (size_t i = 0; i < f->nphases; i++) {
		*out = f->phases[i];
		if (out->mm_id == mm_id && out->start_win == win && out->kind >= PH_STARTUP)
			return 1;
	}
	return 0;
}

static inline int fake_cgroup(void *ctx, uint64_t id, struct cgroup *out)
{
	struct fake *f = ctx;

	for (size_t i = 0; i < f->ncgroups; i++) {
		if (f->cgroups[i].id != id)
			continue;
		*out = f->cgroups[i];
		return 1;
	}
	return 0;
}

static inline int fake_each_unheard(void *ctx, report_unheard_fn fn, void *arg)
{
	struct fake *f = ctx;
	int err = 0;

	for (size_t i = 0; i < f->nunheard && !err; i++)
		err = fn(arg, &f->unheard[i]);
	return err;
}

static inline int fake_each_verdict(void *ctx, uint64_t mm_id, report_verdict_fn fn, void *arg)
{
	struct fake *f = ctx;
	int err = 0;

	for (size_t i = 0; i < f->nverdicts && !err; i++)
		if (!mm_id || f->verdicts[i].mm_id == mm_id)
			err = fn(arg, &f->verdicts[i]);
	return err;
}

static inline int fake_each_note(void *ctx, uint64_t mm_id, report_note_fn fn, void *arg)
{
	struct fake *f = ctx;
	int err = 0;

	for (size_t i = 0; i < f->nnotes && !err; i++)
		if (f->notes[i].mm_id == mm_id)
			err = fn(arg, &f->notes[i]);
	return err;
}

static inline int fake_note_text(void *ctx, const struct note *n, char *buf)
{
	struct fake *f = ctx;

	memcpy(buf, f->texts[n->first_id], n->bytes);
	return 0;
}

static inline struct report_source fake_source(struct fake *f)
{
	return (struct report_source){
	    .ctx = f,
	    .run = &f->run,
	    .each_process = fake_each_process,
	    .each_phase = fake_each_phase,
	    .phases_at = fake_phases_at,
	    .phases_of_headroom = fake_phases_of_headroom,
	    .phases_at_time = fake_phases_at_time,
	    .rss_at = fake_rss_at,
	    .each_share = fake_each_share,
	    .implied_from = fake_implied_from,
	    .cgroup = fake_cgroup,
	    .each_verdict = fake_each_verdict,
	    .each_unheard = fake_each_unheard,
	    .each_note = fake_each_note,
	    .note_text = fake_note_text,
	};
}

static inline void fake_init(struct fake *f)
{
	memset(f, 0, sizeof(*f));
	f->run = (struct report_run){
	    .version = "0.1.0",
	    .kernel = "6.18.0",
	    .machine = "x86_64",
	    .mode = "run",
	    .command = "python3 etl.py",
	    .counters = "percpu",
	    .probe = "nop5",
	    .wall_ns = 1700000000000000000ull,
	    .mono_ns = FAKE_T0 - FAKE_MS,
	    .end_ns = FAKE_T0 + 13000 * FAKE_MS,
	    .exact = true,
	    .finished = true,
	};
}

/* args: with '|' between. Times in ms from the first process's start. */
static inline struct process *fake_process(struct fake *f, uint32_t pid, const char *args,
					   uint64_t start_ms, uint64_t end_ms)
{
	struct process *p = &f->processes[f->nprocesses++];

	p->mm_id = f->nprocesses;
	p->pid = p->ns_pid = pid;
	p->ppid = 1;
	p->start_ns = FAKE_T0 + start_ms * FAKE_MS;
	p->end_ns = FAKE_T0 + end_ms * FAKE_MS;
	p->reason = PP_BY_EXEC;
	strcpy(p->comm, "python3");
	p->args_len = (uint32_t)strlen(args);
	for (uint32_t i = 0; i < p->args_len; i++)
		p->args[i] = args[i] == '|' ? '\0' : args[i];
	p->charge_peak = p->limit = p->headroom_min = EV_NONE;
	p->exact = true;
	p->exit = PX_EXIT;
	return p;
}

static inline void fake_label(struct phase *ph, const char *bytes, size_t len)
{
	ph->label.len = (uint16_t)len;
	memcpy(ph->label.bytes, bytes, len);
	ph->label.hash = 0xcbf29ce484222325;
}

/*
 * A phase of the process made last: windows (from, to], times in ms, bytes in MiB. grew is what it
 * kept plus what it freed; the caller changes what it wants otherwise.
 */
static inline struct phase *fake_phase(struct fake *f, enum phase_kind kind, const char *label,
				       uint64_t from, uint64_t to, uint64_t start_ms,
				       uint64_t end_ms, uint64_t start, uint64_t end, uint64_t peak)
{
	struct process *p = &f->processes[f->nprocesses - 1];
	struct phase *ph = &f->phases[f->nphases++];

	ph->id = f->nphases;
	ph->mm_id = p->mm_id;
	ph->pid = ph->tid = p->pid;
	ph->kind = kind;
	ph->ended_by = kind == PH_SPAN ? PH_BY_END : kind == PH_AFTER ? PH_BY_EXIT : PH_BY_MARK;
	if (label)
		fake_label(ph, label, strlen(label));
	ph->start_ns = FAKE_T0 + start_ms * FAKE_MS;
	ph->end_ns = FAKE_T0 + end_ms * FAKE_MS;
	ph->start_win = from;
	ph->end_win = to;
	ph->start_bytes = start * FAKE_MIB;
	ph->end_bytes = end * FAKE_MIB;
	ph->peak.bytes = peak * FAKE_MIB;
	ph->peak.at_ns = FAKE_T0 + end_ms * FAKE_MS;
	ph->peak.members.m[PP_FILE] = 4 * FAKE_MIB;
	ph->peak.members.m[PP_ANON] = (peak - 4) * FAKE_MIB;
	ph->anon_peak = ph->peak.members.m[PP_ANON];
	ph->file_peak = ph->peak.members.m[PP_FILE];
	ph->peak.members_exact = true;
	ph->peak.win = to;
	ph->grew_bytes = (peak > start ? peak - start : 0) * FAKE_MIB;
	ph->shrank_bytes = ph->grew_bytes - (end - start) * FAKE_MIB;
	ph->faults_minor = peak * 250;
	ph->charge_peak = ph->limit = ph->headroom_min = EV_NONE;
	ph->exact = true;
	if (peak * FAKE_MIB > p->peak.bytes)
		p->peak = ph->peak;
	p->windows = to + 1;
	p->phases++;
	return ph;
}

/* Nothing ended it: what it grew by is known only in part, or not at all. */
static inline void fake_open(struct phase *ph, uint64_t grew)
{
	ph->ended_by = PH_BY_TRACE;
	ph->grew_bytes = grew ? grew * FAKE_MIB : EV_NONE;
	ph->shrank_bytes = ph->faults_minor = ph->faults_major = EV_NONE;
	ph->exact = false;
}

/* Of the process made last, at its end, in window win. */
static inline struct verdict *fake_verdict(struct fake *f, enum verdict_kind kind, uint64_t win)
{
	const struct process *p = &f->processes[f->nprocesses - 1];
	struct verdict *v = &f->verdicts[f->nverdicts++];

	v->id = f->nverdicts;
	v->kind = kind;
	v->at_ns = p->end_ns;
	v->mm_id = p->mm_id;
	v->win = win;
	v->pid = p->pid;
	v->traced = true;
	memcpy(v->comm, p->comm, sizeof(v->comm));
	v->signal = kind == VD_OOM || kind == VD_SIGNAL ? p->status : 0;
	v->members = p->peak.members;
	v->charge = v->limit_usage = EV_NONE;
	v->limit = p->limit;
	v->limit_level = p->limit_level;
	v->phase_kind = PH_AFTER;
	v->held = (struct verdict_held){0, EV_NONE, EV_NONE, EV_NONE, EV_NONE};
	return v;
}

/* A pipeline of one process: design.md's example. */
static inline void fake_pipeline(struct fake *f)
{
	fake_init(f);
	fake_process(f, 4242, "python3|etl.py", 0, 13000);
	fake_phase(f, PH_STARTUP, NULL, 0, 1, 0, 310, 4, 48, 48);
	fake_phase(f, PH_SPAN, "transform:users", 1, 2, 310, 1550, 48, 256, 285);
	fake_phase(f, PH_BETWEEN, NULL, 2, 3, 1550, 1551, 256, 256, 256);
	fake_phase(f, PH_SPAN, "transform:memberships", 3, 8, 1551, 9571, 256, 376, 3224);
	fake_phase(f, PH_SPAN, "load:memberships", 3, 5, 1551, 3000, 256, 300, 310)->depth = 1;
	fake_phase(f, PH_SPAN, "join", 5, 8, 3000, 9500, 300, 376, 3224)->depth = 1;
	fake_phase(f, PH_CHECKPOINT, "hook:PRE_PUSH:add_memberships", 8, 9, 9571, 12408, 376, 380,
		   402);
	fake_phase(f, PH_AFTER, NULL, 9, 10, 12408, 13000, 380, 12, 380);
	f->run.job = (struct job){
	    .most_live = 1,
	    .sum_bytes = 3224 * FAKE_MIB,
	    .sum_at_ns = FAKE_T0 + 9500 * FAKE_MS,
	    .charge_bytes = EV_NONE,
	};
	f->shares[f->nshares++] = (struct job_share){1, 3224 * FAKE_MIB};
}

/* On the last process, at a time of ms after T0. */
static inline struct note *fake_note(struct fake *f, uint64_t ms, uint32_t tid, const char *text)
{
	struct note *n = &f->notes[f->nnotes];

	*n = (struct note){
	    .mm_id = f->processes[f->nprocesses - 1].mm_id,
	    .pid = f->processes[f->nprocesses - 1].pid,
	    .tid = tid,
	    .time_ns = FAKE_T0 + ms * FAKE_MS,
	    .flags = PP_NOTE_LAST,
	    .bytes = (uint32_t)strlen(text),
	    .first_id = f->nnotes,
	};
	f->texts[f->nnotes++] = text;
	return n;
}

/* Everything that has a mark of its own: several processes, losses, bounds, ends of every kind. */
static inline void fake_trouble(struct fake *f)
{
	static const struct phase_where where[] = {
	    {PP_MAP_HEAP, "", 610}, {PP_MAP_ANON, "", 300}, {PP_MAP_FILE, "libfoo\033.so", 90}};
	struct process *p;
	struct phase *ph;

	fake_init(f);
	f->run.exact = false;
	f->run.error_per_thread = 64 * 4096;
	f->run.where_every = 64;
	f->run.losses[PP_LOSS_EDGES] = 3;
	f->run.losses[PP_LOSS_SAMPLES] = 12;
	p = fake_process(f, 100, "sh|-c|python3 etl.py; exit 3", 0, 13000);
	p->status = 3;
	fake_phase(f, PH_STARTUP, NULL, 0, 1, 0, 13000, 2, 2, 5)->ended_by = PH_BY_EXIT;

	p = fake_process(f, 101, "python3|etl.py", 20, 9000);
	p->ns_pid = 7;
	p->ppid = 100;
	p->reason = PP_BY_FORK;
	p->inherited_bytes = 2 * FAKE_MIB;
	p->exit = PX_SIGNAL;
	p->status = 9;
	p->exact = false;
	p->lost = 3;
	p->bad_ends = 2;
	p->error_bytes = 2 * FAKE_MIB;
	p->ext_shrank_bytes = 7 * FAKE_MIB;
	p->charge_peak = 700 * FAKE_MIB;
	p->limit = 1024 * FAKE_MIB;
	p->headroom_min = 324 * FAKE_MIB;
	p->limit_level = 1;
	fake_phase(f, PH_STARTUP, NULL, 0, 1, 20, 100, 2, 20, 20)->exact = false;
	ph = fake_phase(f, PH_SPAN, "left", 1, 5, 100, 700, 20, 20, 320);
	ph->overlaps = true;
	ph->exact = false;
	ph->lost = 3;
	ph->where = where;
	ph->nwhere = 3;
	ph = fake_phase(f, PH_SPAN, "right\033[2J", 2, 4, 200, 500, 220, 220, 320);
	ph->tid = 102;
	ph->overlaps = true;
	ph->headroom_min = 324 * FAKE_MIB;
	ph = fake_phase(f, PH_SPAN, "(startup)", 5, 6, 700, 9000, 20, 90, 90);
	ph->ended_by = PH_BY_SIGNAL;
	p->peak.win = 4;
	fake_verdict(f, VD_SIGNAL, 6);

	p = fake_process(f, 103, "", 5000, 6000);
	p->reason = PP_BY_FORK;
	p->ppid = 101;
	p->exit = PX_EXEC;
	ph = fake_phase(f, PH_SPAN, "before_exec", 0, 1, 5000, 6000, 20, 60, 60);
	ph->ended_by = PH_BY_EXEC;

	p = fake_process(f, 103, "sleep|99", 6000, 6000);
	p->end_ns = 0;
	p->exit = PX_RUNNING;
	fake_phase(f, PH_STARTUP, NULL, 0, 1, 6000, 13000, 1, 1, 5)->ended_by = PH_BY_TRACE;

	f->run.job = (struct job){
	    .most_live = 3,
	    .sum_bytes = 325 * FAKE_MIB,
	    .sum_at_ns = FAKE_T0 + 400 * FAKE_MS,
	    .sum_error_bytes = 6 * FAKE_MIB,
	    .charge_bytes = 700 * FAKE_MIB,
	    .charge_at_ns = FAKE_T0 + 5500 * FAKE_MS,
	    .charge_mm_id = 2,
	};
	f->shares[f->nshares++] = (struct job_share){2, 320 * FAKE_MIB};
	f->shares[f->nshares++] = (struct job_share){1, 5 * FAKE_MIB};
}

/* A script that starts many small processes, and one that is not small. */
static inline void fake_storm(struct fake *f)
{
	struct process *p;
	uint64_t at = 10;

	fake_init(f);
	fake_process(f, 100, "bash|build.sh", 0, 900);
	fake_phase(f, PH_STARTUP, NULL, 0, 1, 0, 900, 2, 3, 3)->ended_by = PH_BY_EXIT;
	for (uint32_t i = 0; i < 24; i++, at += 20) {
		p = fake_process(f, 101 + i, "", at, at + 1 + i % 3);
		strcpy(p->comm, i < 20 ? "ba\033sh" : i < 23 ? "ld" : "cc1");
		p->exit = i < 10 ? PX_EXEC : PX_EXIT;
		fake_phase(f, PH_STARTUP, NULL, 0, 1, at, at + 1 + i % 3, 0, 1, 4 + i % 5)
		    ->ended_by = i < 10 ? PH_BY_EXEC : PH_BY_EXIT;
	}
	/* Not rolled up: marked; killed; longer than a second; the largest. */
	p = fake_process(f, 200, "", at, at + 9);
	strcpy(p->comm, "ba\033sh");
	fake_phase(f, PH_CHECKPOINT, "marked", 0, 1, at, at + 9, 1, 1, 5);
	p = fake_process(f, 201, "", at, at + 9);
	strcpy(p->comm, "ba\033sh");
	p->exit = PX_SIGNAL;
	p->status = 15;
	fake_phase(f, PH_STARTUP, NULL, 0, 1, at, at + 9, 1, 1, 5)->ended_by = PH_BY_SIGNAL;
	p = fake_process(f, 202, "", at, at + 1000);
	strcpy(p->comm, "ba\033sh");
	fake_phase(f, PH_STARTUP, NULL, 0, 1, at, at + 1000, 1, 1, 5)->ended_by = PH_BY_EXIT;
	p = fake_process(f, 203, "", at, at + 9);
	strcpy(p->comm, "ba\033sh");
	fake_phase(f, PH_STARTUP, NULL, 0, 1, at, at + 9, 1, 1, 90)->ended_by = PH_BY_EXIT;
}

/* Labels of case D1. */
static inline void fake_labels(struct fake *f)
{
	struct phase *ph;
	uint64_t w = 0;
	char x[PP_LABEL_MAX];

	fake_init(f);
	fake_process(f, 4242, "./labels", 0, 100);
#define FAKE_LABEL(s) fake_phase(f, PH_CHECKPOINT, s, w, w + 1, w, w + 1, 10, 10, 10), w++
	FAKE_LABEL("a b");
	FAKE_LABEL("größe 日本");
	FAKE_LABEL("a]b [c] \"q\" \\ %s");
	FAKE_LABEL("tab\tnewline\n");
	FAKE_LABEL("");
	FAKE_LABEL("(after)");
	FAKE_LABEL("\xff\xfe bytes");
	FAKE_LABEL("\033]0;pwned\007\xc2\x9b"
		   "2J");
	FAKE_LABEL("rtl \u202egnp.exe");
#undef FAKE_LABEL
	ph = fake_phase(f, PH_CHECKPOINT, NULL, w, w + 1, w, w + 1, 10, 10, 10), w++;
	ph->label.flags = PP_LABEL_NULL;
	ph = fake_phase(f, PH_CHECKPOINT, NULL, w, w + 1, w, w + 1, 10, 10, 10), w++;
	ph->label.flags = PP_LABEL_UNREADABLE;
	ph = fake_phase(f, PH_CHECKPOINT, "at a page ed", w, w + 1, w, w + 1, 10, 10, 10), w++;
	ph->label.flags = PP_LABEL_UNREADABLE;
	memset(x, 'x', sizeof(x));
	for (int i = 0; i < 2; i++) {
		memcpy(x + sizeof(x) - 2, "\xe6\x97", 2); /* half of a character */
		ph = fake_phase(f, PH_CHECKPOINT, NULL, w, w + 1, w, w + 1, 10, 10, 10), w++;
		fake_label(ph, x, sizeof(x));
		ph->label.flags = PP_LABEL_CUT;
		ph->label.hash += (uint64_t)i;
	}
}

#endif
