/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Recordings for tests: random rows of every kind, a folder to write them in. */
#ifndef PEAKPHASE_TESTS_STORE_FIXTURE_H
#define PEAKPHASE_TESTS_STORE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "store/store.h"

struct random {
	uint64_t state;
};

static inline uint64_t rnd(struct random *r)
{
	r->state ^= r->state << 13;
	r->state ^= r->state >> 7;
	r->state ^= r->state << 17;
	return r->state;
}

static inline uint64_t rnd_below(struct random *r, uint64_t n)
{
	return rnd(r) % n;
}

/* All magnitudes, 0 and EV_NONE among them. */
static inline uint64_t rnd_u64(struct random *r)
{
	uint64_t shift = rnd_below(r, 66);

	return shift == 64 ? 0 : shift == 65 ? EV_NONE : rnd(r) >> shift;
}

static inline void rnd_fill(struct random *r, void *p, size_t words)
{
	uint64_t *u = p;

	for (size_t i = 0; i < words; i++)
		u[i] = rnd_u64(r);
}

static inline void rnd_bytes(struct random *r, char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (char)rnd(r);
}

static inline void rnd_text(struct random *r, char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (char)(1 + rnd_below(r, 255));
}

static inline void rnd_sender(struct random *r, struct ev_sender *s)
{
	s->time_ns = 1 + (rnd_u64(r) >> 1);
	s->sig = (uint32_t)rnd(r);
	s->code = (int32_t)rnd(r);
	s->pid = (uint32_t)rnd(r);
	rnd_text(r, s->comm, rnd_below(r, 17));
}

static inline void rnd_oom(struct random *r, struct ev_oom *o)
{
	memset(o, 0, sizeof(*o));
	rnd_fill(r, o, 4);
	o->hit_level = (uint32_t)rnd(r);
	o->pid = (uint32_t)rnd(r);
	o->trigger_pid = (uint32_t)rnd(r);
	o->cgroup_len = (uint32_t)rnd_below(r, EV_CGROUP_MAX + 1);
	rnd_text(r, o->comm, rnd_below(r, 17));
	rnd_text(r, o->trigger_comm, rnd_below(r, 17));
	rnd_sender(r, &o->sender);
	rnd_bytes(r, o->cgroup, o->cgroup_len);
}

static inline void rnd_label(struct random *r, struct ev_label *l)
{
	l->len = (uint16_t)rnd_below(r, PP_LABEL_MAX + 1);
	l->flags = (uint16_t)rnd(r);
	l->hash = rnd(r);
	rnd_bytes(r, l->bytes, l->len);
}

/* Only what its kind has: the rest is zero, as decode_record() leaves it. No notes: they are read
 * apart. */
static inline void rnd_event(struct random *r, struct event *ev)
{
	struct ev_edge *e = &ev->edge;

	memset(ev, 0, sizeof(*ev));
	do
		ev->kind = (enum pp_kind)(1 + rnd_below(r, PP_KIND_MAX - 1));
	while (ev->kind == PP_OUTPUT || ev->kind == PP_NOTE); /* no event; tested apart */
	ev->flags = (uint32_t)rnd(r);
	ev->time_ns = rnd_u64(r);
	ev->mm_id = 1 + rnd_below(r, 5);
	ev->pid = (uint32_t)rnd(r);
	ev->tid = (uint32_t)rnd(r);
	if (ev->kind == PP_SAMPLE) {
		rnd_fill(r, &ev->sample, sizeof(ev->sample) / 8);
		return;
	}
	if (ev->kind == PP_FAULT) {
		rnd_fill(r, &ev->fault, 3);
		ev->fault.dev = (uint32_t)rnd(r);
		ev->fault.mapping = (uint32_t)rnd_below(r, PP_MAPPING_MAX);
		rnd_text(r, ev->fault.name, rnd_below(r, PP_NAME_MAX));
		return;
	}
	rnd_fill(r, e, offsetof(struct ev_edge, limit_level) / 8);
	e->limit_level = (uint32_t)rnd(r);
	e->lost = (uint32_t)rnd(r);
	e->printed = EV_NONE;
	if (ev->kind == PP_BASE) {
		rnd_fill(r, &e->parent_mm_id, 4);
		e->ppid = (uint32_t)rnd(r);
		e->ns_pid = (uint32_t)rnd(r);
		e->reason = (uint32_t)rnd_below(r, 4);
		e->threads = (uint32_t)rnd(r);
		e->args_len = (uint32_t)rnd_below(r, PP_ARGS_MAX + 1);
		rnd_bytes(r, e->args, e->args_len);
		rnd_text(r, e->comm, rnd_below(r, 17));
	} else if (ev->kind == PP_EXIT) {
		e->exit_code = (uint32_t)rnd(r);
		e->exit_flags = (uint32_t)rnd(r);
		rnd_sender(r, &e->sender);
	} else if (ev->kind == PP_EXEC) {
		e->exit_code = (uint32_t)rnd(r);
	} else if (ev->kind == PP_OOM || ev->kind == PP_OOM_OTHER) {
		rnd_oom(r, &e->oom);
	} else if (ev->kind <= PP_END) {
		e->token = rnd_u64(r);
		e->threads_now = (uint32_t)rnd(r);
		e->printed = rnd_u64(r);
		rnd_label(r, &e->label);
	}
}

static inline void rnd_phase(struct random *r, struct phase *p, uint64_t id, uint64_t mm_id)
{
	memset(p, 0, sizeof(*p));
	rnd_fill(r, &p->token, (offsetof(struct phase, depth) - offsetof(struct phase, token)) / 8);
	p->id = id;
	p->mm_id = mm_id;
	p->pid = (uint32_t)rnd(r);
	p->tid = (uint32_t)rnd(r);
	p->kind = (enum phase_kind)(1 + rnd_below(r, PH_AFTER));
	p->ended_by = (enum phase_ended)(1 + rnd_below(r, PH_BY_TRACE));
	p->origin = (enum phase_origin)rnd_below(r, PH_FROM_OUTPUT + 1);
	rnd_label(r, &p->label);
	p->start_win = rnd_below(r, 100);
	p->end_win = p->start_win + rnd_below(r, 20);
	memset(&p->peak, 0, sizeof(p->peak)); /* its padding too */
	rnd_fill(r, &p->peak, offsetof(struct peak, members_exact) / 8);
	p->peak.members_exact = rnd(r) & 1;
	p->peak.win = rnd_u64(r);
	p->depth = (uint32_t)rnd(r);
	p->overlaps = rnd(r) & 1;
	p->exact = rnd(r) & 1;
	p->lost = (uint32_t)rnd(r);
	p->threads = (uint32_t)rnd(r);
}

static inline void rnd_process(struct random *r, struct process *p, uint64_t mm_id)
{
	memset(p, 0, sizeof(*p));
	rnd_fill(r, &p->inherited_bytes,
		 (offsetof(struct process, peak) - offsetof(struct process, inherited_bytes)) / 8);
	rnd_fill(r, &p->charge_peak, 3);
	p->mm_id = mm_id;
	p->parent_mm_id = rnd_u64(r);
	p->pid = (uint32_t)rnd(r);
	p->proc_start_boot_ns = rnd_u64(r);
	p->cgroup_id = rnd_u64(r);
	p->start_ns = rnd_u64(r) >> 1;
	p->reason = (uint32_t)rnd(r);
	rnd_text(r, p->comm, rnd_below(r, 17));
	p->args_len = (uint32_t)rnd_below(r, PP_ARGS_MAX + 1);
	rnd_bytes(r, p->args, p->args_len);
	p->peak.bytes = rnd_u64(r);
	p->peak.win = rnd_u64(r);
	p->phases = rnd_u64(r);
	p->exact = rnd(r) & 1;
	p->exit = (enum process_exit)(1 + rnd_below(r, PX_EXEC));
	p->status = (uint32_t)rnd(r);
}

/* A plain story: a base, marks 1 ms apart, each a phase of its own. */
static inline void plain_edge(struct event *ev, enum pp_kind kind, uint64_t seq, const char *label)
{
	uint64_t rss = (16 + seq % 7) << 20;

	memset(ev, 0, sizeof(*ev));
	ev->kind = kind;
	ev->time_ns = 1000000000 + seq * 1000000;
	ev->mm_id = 1;
	ev->pid = ev->tid = 4242;
	ev->edge.now.m[PP_ANON] = rss;
	ev->edge.win = (struct ev_window){.seq = seq,
					  .max = rss + 4096,
					  .max_at_ns = ev->time_ns - 500,
					  .min = rss - 4096,
					  .charge_max = EV_NONE,
					  .limiter_max = EV_NONE};
	ev->edge.win.max_members.m[PP_ANON] = rss + 4096;
	ev->edge.win.member_max = ev->edge.win.max_members;
	ev->edge.charge = ev->edge.limit = ev->edge.limiter = EV_NONE;
	ev->edge.peak = 23ull << 20;
	ev->edge.thread_grew = ev->edge.mm_grew = seq << 20;
	ev->edge.printed = EV_NONE;
	ev->edge.label.len = (uint16_t)strlen(label);
	memcpy(ev->edge.label.bytes, label, strlen(label));
	if (kind == PP_BASE) {
		ev->edge.reason = PP_BY_EXEC;
		ev->edge.threads = 1;
		ev->edge.start_ns = ev->time_ns;
		strcpy(ev->edge.comm, "plain");
	}
}

static inline void no_base_extras(struct event *ev)
{
	if (ev->kind != PP_MARK)
		memset(&ev->edge.label, 0, sizeof(ev->edge.label));
}

static inline struct run_info plain_info(void)
{
	return (struct run_info){.version = "0.1.0",
				 .kernel = "6.18.0",
				 .machine = "x86_64",
				 .command = "plain \xff --job",
				 .mode = "run",
				 .options = "{\"where\":true}",
				 .counters = "percpu",
				 .probe = "nop5",
				 .wall_ns = 1700000000000000000,
				 .mono_ns = 1000000000,
				 .boot_ns = 4000000000,
				 .boot_id_hash = UINT64_MAX - 1,
				 .page_size = 4096,
				 .cpus = 2,
				 .where_every = 64,
				 .exact = true};
}

struct folder {
	char dir[64];
	char file[96];
};

static inline void folder_make(struct folder *f)
{
	strcpy(f->dir, "/tmp/peakphase-store-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	assert_return_code(chmod(f->dir, 0755), errno);
	snprintf(f->file, sizeof(f->file), "%s/r.peak", f->dir);
}

static inline bool folder_has(const struct folder *f, const char *suffix)
{
	char name[128];

	snprintf(name, sizeof(name), "%s%s", f->file, suffix);
	return !access(name, F_OK);
}

static inline void folder_remove(struct folder *f)
{
	static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
	char name[128];

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		snprintf(name, sizeof(name), "%s%s", f->file, suffixes[i]);
		unlink(name);
	}
	assert_return_code(rmdir(f->dir), errno);
}

static inline uint64_t clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Status of a child that runs fn: a failed assertion in it would be lost, so fn returns 0 if well.
 */
static inline int in_child(int (*fn)(void *), void *ctx)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid)
		_exit(fn(ctx));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* n marks with their phases; an unfinished end when finish is false (the writer is not closed). */
static inline int write_plain(const char *path, unsigned n)
{
	struct run_info info = plain_info();
	struct run_end end = {.end_ns = 5000000000, .status = 0, .counts = {.edges = n + 1}};
	struct process p = {.mm_id = 1,
			    .pid = 4242,
			    .start_ns = 1000000000,
			    .comm = "plain",
			    .exit = PX_EXIT,
			    .charge_peak = EV_NONE,
			    .limit = EV_NONE,
			    .headroom_min = EV_NONE};
	struct store *s;
	static struct event ev;
	static struct phase ph;
	int err = store_create(&s, path, &info);

	if (err)
		return err;
	store_process(s, &p);
	for (unsigned i = 0; i <= n; i++) {
		plain_edge(&ev, i ? PP_MARK : PP_BASE, i, i ? "load:users" : "");
		no_base_extras(&ev);
		store_event(s, &ev);
		if (!i)
			continue;
		memset(&ph, 0, sizeof(ph));
		ph = (struct phase){.id = i,
				    .mm_id = 1,
				    .pid = 4242,
				    .tid = 4242,
				    .kind = PH_CHECKPOINT,
				    .ended_by = PH_BY_MARK,
				    .label = ev.edge.label,
				    .start_ns = ev.time_ns - 1000000,
				    .end_ns = ev.time_ns,
				    .start_win = i - 1,
				    .end_win = i,
				    .start_bytes = 16 << 20,
				    .end_bytes = ev.edge.now.m[PP_ANON],
				    .peak = {.bytes = ev.edge.win.max, .win = i},
				    .charge_peak = EV_NONE,
				    .limit = EV_NONE,
				    .headroom_min = EV_NONE,
				    .exact = true};
		if (ph.peak.bytes > p.peak.bytes)
			p.peak = ph.peak;
		store_phase(s, &ph);
	}
	store_process(s, &p);
	return store_close(&s, &end);
}

#endif
