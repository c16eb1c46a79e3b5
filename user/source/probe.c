/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "source/probe.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uthash.h>

#include "lib/say.h"
#include "lib/text.h"
#include "peakphase/log_rss.h"
#include "resolve/elf.h"

/* A file is its device and inode: paths differ between namespaces, uprobes belong to inodes. */
struct probe_file_key {
	uint64_t dev, ino;
};

struct probe_file {
	struct probe_file_key key;
	unsigned int n;
	struct bpf_link *link[ELF_SITES_MAX];
	UT_hash_handle hh;
};

struct probes {
	struct bpf_program *marker, *own_function;
	struct probe_calibration cal;
	struct probe_file *files;
	unsigned int count;
};

const char *probe_site_name(enum probe_site site)
{
	switch (site) {
	case PROBE_NOP10:
		return "nop10";
	case PROBE_NOP5:
		return "nop5";
	case PROBE_NOP1:
		return "nop1";
	case PROBE_SITES:
		break;
	}
	return "?";
}

struct bpf_link *probe_attach(struct bpf_program *prog, const char *path, uint64_t offset,
			      pid_t pid)
{
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .retprobe = false);
	struct bpf_link *link = bpf_program__attach_uprobe_opts(prog, pid, path, offset, &opts);
	long err = libbpf_get_error(link);

	if (err) {
		errno = -(int)err;
		return NULL;
	}
	return link;
}

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

/* Sites of our own marker in our own executable. */
static int own_sites(struct elf_site *site)
{
	struct elf_sites sites;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), n;

	if (fd < 0)
		return -errno;
	n = elf_find_markers(fd, &sites);
	close(fd);
	if (n < 0)
		return n;
	if (n == 0 || sites.site[0].kind != ELF_SITE_MARKER)
		return -ENOENT;
	*site = sites.site[0];
	return 0;
}

#if defined(__x86_64__)
/* The instruction in memory, behind the marker's 1-byte NOP. */
static uint8_t nop5_first_byte(void)
{
	const volatile uint8_t *code = (const volatile uint8_t *)(uintptr_t)&peakphase_marker;

	return code[1];
}
#endif

/* Does the probe that is on the 5-byte NOP become a call (0xe8) after the first hits? */
static bool call_after_hits(void)
{
#if defined(__x86_64__)
	for (int i = 0; i < 2; i++)
		log_rss("calibrate");
	return nop5_first_byte() == 0xe8;
#else
	return false;
#endif
}

static void on_segv(int sig)
{
	(void)sig;
	_exit(1);
}

/*
 * Does a forked child survive its marker? On 6.17 and 6.18 it does not once the site has become a
 * call: fork copies the changed page, but not the mapping that the call goes to. A program that is
 * traced must be able to fork, so there the site is of no use.
 */
static bool survives_fork(void)
{
	struct sigaction act = {.sa_handler = on_segv};
	pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		/* Handled, so that neither the kernel's log nor a core file tells of our trial. */
		sigaction(SIGSEGV, &act, NULL);
		sigaction(SIGTRAP, &act, NULL);
		sigaction(SIGILL, &act, NULL);
		log_rss("calibrate");
		_exit(0);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int probe_calibrate(struct bpf_program *nothing, struct probe_calibration *out)
{
	struct elf_site own;
	int err = own_sites(&own);

	memset(out, 0, sizeof(*out));
	out->site = PROBE_NOP1;
	if (err)
		return err;
	if (own.nop5)
		out->tried[PROBE_NOP5] =
		    probe_attach(nothing, "/proc/self/exe", own.nop5, getpid());
	out->becomes_call = out->tried[PROBE_NOP5] && call_after_hits();
	out->survives_fork = !out->becomes_call || survives_fork();
	if (out->becomes_call && out->survives_fork) {
		out->site = PROBE_NOP5;
		return 0;
	}
	/* No kernel makes a call of both; a refusal would cost a tenth of a second. */
	if (own.nop10 && !out->becomes_call)
		out->tried[PROBE_NOP10] =
		    probe_attach(nothing, "/proc/self/exe", own.nop10, getpid());
	if (out->tried[PROBE_NOP10]) {
		call_after_hits();
		out->survives_fork = survives_fork();
		if (out->survives_fork) {
			out->site = PROBE_NOP10;
			return 0;
		}
	}
	out->tried[PROBE_NOP1] = probe_attach(nothing, "/proc/self/exe", own.nop1, getpid());
	return out->tried[PROBE_NOP1] ? 0 : -errno;
}

struct probes *probes_new(struct bpf_program *marker, struct bpf_program *own_function,
			  const struct probe_calibration *cal)
{
	struct probes *p = calloc(1, sizeof(*p));

	if (p) {
		p->marker = marker;
		p->own_function = own_function;
		p->cal = *cal;
	}
	return p;
}

#define DETACH_THREADS 16

struct detach {
	struct bpf_link **link;
	unsigned int n;
	atomic_uint next;
};

static void *detach_some(void *arg)
{
	struct detach *d = arg;
	unsigned int i;

	while ((i = atomic_fetch_add(&d->next, 1)) < d->n)
		bpf_link__destroy(d->link[i]);
	return NULL;
}

static void detach_all(struct bpf_link **link, unsigned int n)
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
	struct bpf_link **all;
	unsigned int n = 0;

	if (!p)
		return;
	all = calloc(p->count + PROBE_SITES, sizeof(*all));
	for (unsigned int i = 0; all && i < PROBE_SITES; i++)
		if (p->cal.tried[i])
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
static struct bpf_link *attach_marker(struct probes *p, const char *path, const struct elf_site *s)
{
	uint64_t off = site_offset(s, p->cal.site);
	struct bpf_link *link = off ? probe_attach(p->marker, path, off, -1) : NULL;

	if (!link && s->nop1 && off != s->nop1)
		link = probe_attach(p->marker, path, s->nop1, -1);
	return link;
}

static int attach_file(struct probes *p, const char *path, struct probe_file *f,
		       const struct elf_sites *sites)
{
	char shown[512];

	for (unsigned int i = 0; i < sites->n; i++) {
		const struct elf_site *s = &sites->site[i];
		struct bpf_link *link = s->kind == ELF_SITE_MARKER
					    ? attach_marker(p, path, s)
					    : probe_attach(p->own_function, path, s->entry, -1);

		if (!link) {
			int err = -errno;

			text_escape(shown, sizeof(shown), path, strlen(path));
			say_error("cannot probe the marker in %s: %s", shown, strerror(-err));
			say_remedy(
			    "its phases will be missing; `peakphase doctor` says what this kernel allows");
			return err;
		}
		f->link[f->n++] = link;
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
