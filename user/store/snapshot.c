/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A private copy of a recording that SQLite cannot open in place: its log is there, but not the
 * index of the log (-shm), and the folder is not ours to make one in.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/access.h"

#define TRIES 5
#define WAL_HEAD 32 /* holds the salts, which change when the log begins anew */

static int copy_file(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC | O_NONBLOCK), out, ret = 0;
	char buf[65536];
	ssize_t n = 0;

	if (in < 0)
		return -errno;
	out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (out < 0) {
		ret = -errno;
		close(in);
		return ret;
	}
	while (!ret && (n = read(in, buf, sizeof(buf))) > 0)
		for (ssize_t at = 0, w; at < n && !ret; at += w) {
			w = write(out, buf + at, (size_t)(n - at));
			if (w < 0) {
				ret = -errno;
				break;
			}
		}
	if (n < 0)
		ret = -errno;
	if (close(out) && !ret)
		ret = -errno;
	close(in);
	return ret;
}

static int wal_head(const char *wal, char head[WAL_HEAD])
{
	int fd = open(wal, O_RDONLY | O_CLOEXEC | O_NONBLOCK), ret = 0;

	memset(head, 0, WAL_HEAD);
	if (fd < 0)
		return -errno;
	if (read(fd, head, WAL_HEAD) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

/*
 * The file first, its log second: whatever a checkpoint moves into the file meanwhile is in the log
 * too, unless the log began anew, which its head tells.
 */
static int copy_both(const char *path, const char *wal, const char *copy, const char *copy_wal)
{
	char before[WAL_HEAD], after[WAL_HEAD];
	int ret = 0;

	for (int i = 0; i < TRIES; i++) {
		ret = wal_head(wal, before);
		if (!ret)
			ret = copy_file(path, copy);
		if (!ret)
			ret = copy_file(wal, copy_wal);
		if (!ret)
			ret = wal_head(wal, after);
		if (ret || !memcmp(before, after, WAL_HEAD))
			return ret;
	}
	return -EAGAIN;
}

void snapshot_forget(char **dirp)
{
	static const char *const names[] = {"r", "r-wal", "r-shm", "r-journal"};
	char *dir = *dirp, *name;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (asprintf(&name, "%s/%s", dir, names[i]) < 0)
			continue;
		unlink(name);
		free(name);
	}
	rmdir(dir);
	free(dir);
	*dirp = NULL;
}

int snapshot_make(char **dirp, char **copyp, const char *path)
{
	const char *tmp = getenv("TMPDIR");
	char *dir = NULL, *wal = NULL, *copy = NULL, *copy_wal = NULL;
	int ret = -ENOMEM;

	if (asprintf(&dir, "%s/peakphase-XXXXXX", tmp && *tmp ? tmp : "/tmp") < 0)
		return -ENOMEM;
	if (!mkdtemp(dir)) {
		ret = -errno;
		free(dir);
		return ret;
	}
	if (asprintf(&wal, "%s-wal", path) < 0)
		wal = NULL;
	if (asprintf(&copy, "%s/r", dir) < 0)
		copy = NULL;
	if (asprintf(&copy_wal, "%s/r-wal", dir) < 0)
		copy_wal = NULL;
	if (wal && copy && copy_wal)
		ret = copy_both(path, wal, copy, copy_wal);
	free(copy_wal);
	free(wal);
	if (!ret) {
		*dirp = dir;
		*copyp = copy;
		return 0;
	}
	free(copy);
	snapshot_forget(&dir);
	return ret;
}
