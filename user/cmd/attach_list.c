/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* peakphase attach --list: what could be attached to. */
#include "cmd/attach_list.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "lib/json.h"
#include "lib/say.h"
#include "lib/text.h"
#include "resolve/cgroup.h"
#include "resolve/container.h"
#include "resolve/proc.h"
#include "source/marked.h"

#define NAME_SHOWN 160

/* A process that has markers. */
struct marked_process {
	pid_t pid;
	int sites;
	uint64_t rss;
	uint32_t ns_pid, ns_depth;
	char comm[PROC_COMM_MAX + 1];
	const struct container *in; /* NULL: in none that is known */
};

struct listing {
	struct containers containers;
	struct cgroup_mount memory;
	struct marked_process *v;
	size_t n;
	unsigned int refused; /* processes that we may not look into */
};

static const struct container *container_of(const struct listing *l, pid_t pid)
{
	struct cgroup_container in;
	char path[PATH_MAX];

	if (cgroup_of("/proc", pid, &l->memory, path))
		return NULL;
	return containers_of_path(&l->containers, path, &in);
}

static int add_process(struct listing *l, pid_t pid, int sites)
{
	struct marked_process *more = reallocarray(l->v, l->n + 1, sizeof(*more)), *p;
	struct proc_status st = {0};

	if (!more)
		return -ENOMEM;
	l->v = more;
	p = &l->v[l->n];
	memset(p, 0, sizeof(*p));
	p->pid = pid;
	p->sites = sites;
	if (proc_comm("/proc", pid, p->comm) || proc_status("/proc", pid, &st))
		return 0; /* gone */
	p->ns_pid = st.ns_pid;
	p->ns_depth = st.ns_depth;
	proc_rss("/proc", pid, &p->rss);
	p->in = container_of(l, pid);
	l->n++;
	return 0;
}

/* A tracer has a marker too, which it tries the probes of the kernel on. */
static bool is_tracer(pid_t pid, const struct stat *own)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	return !stat(path, &st) && st.st_dev == own->st_dev && st.st_ino == own->st_ino;
}

static int find_processes(struct listing *l)
{
	struct stat own = {.st_ino = 0};
	struct marked *m = marked_new();
	DIR *d = opendir("/proc");
	struct dirent *e;
	int err = m && d ? 0 : -ENOMEM;

	stat("/proc/self/exe", &own);
	while (!err && (e = readdir(d))) {
		pid_t pid = isdigit((unsigned char)e->d_name[0]) ? (pid_t)atoi(e->d_name) : 0;
		int sites = pid ? marked_sites(m, "/proc", pid) : 0;

		if (sites == -EACCES || sites == -EPERM)
			l->refused++;
		if (sites == -ENOMEM)
			err = sites;
		if (sites > 0 && !is_tracer(pid, &own))
			err = add_process(l, pid, sites);
	}
	if (d)
		closedir(d);
	marked_free(&m);
	return err;
}

/* Charge and smallest limit of a container; CGROUP_NO_LIMIT: not known, none. */
static void numbers_of(const struct listing *l, const struct container *c, uint64_t *charge,
		       uint64_t *limit)
{
	struct cgroup_numbers n = {CGROUP_NO_LIMIT, CGROUP_NO_LIMIT};
	struct cgroup_limit least = {.limit = CGROUP_NO_LIMIT};

	if (c->cgroup && !cgroup_numbers(&l->memory, c->cgroup, &n))
		cgroup_limit(&l->memory, c->cgroup, &least);
	*charge = n.usage;
	*limit = least.limit;
}

static const char *mib(char out[static 24], uint64_t bytes)
{
	return bytes == CGROUP_NO_LIMIT ? "-" : text_mib(out, (int64_t)bytes);
}

static const char *shown(char out[static NAME_SHOWN], const char *s)
{
	text_escape_as(out, NAME_SHOWN, s, strlen(s), text_utf8_locale() ? 0 : TEXT_ASCII);
	return out;
}

static void put_containers(const struct listing *l, FILE *f)
{
	char title[128], name[NAME_SHOWN], a[24], b[24];
	uint64_t charge, limit;

	if (!l->containers.n) {
		fprintf(f, "no containers\n");
		return;
	}
	fprintf(f, "%-10s  %-24s  %-12s  %8s  %9s  %10s  %10s\n", "container", "name", "id", "pid",
		"processes", "charge MiB", "limit MiB");
	for (size_t i = 0; i < l->containers.n; i++) {
		const struct container *c = &l->containers.v[i];

		numbers_of(l, c, &charge, &limit);
		container_title(c, title, sizeof(title));
		fprintf(f, "%-10s  %-24s  %.*s  ", c->runtime, shown(name, title),
			CONTAINER_SHORT_ID, c->id);
		if (container_running(c))
			fprintf(f, "%8d  %9u  %10s  %10s\n", c->pid, c->procs, mib(a, charge),
				mib(b, limit));
		else
			fprintf(f, "%8s\n", "stopped");
	}
}

static void put_processes(const struct listing *l, FILE *f)
{
	char title[128], name[NAME_SHOWN], comm[NAME_SHOWN], a[24];

	if (!l->n) {
		fprintf(f, "no process has markers\n");
		return;
	}
	fprintf(f, "%8s  %-16s  %10s  %7s  %s\n", "pid", "process", "RSS MiB", "markers", "in");
	for (size_t i = 0; i < l->n; i++) {
		const struct marked_process *p = &l->v[i];

		fprintf(f, "%8d  %-16s  %10s  %7d", p->pid, shown(comm, p->comm), mib(a, p->rss),
			p->sites);
		if (p->in)
			fprintf(f, "  %s %s", p->in->runtime,
				shown(name, container_title(p->in, title, sizeof(title))));
		if (p->ns_depth > 1)
			fprintf(f, " (pid %u there)", p->ns_pid);
		fprintf(f, "\n");
	}
}

static void json_known(struct jw *j, const char *key, uint64_t n)
{
	jw_key(j, key);
	if (n == CGROUP_NO_LIMIT)
		jw_null(j);
	else
		jw_u64(j, n);
}

static void json_text(struct jw *j, const char *key, const char *s)
{
	jw_key(j, key);
	jw_text(j, s);
}

static void json_container(struct jw *j, const struct listing *l, const struct container *c)
{
	uint64_t charge, limit;

	numbers_of(l, c, &charge, &limit);
	jw_inline(j);
	jw_begin_object(j);
	json_text(j, "runtime", c->runtime);
	json_text(j, "name", c->name);
	json_text(j, "pod", c->pod);
	json_text(j, "namespace", c->ns);
	json_text(j, "id", c->id);
	json_text(j, "cgroup", c->cgroup);
	json_known(j, "pid", container_running(c) ? (uint64_t)c->pid : CGROUP_NO_LIMIT);
	json_known(j, "processes", c->procs);
	json_known(j, "charge_bytes", charge);
	json_known(j, "limit_bytes", limit);
	jw_end_object(j);
}

static int put_json(const struct listing *l, FILE *f)
{
	struct jw j;
	int err = jw_open(&j, f);

	if (err)
		return err;
	jw_begin_object(&j);
	jw_key(&j, "containers");
	jw_begin_array(&j);
	for (size_t i = 0; i < l->containers.n; i++)
		json_container(&j, l, &l->containers.v[i]);
	jw_end_array(&j);
	jw_key(&j, "processes");
	jw_begin_array(&j);
	for (size_t i = 0; i < l->n; i++) {
		const struct marked_process *p = &l->v[i];

		jw_inline(&j);
		jw_begin_object(&j);
		json_known(&j, "pid", (uint64_t)p->pid);
		json_known(&j, "ns_pid", p->ns_pid);
		json_text(&j, "command", p->comm);
		json_known(&j, "rss_bytes", p->rss);
		json_known(&j, "markers", (uint64_t)p->sites);
		json_text(&j, "container", p->in ? p->in->id : NULL);
		jw_end_object(&j);
	}
	jw_end_array(&j);
	jw_end_object(&j);
	return jw_close(&j);
}

static int find_all(struct listing *l)
{
	int err;

	cgroup_mount_find("/proc", "", &l->memory);
	err = containers_read("", &l->containers);
	return err ? err : find_processes(l);
}

static void listing_free(struct listing *l)
{
	containers_free(&l->containers);
	free(l->v);
}

static int choose_container(const struct listing *l, const struct container *c,
			    int (*fn)(void *, const struct attach_choice *), void *ctx)
{
	char title[128], name[NAME_SHOWN], a[24], b[24], text[512];
	uint64_t charge, limit;

	if (!container_running(c))
		return 0;
	numbers_of(l, c, &charge, &limit);
	container_title(c, title, sizeof(title));
	snprintf(text, sizeof(text), "%-10s %-28s %4u processes, charge %s of %s MiB", c->runtime,
		 shown(name, title), c->procs, mib(a, charge), mib(b, limit));
	return fn(ctx, &(struct attach_choice){.container = c->id, .text = text});
}

static int choose_process(const struct marked_process *p,
			  int (*fn)(void *, const struct attach_choice *), void *ctx)
{
	char title[128], name[NAME_SHOWN], comm[NAME_SHOWN], a[24], text[512];
	int n = snprintf(text, sizeof(text), "pid %-6d %-28s RSS %s MiB, %d markers", p->pid,
			 shown(comm, p->comm), mib(a, p->rss), p->sites);

	if (p->in && n > 0 && (size_t)n < sizeof(text))
		snprintf(text + n, sizeof(text) - (size_t)n, ", in %s %s", p->in->runtime,
			 shown(name, container_title(p->in, title, sizeof(title))));
	return fn(ctx, &(struct attach_choice){.pid = p->pid, .text = text});
}

int attach_each_choice(int (*fn)(void *, const struct attach_choice *), void *ctx)
{
	struct listing l = {.n = 0};
	int err = find_all(&l);

	for (size_t i = 0; i < l.containers.n && !err; i++)
		err = choose_container(&l, &l.containers.v[i], fn, ctx);
	for (size_t i = 0; i < l.n && !err; i++)
		err = choose_process(&l.v[i], fn, ctx);
	listing_free(&l);
	return err;
}

int attach_list(bool json, FILE *f)
{
	struct listing l = {.n = 0};
	int err = find_all(&l);

	if (err) {
		say_error("cannot list what there is: %s", strerror(-err));
	} else if (json) {
		err = put_json(&l, f);
	} else {
		put_containers(&l, f);
		fputc('\n', f);
		put_processes(&l, f);
	}
	/* Root may be refused too, by a security module: there is nothing to advise then. */
	if (!err && l.refused && geteuid())
		say_info("%u process%s could not be looked into: run as root", l.refused,
			 l.refused == 1 ? "" : "es");
	listing_free(&l);
	return err ? STATUS_FAILED : STATUS_DONE;
}
