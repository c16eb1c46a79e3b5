/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "lib/invoker.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
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

bool invoker_become(void)
{
	struct passwd *pw;
	uid_t uid;
	gid_t gid;

	if (!invoker_ids(&uid, &gid))
		return true;
	pw = getpwuid(uid);
	if (pw ? initgroups(pw->pw_name, gid) : setgroups(1, &gid))
		return false;
	if (setresgid(gid, gid, gid) || setresuid(uid, uid, uid))
		return false;
	return !pw || (!setenv("HOME", pw->pw_dir, 1) && !setenv("USER", pw->pw_name, 1) &&
		       !setenv("LOGNAME", pw->pw_name, 1));
}
