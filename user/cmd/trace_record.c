/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The files of a tracing: the recording, with what is known at its beginning, and the report. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cmd/trace_private.h"
#include "lib/invoker.h"
#include "lib/say.h"
#include "source/privilege.h"

#define SUFFIX ".peak"

/* COMMAND-YYYYMMDD-HHMMSS.peak, of what is a plain character in any shell. */
static char *default_path(const char *command)
{
	const char *base = strrchr(command, '/');
	char name[40], stamp[32], *path;
	time_t now = time(NULL);
	size_t n = 0;
	struct tm tm;

	base = base ? base + 1 : command;
	for (; *base && n + 1 < sizeof(name); base++)
		name[n++] = (*base >= 'a' && *base <= 'z') || (*base >= 'A' && *base <= 'Z') ||
				    (*base >= '0' && *base <= '9') || *base == '.' || *base == '_'
				? *base
				: '-';
	name[n] = '\0';
	localtime_r(&now, &tm);
	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &tm);
	if (asprintf(&path, "%s%s-%s" SUFFIX, *name == '-' ? "run" : "", name, stamp) < 0)
		return NULL;
	return path;
}

int trace_name(struct trace *t)
{
	t->path = t->opt.output ? strdup(t->opt.output) : default_path(t->name);
	return t->path ? 0 : -ENOMEM;
}

/*
 * Not while that would take from us what looking into other processes needs: then it is root's
 * file. With --no-record there is the view that can be written.
 */
uint64_t trace_files(const struct trace *t)
{
	char missing[256];

	if (!privilege_missing(PRIVILEGE_LOOK, missing, sizeof(missing)) && invoker_files(t->path))
		return 0;
	return t->opt.no_record ? 0 : privilege_for_file(t->path);
}

/*
 * Another of our kind may have begun in the same second: "-2", "-3" and so on behind the time. The
 * file is made here, as only that tells who was first. 1: it is; 0: it cannot be, and who writes to
 * it will say why; -ENOMEM.
 */
static int take_free_path(char **path)
{
	size_t stem = strlen(*path) - strlen(SUFFIX);
	char *next = strdup(*path);
	int fd = -1;

	for (unsigned int n = 2; next; n++) {
		fd = open(next, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0644);
		if (fd >= 0 || errno != EEXIST)
			break;
		free(next);
		if (asprintf(&next, "%.*s-%u" SUFFIX, (int)stem, *path, n) < 0)
			next = NULL;
	}
	if (!next)
		return -ENOMEM;
	if (fd >= 0)
		close(fd);
	free(*path);
	*path = next;
	return fd >= 0;
}

static uint64_t boot_id_hash(void)
{
	char id[64] = "";
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
	uint64_t h = 0xcbf29ce484222325ull; /* FNV-1a */

	if (f) {
		if (!fgets(id, sizeof(id), f))
			id[0] = '\0';
		fclose(f);
	}
	for (const char *s = id; *s && *s != '\n'; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3ull;
	return h;
}

int trace_record(struct trace *t)
{
	const struct session_facts *f = session_facts(t->session);
	struct timespec wall, mono, boot;
	char options[160];
	struct utsname u;
	int err, made;
	struct run_info info = {
	    .version = PEAKPHASE_VERSION,
	    .command = t->command,
	    .mode = t->mode == TRACE_RUN ? "run" : "attach",
	    .options = options,
	    .counters = f->counters == SESSION_COUNTERS_PERCPU ? "percpu" : "atomic",
	    .probe = f->site,
	    .boot_id_hash = boot_id_hash(),
	    .page_size = f->page_size,
	    .cpus = f->cpus,
	    .where_every = t->opt.where_every,
	    .exact = f->error_per_thread == 0,
	    .error_per_thread = f->error_per_thread,
	    .ceiling = t->opt.ceiling,
	    .headroom = t->opt.headroom,
	};

	snprintf(options, sizeof(options),
		 "{\"where_every\":%u,\"follow\":%s,\"duration_ns\":%llu}", t->opt.where_every,
		 t->opt.no_follow ? "false" : "true", (unsigned long long)t->opt.duration_ns);
	made = t->opt.output ? 0 : take_free_path(&t->path);
	if (made < 0)
		return made;
	uname(&u);
	info.kernel = u.release;
	info.machine = u.machine;
	clock_gettime(CLOCK_REALTIME, &wall);
	clock_gettime(CLOCK_MONOTONIC, &mono);
	clock_gettime(CLOCK_BOOTTIME, &boot);
	info.wall_ns = (uint64_t)wall.tv_sec * SECOND + (uint64_t)wall.tv_nsec;
	info.mono_ns = (uint64_t)mono.tv_sec * SECOND + (uint64_t)mono.tv_nsec;
	info.boot_ns = (uint64_t)boot.tv_sec * SECOND + (uint64_t)boot.tv_nsec;
	err = store_create(&t->store, t->path, &info);
	/* Still empty, unless somebody else named it in the meantime. */
	if (err && made && err != -EBUSY && err != -EEXIST)
		unlink(t->path);
	return err;
}

/* As a shell would make it for "> FILE": under sudo that of the invoker, where it may. */
int trace_open_json(struct trace *t)
{
	const char *path = t->opt.json_file;
	int fd, err;

	if (!path)
		return 0;
	invoker_files(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0644);
	if (fd < 0 && errno == EEXIST)
		fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY);
	err = errno;
	invoker_files_end();
	if (fd >= 0) {
		t->json = fdopen(fd, "w");
		if (t->json)
			return 0;
		err = errno;
	}
	if (fd >= 0)
		close(fd);
	say_error("cannot write the report to %s: %s", path, strerror(err));
	say_remedy("name another file: --json=FILE");
	return -err;
}
