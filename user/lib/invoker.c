/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "lib/invoker.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <libgen.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <unistd.h>

static bool env_id(const char *name, unsigned *id)
{
	const char *s = getenv(name);
	char *end;
	unsigned long v;

	if (!s || *s < '0' || *s > '9')
		return false;
	errno = 0;
	v = strtoul(s, &end, 10);
	if (errno || *end || v >= (unsigned)-1)
		return false;
	*id = (unsigned)v;
	return true;
}

bool invoker_ids(uid_t *uid, gid_t *gid)
{
	return !geteuid() && env_id("SUDO_UID", uid) && env_id("SUDO_GID", gid);
}

/* *pw: NULL where the user has no name here. */
static bool take_groups(uid_t uid, gid_t gid, struct passwd **pw)
{
	*pw = getpwuid(uid);
	return !(*pw ? initgroups((*pw)->pw_name, gid) : setgroups(1, &gid));
}

bool invoker_become(void)
{
	struct passwd *pw;
	uid_t uid;
	gid_t gid;

	if (!invoker_ids(&uid, &gid))
		return true;
	if (!take_groups(uid, gid, &pw) || setresgid(gid, gid, gid) || setresuid(uid, uid, uid))
		return false;
	return !pw || (!setenv("HOME", pw->pw_dir, 1) && !setenv("USER", pw->pw_name, 1) &&
		       !setenv("LOGNAME", pw->pw_name, 1));
}

/* Neither call tells of a failure: a second one with no id does. */
static bool files_as(uid_t uid, gid_t gid)
{
	setfsgid(gid);
	setfsuid(uid);
	return (gid_t)setfsgid((gid_t)-1) == gid && (uid_t)setfsuid((uid_t)-1) == uid;
}

static bool may_write(const char *path)
{
	char *copy = strdup(path);
	bool may = copy && !faccessat(AT_FDCWD, dirname(copy), W_OK | X_OK, AT_EACCESS);

	free(copy);
	return may;
}

bool invoker_files(const char *path)
{
	struct passwd *pw;
	uid_t uid;
	gid_t gid;

	if (!invoker_ids(&uid, &gid) || !uid)
		return false;
	if (take_groups(uid, gid, &pw) && files_as(uid, gid) && may_write(path))
		return true;
	invoker_files_end();
	return false;
}

void invoker_files_end(void)
{
	files_as(geteuid(), getegid());
}
