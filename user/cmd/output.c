/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/say.h"

void output_init(struct output *o)
{
	o->file = o->null = -1;
}

/* Not in memory: that would be charged to the cgroup that is looked at. */
static int open_file(void)
{
	const char *dir = getenv("TMPDIR");
	int fd = open(dir && *dir ? dir : "/tmp", O_TMPFILE | O_RDWR | O_APPEND | O_CLOEXEC, 0600);
	char name[] = "/tmp/peakphase-XXXXXX";

	if (fd >= 0)
		return fd;
	fd = mkostemp(name, O_APPEND | O_CLOEXEC);
	if (fd >= 0)
		unlink(name);
	return fd;
}

int output_take(struct output *o, bool batch, int stdio[3])
{
	stdio[0] = STDIN_FILENO;
	stdio[1] = batch ? STDERR_FILENO : STDOUT_FILENO;
	stdio[2] = STDERR_FILENO;
	if (batch)
		return 0;
	o->null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	o->file = o->null < 0 ? -1 : open_file();
	if (o->file < 0) {
		int err = -errno;

		say_error("no place for what the command prints: %s", strerror(-err));
		say_remedy("make room in /tmp, or send the command's output to a file");
		return err;
	}
	if (isatty(STDIN_FILENO))
		stdio[0] = o->null;
	stdio[1] = o->file;
	if (isatty(STDERR_FILENO))
		stdio[2] = o->file;
	return 0;
}

void output_print(struct output *o)
{
	char buf[16384];
	ssize_t n;

	if (o->file >= 0 && !lseek(o->file, 0, SEEK_SET))
		while ((n = read(o->file, buf, sizeof(buf))) > 0)
			for (ssize_t at = 0, w; at < n; at += w) {
				w = write(STDOUT_FILENO, buf + at, (size_t)(n - at));
				if (w <= 0)
					goto out;
			}
out:
	if (o->file >= 0)
		close(o->file);
	if (o->null >= 0)
		close(o->null);
	output_init(o);
}
