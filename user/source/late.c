/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "source/late.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <uthash.h>

#include "lib/clock.h"
#include "resolve/proc.h"
#include "source/find.h"
#include "source/late_exec.h"
#include "source/late_wake.h"

#define SECOND 1000000000ull
/* A file that was looked into counts as such for so long: it may be written over in place. */
#define FRESH_NS SECOND
#define KNOWN_MAX 65536u
#define FOUND_MAX 1024u
#define RELEASE_MS 50

/* What the kernel calls a file; stat(2) may use other numbers for it. */
struct known_key {
	uint64_t ino, generation;
	uint32_t dev_major, dev_minor;
};

struct known {
	struct known_key key;
	uint64_t looked_ns;
	uint64_t since_ns; /* probed; 0: it has no markers */
	UT_hash_handle hh;
};

struct late {
	struct late_options opt;
	struct mappings *mappings;
	struct late_wake *wake;
	struct unheards *unheards; /* of the thread that reads the rings */
	bool started;
	int nice; /* ours, before */
	pthread_t thread;
	struct known *known;
	struct late_execs *execs;
	/* Shared by both threads. */
	pthread_mutex_t lock;
	struct unheard_file *found;
	size_t nfound;
	uint64_t lost;
};

static void forget_known(struct late *l)
{
	struct known *k, *next;

	HASH_ITER (hh, l->known, k, next) {
		HASH_DEL(l->known, k);
		free(k);
	}
}

static struct known *known_of(struct late *l, const struct mapped_record *r)
{
	struct known_key key;
	struct known *k;

	/* Compared as bytes. */
	memset(&key, 0, sizeof(key));
	key.ino = r->ino;
	key.generation = r->generation;
	key.dev_major = r->dev_major;
	key.dev_minor = r->dev_minor;
	HASH_FIND(hh, l->known, &key, sizeof(key), k);
	if (k)
		return k;
	if (HASH_COUNT(l->known) >= KNOWN_MAX)
		forget_known(l);
	k = calloc(1, sizeof(*k));
	if (!k)
		return NULL;
	k->key = key;
	HASH_ADD(hh, l->known, key, sizeof(key), k);
	return k;
}

static void keep(void *ctx, const struct unheard_file *f)
{
	struct late *l = ctx;

	pthread_mutex_lock(&l->lock);
	if (l->nfound == FOUND_MAX)
		l->lost++;
	else
		l->found[l->nfound++] = *f;
	pthread_mutex_unlock(&l->lock);
}

static void report(struct late *l, const struct mapped_record *r, uint64_t to_ns, bool looked)
{
	struct unheard_file f = {
	    .pid = (uint32_t)r->pid,
	    .from_ns = r->time_ns,
	    .to_ns = to_ns,
	    .looked = looked,
	};

	memcpy(f.file, r->path, sizeof(f.file));
	late_execs_file(l->execs, &f, keep, l);
}

/* The file, as the process has it, or, if that is gone, by the name that it had for it. */
static int look_into(struct late *l, const struct mapped_record *r, uint64_t *since_ns)
{
	char name[MAPPED_PATH_MAX], path[PATH_MAX];
	struct proc_map m = {
	    .start = r->start,
	    .end = r->end,
	    .inode = r->ino,
	    .dev_major = r->dev_major,
	    .dev_minor = r->dev_minor,
	    .path = name,
	};
	int n;

	memcpy(name, r->path, sizeof(name));
	m.deleted = proc_cut_deleted(name);
	n = find_mapping("/proc", r->pid, &m, path);
	n = n ? n : probes_add(l->opt.probes, path, since_ns);
	if (n >= 0)
		return 0;
	n = find_mapped_here(&m, path);
	n = n ? n : probes_add(l->opt.probes, path, since_ns);
	return n < 0 ? n : 0;
}

static void on_file(struct late *l, const struct mapped_record *r)
{
	struct known *k = known_of(l, r);
	uint64_t since = 0;

	if (!k || r->pid <= 0)
		return;
	late_execs_mapped(l->execs, r);
	/* Nearly all: libraries that everybody has, programs that were probed before. */
	if (k->looked_ns && r->time_ns < k->looked_ns + FRESH_NS && k->since_ns <= r->time_ns)
		return;
	if (!l->opt.traced(l->opt.ctx, r->pid))
		return;
	if (look_into(l, r, &since)) {
		report(l, r, clock_mono_ns(), false);
		return;
	}
	k->looked_ns = clock_mono_ns();
	k->since_ns = since;
	if (since > r->time_ns)
		report(l, r, since, true);
}

static void on_record(void *ctx, const struct mapped_record *r)
{
	struct late *l = ctx;

	switch (r->kind) {
	case MAPPED_FILE:
		on_file(l, r);
		break;
	case MAPPED_EXEC:
		/* Of anybody: who is traced may be gone by now. */
		late_execs_begin(l->execs, r->pid, r->time_ns);
		break;
	case MAPPED_LOST:
		pthread_mutex_lock(&l->lock);
		l->lost++;
		pthread_mutex_unlock(&l->lock);
		break;
	case MAPPED_NONE:
		break;
	}
}

static void *thread_main(void *ctx)
{
	struct late *l = ctx;
	bool more = true;

	/* What was mapped before there was a thread. */
	mappings_read(l->mappings, on_record, l);
	while (more) {
		more = late_wake_wait(l->wake, mappings_fd(l->mappings),
				      late_execs_idle(l->execs) ? -1 : RELEASE_MS);
		mappings_read(l->mappings, on_record, l);
		late_execs_release(l->execs, clock_mono_ns(), !more, keep, l);
	}
	return NULL;
}

/*
 * Its wake-up is what the first mark of a program may outrun, so the thread goes first. It inherits
 * that from us: once privileges were given up it may not ask for it. Without the right to it is
 * late at times, and says so.
 */
static void go_first(struct late *l)
{
	l->nice = getpriority(PRIO_PROCESS, 0);
	setpriority(PRIO_PROCESS, 0, -20);
}

static void go_on(const struct late *l)
{
	setpriority(PRIO_PROCESS, 0, l->nice);
}

int late_start(struct late *l)
{
	sigset_t all, old;
	int err;

	/* Signals are for the thread that traces. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&l->thread, NULL, thread_main, l);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	go_on(l);
	l->started = !err;
	return -err;
}

int late_open(struct late **out, const struct late_options *opt)
{
	struct late *l = calloc(1, sizeof(*l));
	int err;

	if (!l)
		return -ENOMEM;
	l->opt = *opt;
	pthread_mutex_init(&l->lock, NULL);
	l->found = calloc(FOUND_MAX, sizeof(*l->found));
	l->unheards = unheards_new();
	l->execs = late_execs_new();
	err = l->found && l->unheards && l->execs ? 0 : -ENOMEM;
	err = err ? err : late_wake_open(&l->wake, opt->code_ring);
	err = err ? err : mappings_open(&l->mappings, opt->code_ring < 0);
	if (err)
		late_close(&l);
	else
		go_first(l);
	*out = l;
	return err;
}

void late_finish(struct late *l)
{
	if (!l->started)
		return;
	late_wake_end(l->wake);
	pthread_join(l->thread, NULL);
	l->started = false;
}

void late_close(struct late **lp)
{
	struct late *l = *lp;

	if (!l)
		return;
	late_finish(l);
	mappings_close(&l->mappings);
	late_wake_close(&l->wake);
	unheards_free(&l->unheards);
	forget_known(l);
	late_execs_free(&l->execs);
	pthread_mutex_destroy(&l->lock);
	free(l->found);
	free(l);
	*lp = NULL;
}

int late_event(struct late *l, const struct event *ev)
{
	return unheards_event(l->unheards, ev);
}

void late_resolve(struct late *l, uint64_t now_ns, bool last,
		  void (*fn)(void *ctx, const struct unheard *h), void *ctx)
{
	pthread_mutex_lock(&l->lock);
	for (size_t i = 0; i < l->nfound; i++)
		if (unheards_file(l->unheards, &l->found[i]))
			l->lost++;
	l->nfound = 0;
	pthread_mutex_unlock(&l->lock);
	unheards_resolve(l->unheards, now_ns, last, fn, ctx);
}

struct look {
	struct late *late;
	pid_t pid;
	uint64_t from_ns;
};

static int look_at_map(void *ctx, const struct proc_map *m)
{
	const struct look *k = ctx;
	char path[PATH_MAX];
	uint64_t since;

	if (!m->executable || !m->inode || find_mapping("/proc", k->pid, m, path))
		return 0;
	if (probes_add(k->late->opt.probes, path, &since) < 0 || since <= k->from_ns)
		return 0;

	struct unheard_file f = {
	    .pid = (uint32_t)k->pid,
	    .from_ns = k->from_ns,
	    .to_ns = since,
	    .looked = true,
	};

	snprintf(f.file, sizeof(f.file), "%s", m->path);
	keep(k->late, &f);
	return 0;
}

void late_look(struct late *l, pid_t pid, uint64_t from_ns)
{
	struct look k = {.late = l, .pid = pid, .from_ns = from_ns};

	proc_maps_each("/proc", pid, look_at_map, &k);
}

uint64_t late_lost(struct late *l)
{
	uint64_t n;

	pthread_mutex_lock(&l->lock);
	n = l->lost;
	pthread_mutex_unlock(&l->lock);
	return n;
}
