/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "resolve/proc.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* PF_KTHREAD of include/linux/sched.h: in the flags of proc(5)'s stat since 2.6. */
#define FLAG_KTHREAD 0x00200000u
/* PF_EXITING: on its way out, before it is a zombie. */
#define FLAG_EXITING 0x4u

static int name_of(char out[static PATH_MAX], const char *proc, pid_t pid, const char *name)
{
	int n = pid ? snprintf(out, PATH_MAX, "%s/%d/%s", proc, (int)pid, name)
		    : snprintf(out, PATH_MAX, "%s/self/%s", proc, name);
	return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* A process that ends while it is read shows as either. */
static int gone(int err)
{
	return err == ENOENT ? -ESRCH : -err;
}

int proc_file(const char *path, char *buf, size_t cap, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = 0;
	size_t used = 0;

	if (fd < 0)
		return -errno;
	while (used < cap - 1) {
		ssize_t n = read(fd, buf + used, cap - 1 - used);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			err = -errno;
		if (n <= 0)
			break;
		used += (size_t)n;
	}
	close(fd);
	buf[used] = '\0';
	*len = used;
	return err;
}

int proc_file_in(const char *dir, const char *name, char *buf, size_t cap)
{
	char path[PATH_MAX];
	size_t len;

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	return proc_file(path, buf, cap, &len);
}

int proc_read(const char *proc, pid_t pid, const char *name, char *buf, size_t cap, size_t *len)
{
	char path[PATH_MAX];
	int err = name_of(path, proc, pid, name);

	if (!err)
		err = proc_file(path, buf, cap, len);
	return err == -ENOENT ? -ESRCH : err;
}

int proc_stat_parse(const char *text, size_t len, struct proc_stat *out)
{
	/* The name may hold anything, ") R 1" too: it ends at the last parenthesis. */
	const char *open = memchr(text, '(', len), *close = memrchr(text, ')', len);
	unsigned int flags, ppid, threads;
	unsigned long long start;
	size_t n;

	if (!open || !close || close < open)
		return -EBADMSG;
	n = (size_t)(close - open - 1);
	if (n > PROC_COMM_MAX)
		n = PROC_COMM_MAX;
	memset(out, 0, sizeof(*out));
	memcpy(out->comm, open + 1, n);
	/* 3 state, 4 ppid, 9 flags, 20 num_threads, 22 starttime */
	if (sscanf(close + 1,
		   " %c %u %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %u %*d %llu",
		   &out->state, &ppid, &flags, &threads, &start) != 5)
		return -EBADMSG;
	out->ppid = ppid;
	out->threads = threads;
	out->start_ticks = start;
	out->kernel_thread = flags & FLAG_KTHREAD;
	out->exiting = flags & FLAG_EXITING;
	return 0;
}

int proc_stat(const char *proc, pid_t pid, struct proc_stat *out)
{
	char buf[2048];
	size_t len;
	int err = proc_read(proc, pid, "stat", buf, sizeof(buf), &len);

	return err ? err : proc_stat_parse(buf, len, out);
}

/* The value behind "key:" at the beginning of a line. Name: is escaped by the kernel, so no line of
 * it lies. */
static const char *field(const char *text, const char *key)
{
	size_t n = strlen(key);

	for (const char *p = text; p; p = strchr(p, '\n')) {
		p += *p == '\n';
		if (!strncmp(p, key, n) && p[n] == ':')
			return p + n + 1;
	}
	return NULL;
}

static int number(const char *text, const char *key, uint32_t *out)
{
	const char *p = field(text, key);

	return p && sscanf(p, " %" SCNu32, out) == 1 ? 0 : -EBADMSG;
}

int proc_status_parse(const char *text, struct proc_status *out)
{
	const char *p;

	memset(out, 0, sizeof(*out));
	if (number(text, "Tgid", &out->tgid) || number(text, "TracerPid", &out->tracer))
		return -EBADMSG;
	p = field(text, "Uid");
	if (!p || sscanf(p, " %" SCNu32 " %" SCNu32, &out->uid, &out->euid) != 2 ||
	    number(text, "Gid", &out->gid))
		return -EBADMSG;
	p = field(text, "CapEff");
	if (!p || sscanf(p, " %" SCNx64, &out->cap_effective) != 1)
		return -EBADMSG;
	/* NSpid is missing where the kernel has no pid namespaces. */
	out->ns_pid = out->tgid;
	out->ns_depth = 1;
	p = field(text, "NSpid");
	for (uint32_t depth = 1; p && *p != '\n' && *p; depth++) {
		char *end;
		unsigned long v = strtoul(p, &end, 10);

		if (end == p)
			break;
		out->ns_pid = (uint32_t)v;
		out->ns_depth = depth;
		p = end + strspn(end, "\t ");
	}
	return 0;
}

int proc_status(const char *proc, pid_t pid, struct proc_status *out)
{
	char buf[8192];
	size_t len;
	int err = proc_read(proc, pid, "status", buf, sizeof(buf), &len);

	return err ? err : proc_status_parse(buf, out);
}

enum proc_kind proc_kind(const char *proc, pid_t pid, pid_t *tgid)
{
	struct proc_stat st;
	struct proc_status status;

	if (pid <= 0 || proc_stat(proc, pid, &st) || proc_status(proc, pid, &status))
		return PROC_GONE;
	*tgid = (pid_t)status.tgid;
	if (st.kernel_thread)
		return PROC_KERNEL;
	if (status.tgid != (uint32_t)pid)
		return PROC_THREAD;
	/* A leader that exited before its threads is a zombie too, with a living process behind it.
	 */
	if (st.state == 'X' || (st.state == 'Z' && st.threads <= 1))
		return PROC_ZOMBIE;
	return PROC_USER;
}

int proc_cmdline(const char *proc, pid_t pid, char *buf, size_t cap, size_t *len)
{
	return proc_read(proc, pid, "cmdline", buf, cap, len);
}

int proc_comm(const char *proc, pid_t pid, char comm[static PROC_COMM_MAX + 1])
{
	char buf[PROC_COMM_MAX + 2];
	size_t len;
	int err = proc_read(proc, pid, "comm", buf, sizeof(buf), &len);

	if (err)
		return err;
	/* Only the last newline is the kernel's: a name may hold others. */
	if (len && buf[len - 1] == '\n')
		buf[--len] = '\0';
	memcpy(comm, buf, PROC_COMM_MAX);
	comm[PROC_COMM_MAX] = '\0';
	return 0;
}

bool proc_cut_deleted(char *path)
{
	static const char mark[] = " (deleted)";
	size_t n = strlen(path), m = sizeof(mark) - 1;

	if (n <= m || strcmp(path + n - m, mark) != 0)
		return false;
	path[n - m] = '\0';
	return true;
}

int proc_exe(const char *proc, pid_t pid, char *buf, size_t cap, bool *deleted)
{
	char path[PATH_MAX];
	ssize_t n;
	bool cut;
	int err = name_of(path, proc, pid, "exe");

	if (err)
		return err;
	n = readlink(path, buf, cap - 1);
	if (n < 0)
		return gone(errno);
	if ((size_t)n == cap - 1)
		return -ENAMETOOLONG;
	buf[n] = '\0';
	cut = proc_cut_deleted(buf);
	if (deleted)
		*deleted = cut;
	return 0;
}

int proc_rss(const char *proc, pid_t pid, uint64_t *bytes)
{
	char buf[4096];
	const char *p;
	size_t len;
	int err = proc_read(proc, pid, "smaps_rollup", buf, sizeof(buf), &len);

	if (err)
		return err;
	p = field(buf, "Rss");
	if (!p || sscanf(p, " %" SCNu64 " kB", bytes) != 1)
		return -EBADMSG;
	*bytes *= 1024;
	return 0;
}

/* The kernel writes a newline in a name as \012, and nothing else so (a backslash stays itself). */
static void decode_newlines(char *s)
{
	char *to = s;

	while (*s) {
		if (!strncmp(s, "\\012", 4)) {
			*to++ = '\n';
			s += 4;
		} else {
			*to++ = *s++;
		}
	}
	*to = '\0';
}

int proc_map_parse(char *line, struct proc_map *m)
{
	char perms[5];
	int used = 0;

	memset(m, 0, sizeof(*m));
	if (sscanf(line,
		   "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %" SCNx32 ":%" SCNx32 " %" SCNu64 "%n",
		   &m->start, &m->end, perms, &m->offset, &m->dev_major, &m->dev_minor, &m->inode,
		   &used) != 7 ||
	    !used || strlen(perms) != 4 || m->end <= m->start)
		return -EBADMSG;
	m->executable = perms[2] == 'x';
	/* Names begin at a column of their own, so a leading space in one cannot be told: names
	 * begin with / or [. */
	line += used;
	line += strspn(line, " ");
	decode_newlines(line);
	m->deleted = m->inode && proc_cut_deleted(line);
	m->path = line;
	return 0;
}

int proc_maps_each(const char *proc, pid_t pid, int (*fn)(void *, const struct proc_map *),
		   void *ctx)
{
	char path[PATH_MAX], *line = NULL;
	size_t cap = 0;
	ssize_t n;
	FILE *f;
	int err = name_of(path, proc, pid, "maps");

	if (err)
		return err;
	f = fopen(path, "re");
	if (!f)
		return gone(errno);
	errno = 0;
	while (!err && (n = getline(&line, &cap, f)) > 0) {
		struct proc_map m;

		if (line[n - 1] == '\n')
			line[n - 1] = '\0';
		err = proc_map_parse(line, &m);
		if (!err)
			err = fn(ctx, &m);
		errno = 0;
	}
	if (!err && ferror(f))
		err = gone(errno ? errno : EIO);
	free(line);
	fclose(f);
	return err;
}

int proc_threads_each(const char *proc, pid_t pid, int (*fn)(void *, pid_t), void *ctx)
{
	char path[PATH_MAX];
	struct dirent *e;
	DIR *d;
	int err = name_of(path, proc, pid, "task");

	if (err)
		return err;
	d = opendir(path);
	if (!d)
		return gone(errno);
	while (!err && (e = readdir(d))) {
		char *end;
		long tid = strtol(e->d_name, &end, 10);

		if (isdigit((unsigned char)e->d_name[0]) && !*end && tid > 0 && tid <= INT_MAX)
			err = fn(ctx, (pid_t)tid);
	}
	closedir(d);
	return err;
}

struct living {
	const char *proc;
	pid_t tid;
};

static int keep_living(void *ctx, pid_t tid)
{
	struct living *l = ctx;
	struct proc_stat st;

	if (proc_stat(l->proc, tid, &st) || st.state == 'Z' || st.state == 'X')
		return 0;
	l->tid = tid;
	return 1;
}

pid_t proc_living(const char *proc, pid_t pid)
{
	struct living l = {proc, pid};
	struct proc_stat st;

	if (!proc_stat(proc, pid, &st) && st.state == 'Z')
		proc_threads_each(proc, pid, keep_living, &l);
	return l.tid;
}
