/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Objects as files: each is there as a whole, durably, or not at all. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/say.h"
#include "sink/outlet.h"

struct folder {
	char *path;
};

/* As mkdir -p. 0 or -errno. */
static int make_folders(const char *path)
{
	char *copy = strdup(path);
	int err = copy ? 0 : -ENOMEM;

	for (char *s = copy; s && !err; s++) {
		char was;

		s += strspn(s, "/");
		s += strcspn(s, "/");
		was = *s;
		*s = '\0';
		if (mkdir(copy, 0777) && errno != EEXIST)
			err = -errno;
		*s = was;
		if (!was)
			break;
	}
	free(copy);
	return err;
}

static int write_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len < 1u << 20 ? len : 1u << 20);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		data += n;
		len -= (size_t)n;
	}
	return fsync(fd) ? -errno : 0;
}

static int sync_folder(int dir)
{
	/* Some file systems know no such thing. */
	return fsync(dir) && errno != EINVAL && errno != EBADF ? -errno : 0;
}

/* name within dir, by way of a file beside it. */
static int put_file(int dir, const char *name, const void *data, size_t len)
{
	char temp[64];
	int fd, err;

	snprintf(temp, sizeof(temp), ".peakphase-%d.part", (int)getpid());
	unlinkat(dir, temp, 0);
	fd = openat(dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	err = write_all(fd, data, len);
	if (close(fd) && !err)
		err = -errno;
	if (!err && renameat(dir, temp, dir, name))
		err = -errno;
	if (err)
		unlinkat(dir, temp, 0);
	return err ? err : sync_folder(dir);
}

static int put_below(int top, const char *key, const void *data, size_t len)
{
	const char *slash = strchr(key, '/');
	char part[PLACE_KEY_MAX];
	int dir, err;

	if (!slash)
		return put_file(top, key, data, len);
	snprintf(part, sizeof(part), "%.*s", (int)(slash - key), key);
	if (mkdirat(top, part, 0777)) {
		if (errno != EEXIST)
			return -errno;
	} else {
		sync_folder(top);
	}
	dir = openat(top, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	err = put_file(dir, slash + 1, data, len);
	close(dir);
	return err;
}

static enum outlet_result folder_put(void *ctx, const char *key, const void *data, size_t len,
				     const char *type, char why[static OUTLET_WHY_MAX])
{
	struct folder *f = ctx;
	int top, err;

	(void)type;
	err = make_folders(f->path);
	top = err ? -1 : open(f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (!err && top < 0)
		err = -errno;
	if (!err)
		err = put_below(top, key, data, len);
	if (top >= 0)
		close(top);
	if (!err)
		return OUTLET_DONE;
	snprintf(why, OUTLET_WHY_MAX, "cannot write %s: %s", key, strerror(-err));
	switch (err) {
	case -EACCES:
	case -EPERM:
	case -EROFS:
	case -ENOTDIR:
	case -ELOOP:
	case -ENAMETOOLONG:
	case -EISDIR:
		return OUTLET_NEVER;
	default:
		return OUTLET_LATER; /* room may be made, a server may come back */
	}
}

static void folder_close(void *ctx)
{
	struct folder *f = ctx;

	free(f->path);
	free(f);
}

int outlet_open_folder(struct outlet *o, const struct place *p)
{
	struct folder *f = calloc(1, sizeof(*f));

	if (f)
		f->path = strdup(p->text);
	if (!f || !f->path) {
		free(f);
		say_error("no memory for the sink");
		return -ENOMEM;
	}
	*o = (struct outlet){.ctx = f, .put = folder_put, .close = folder_close};
	return 0;
}
