/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The files that are probed.
 *
 * A file is looked at by its numbers of stat(2), and probed by the inode that the kernel maps: two
 * containers that share a layer show different numbers for one inode, and two probes on it would
 * hear each mark twice.
 */
#include "source/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uthash.h>

#include "lib/clock.h"
#include "lib/say.h"
#include "lib/text.h"
#include "resolve/elf.h"
#include "shared.h"
#include "source/probe_spans.h"

/* What tells that a file has been written to since. */
struct content {
	int64_t size, mtime_s, mtime_ns;
};

/* An inode with markers. The kernel keeps it as long as the links are there. */
struct probe_code {
	uint64_t inode; /* key */
	struct content content;
	uint64_t since_ns;
	unsigned int n;
	int link[ELF_SITES_MAX];
	struct probe_spans spans;
	UT_hash_handle hh;
};

struct probe_file_key {
	uint64_t dev, ino;
};

/* Files without markers are remembered too: each is read once. */
struct probe_file {
	struct probe_file_key key;
	struct content content;
	struct probe_code *code; /* NULL: no markers */
	UT_hash_handle hh;
};

struct probes {
	struct probe_programs prog;
	struct probe_calibration cal;
	struct probe_file *files;
	struct probe_code *codes;
	unsigned int count, functions;
	unsigned int links; /* of spans */
	pthread_mutex_t lock;
};

static uint64_t site_offset(const struct elf_site *s, enum probe_site site)
{
	switch (site) {
	case PROBE_NOP10:
		return s->nop10;
	case PROBE_NOP5:
		return s->nop5;
	case PROBE_NOP1:
	case PROBE_SITES:
		break;
	}
	return s->nop1;
}

struct probes *probes_new(const struct probe_programs *prog, const struct probe_calibration *cal)
{
	struct probes *p = calloc(1, sizeof(*p));

	if (p) {
		p->prog = *prog;
		p->cal = *cal;
		pthread_mutex_init(&p->lock, NULL);
	}
	return p;
}

#define DETACH_THREADS 16

struct detach {
	int *link;
	unsigned int n;
	atomic_uint next;
};

static void *detach_some(void *arg)
{
	struct detach *d = arg;
	unsigned int i;

	while ((i = atomic_fetch_add(&d->next, 1)) < d->n)
		close(d->link[i]);
	return NULL;
}

static void detach_all(int *link, unsigned int n)
{
	struct detach d = {.link = link, .n = n};
	pthread_t thread[DETACH_THREADS];
	unsigned int started = 0;

	while (started < DETACH_THREADS && started + 1 < n &&
	       !pthread_create(&thread[started], NULL, detach_some, &d))
		started++;
	detach_some(&d);
	while (started)
		pthread_join(thread[--started], NULL);
}

void probes_free(struct probes **pp)
{
	struct probe_file *f, *next_file;
	struct probe_code *c, *next_code;
	struct probes *p = *pp;
	unsigned int n = 0;
	int *all;

	if (!p)
		return;
	all = calloc(p->count + p->links + PROBE_SITES, sizeof(*all));
	for (unsigned int i = 0; all && i < PROBE_SITES; i++)
		if (p->cal.tried[i] >= 0)
			all[n++] = p->cal.tried[i];
	HASH_ITER (hh, p->files, f, next_file) {
		HASH_DEL(p->files, f);
		free(f);
	}
	HASH_ITER (hh, p->codes, c, next_code) {
		HASH_DEL(p->codes, c);
		for (unsigned int i = 0; all && i < c->n; i++)
			all[n++] = c->link[i];
		for (unsigned int i = 0; all && i < c->spans.n; i++)
			all[n++] = c->spans.link[i];
		free(c->spans.link);
		free(c);
	}
	/* Without memory for the list they go with the process. */
	if (all)
		detach_all(all, n);
	free(all);
	pthread_mutex_destroy(&p->lock);
	free(p);
	*pp = NULL;
}

/* The chosen site where this copy has it, else the one that every kernel takes. */
static int attach_marker(const struct probes *p, const char *path, const struct elf_site *s)
{
	uint64_t off = site_offset(s, p->cal.site);
	int fd = off ? probe_attach(p->prog.marker, p->cal.way, path, off, -1) : -ENOENT;

	if (fd < 0 && s->nop1 && off != s->nop1)
		fd = probe_attach(p->prog.marker, p->cal.way, path, s->nop1, -1);
	return fd;
}

/* A program's own log_rss(const char *), told from the marker by its cookie. */
static int attach_own(const struct probes *p, const char *path, const struct elf_site *s)
{
	const uint64_t own = MARKER_OWN;
	const struct probe_many one = {.offset = &s->entry, .cookie = &own, .n = 1};
	int fd, err = probe_attach_many(p->prog.marker, p->cal.way, path, &one, &fd);

	return err < 0 ? err : fd;
}

static int attach_code(struct probes *p, const char *name, int fd_of, struct probe_code *c,
		       const struct elf_sites *sites)
{
	char shown[512], path[64];

	/* Not by name: the process by whose mapping it was found may be gone by now. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd_of);

	for (unsigned int i = 0; i < sites->n; i++) {
		const struct elf_site *s = &sites->site[i];
		int fd =
		    s->kind == ELF_SITE_MARKER ? attach_marker(p, path, s) : attach_own(p, path, s);

		if (fd < 0) {
			text_escape(shown, sizeof(shown), name, strlen(name));
			say_error("cannot probe the marker in %s: %s", shown, strerror(-fd));
			say_remedy(
			    "its phases will be missing; `peakphase doctor` says what this kernel allows");
			return fd;
		}
		c->link[c->n++] = fd;
		p->count++;
	}
	if (sites->more)
		say_warning("%u more markers in one file are not probed", sites->more);
	return 0;
}

/* Nobody knows why there are no phases otherwise. */
static void say_passed(const char *path, const char *function)
{
	char file[512], name[ELF_PASSED_MAX * TEXT_ESCAPED_MAX];

	if (!*function)
		return;
	text_escape(file, sizeof(file), path, strlen(path));
	text_escape(name, sizeof(name), function, strlen(function));
	say_warning(
	    "%s() of %s is not taken for a marker: its name does not tell whether its first argument is the label",
	    name, file);
	say_remedy(
	    "make it extern \"C\" log_rss(const char *), call that of <peakphase/log_rss.h> in it, or have its calls as spans: --span 'BINARY:%s'",
	    name);
}

static struct content content_of(const struct stat *st)
{
	return (struct content){st->st_size, st->st_mtim.tv_sec, st->st_mtim.tv_nsec};
}

static bool same_content(const struct content *a, const struct content *b)
{
	return a->size == b->size && a->mtime_s == b->mtime_s && a->mtime_ns == b->mtime_ns;
}

static struct probe_file *file_of(struct probes *p, const struct stat *st)
{
	struct probe_file_key key = {st->st_dev, st->st_ino};
	struct probe_file *f;

	HASH_FIND(hh, p->files, &key, sizeof(key), f);
	if (f)
		return f;
	f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	f->key = key;
	f->content.size = -1;
	HASH_ADD(hh, p->files, key, sizeof(key), f);
	return f;
}

/* Written over in place: the old sites lie anywhere in the new code. */
static void take_away(struct probes *p, struct probe_code *c)
{
	detach_all(c->link, c->n);
	p->count -= c->n;
	c->n = 0;
	detach_all(c->spans.link, c->spans.n);
	p->links -= c->spans.n;
	p->functions -= c->spans.functions;
	free(c->spans.link);
	c->spans = (struct probe_spans){0};
}

static int attach_spans(struct probes *p, const char *path, int fd, struct probe_code *c)
{
	int err = probe_spans_attach(&p->prog, p->cal.way, path, fd, &c->spans);

	p->links += c->spans.n;
	p->functions += c->spans.functions;
	return err;
}

static struct probe_code *code_of(struct probes *p, int fd, const struct stat *st)
{
	uint64_t inode = probe_inode(&p->prog, fd, st);
	struct probe_code *c;

	HASH_FIND(hh, p->codes, &inode, sizeof(inode), c);
	if (c)
		return c;
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->inode = inode;
	c->content.size = -1;
	HASH_ADD(hh, p->codes, inode, sizeof(inode), c);
	return c;
}

/* A file that is new, or has been written to. */
static int look_into(struct probes *p, const char *path, int fd, const struct stat *st,
		     struct probe_file *f)
{
	struct content now = content_of(st);
	struct elf_sites sites;
	struct probe_code *c;
	int n = elf_find_markers(fd, &sites), err;

	if (n == -ENOMEM)
		return n;
	f->content = now;
	if (n <= 0 && !f->code && !p->prog.spans) {
		say_passed(path, sites.passed);
		return 0;
	}
	/* Anew: an overlay that was written to shows another inode under the same number. */
	c = code_of(p, fd, st);
	if (!c)
		return -ENOMEM;
	f->code = c;
	if (same_content(&c->content, &now))
		return 0;
	take_away(p, c);
	c->content = now;
	err = n > 0 ? attach_code(p, path, fd, c, &sites) : 0;
	err = err ? err : attach_spans(p, path, fd, c);
	if (!c->spans.functions)
		say_passed(path, sites.passed);
	c->since_ns = clock_mono_ns();
	return err ? err : (int)c->n;
}

static int add_open(struct probes *p, const char *path, int fd, const struct stat *st,
		    uint64_t *since_ns)
{
	struct content now = content_of(st);
	struct probe_file *f = file_of(p, st);
	int n = 0;

	if (!f)
		return -ENOMEM;
	if (!same_content(&f->content, &now))
		n = look_into(p, path, fd, st, f);
	*since_ns = f->code && (f->code->n || f->code->spans.functions) ? f->code->since_ns : 0;
	return n;
}

int probes_add(struct probes *p, const char *path, uint64_t *since_ns)
{
	struct stat st;
	int fd, n = 0;

	*since_ns = 0;
	/* A device that is mapped must not be opened by looking at it. */
	if (stat(path, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode)) {
		pthread_mutex_lock(&p->lock);
		n = add_open(p, path, fd, &st, since_ns);
		pthread_mutex_unlock(&p->lock);
	}
	close(fd);
	return n;
}

unsigned int probes_count(struct probes *p)
{
	unsigned int n;

	pthread_mutex_lock(&p->lock);
	n = p->count;
	pthread_mutex_unlock(&p->lock);
	return n;
}

unsigned int probes_functions(struct probes *p)
{
	unsigned int n;

	pthread_mutex_lock(&p->lock);
	n = p->functions;
	pthread_mutex_unlock(&p->lock);
	return n;
}
