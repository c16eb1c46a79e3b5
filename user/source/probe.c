/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The files that are probed. */
#include "source/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uthash.h>

#include "lib/say.h"
#include "lib/text.h"
#include "resolve/elf.h"

/* A file is its device and inode: paths differ between namespaces, uprobes belong to inodes. */
struct probe_file_key {
	uint64_t dev, ino;
};

struct probe_file {
	struct probe_file_key key;
	unsigned int n;
	int link[ELF_SITES_MAX];
	UT_hash_handle hh;
};

struct probes {
	int marker, own_function;
	struct probe_calibration cal;
	struct probe_file *files;
	unsigned int count;
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

struct probes *probes_new(int marker_fd, int own_function_fd, const struct probe_calibration *cal)
{
	struct probes *p = calloc(1, sizeof(*p));

	if (p) {
		p->marker = marker_fd;
		p->own_function = own_function_fd;
		p->cal = *cal;
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
	struct probes *p = *pp;
	struct probe_file *f, *next;
	int *all;
	unsigned int n = 0;

	if (!p)
		return;
	all = calloc(p->count + PROBE_SITES, sizeof(*all));
	for (unsigned int i = 0; all && i < PROBE_SITES; i++)
		if (p->cal.tried[i] >= 0)
			all[n++] = p->cal.tried[i];
	HASH_ITER (hh, p->files, f, next) {
		HASH_DEL(p->files, f);
		for (unsigned int i = 0; all && i < f->n; i++)
			all[n++] = f->link[i];
		free(f);
	}
	/* Without memory for the list they go with the process. */
	if (all)
		detach_all(all, n);
	free(all);
	free(p);
	*pp = NULL;
}

/* The chosen site where this copy has it, else the one that every kernel takes. */
static int attach_marker(const struct probes *p, const char *path, const struct elf_site *s)
{
	uint64_t off = site_offset(s, p->cal.site);
	int fd = off ? probe_attach(p->marker, p->cal.way, path, off, -1) : -ENOENT;

	if (fd < 0 && s->nop1 && off != s->nop1)
		fd = probe_attach(p->marker, p->cal.way, path, s->nop1, -1);
	return fd;
}

static int attach_file(struct probes *p, const char *path, struct probe_file *f,
		       const struct elf_sites *sites)
{
	char shown[512];

	for (unsigned int i = 0; i < sites->n; i++) {
		const struct elf_site *s = &sites->site[i];
		int fd = s->kind == ELF_SITE_MARKER
			     ? attach_marker(p, path, s)
			     : probe_attach(p->own_function, p->cal.way, path, s->entry, -1);

		if (fd < 0) {
			text_escape(shown, sizeof(shown), path, strlen(path));
			say_error("cannot probe the marker in %s: %s", shown, strerror(-fd));
			say_remedy(
			    "its phases will be missing; `peakphase doctor` says what this kernel allows");
			return fd;
		}
		f->link[f->n++] = fd;
	}
	if (sites->more)
		say_warning("%u more markers in one file are not probed", sites->more);
	return 0;
}

int probes_add(struct probes *p, const char *path)
{
	struct elf_sites sites;
	struct probe_file *f;
	struct stat st;
	int fd, n, err;

	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return 0; /* gone since it was found: nothing to probe */
	if (fstat(fd, &st)) {
		close(fd);
		return 0;
	}
	struct probe_file_key key = {st.st_dev, st.st_ino};

	HASH_FIND(hh, p->files, &key, sizeof(key), f);
	if (f) {
		close(fd);
		return 0;
	}
	n = elf_find_markers(fd, &sites);
	close(fd);
	if (n == -ENOMEM)
		return n;
	f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	f->key = key;
	/* Files without markers are remembered too: each is read once. */
	HASH_ADD(hh, p->files, key, sizeof(key), f);
	if (n <= 0)
		return 0;
	err = attach_file(p, path, f, &sites);
	p->count += f->n;
	return err ? err : (int)f->n;
}

unsigned int probes_count(const struct probes *p)
{
	return p->count;
}
