/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "source/command_fail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/say.h"
#include "lib/text.h"
#include "resolve/elf.h"
#include "source/command.h"

/* A name as people see it: escaped, and cut where it is absurdly long. */
struct shown {
	char text[1024];
};

static const char *show(struct shown *s, const char *name)
{
	text_escape(s->text, sizeof(s->text), name, strlen(name));
	return s->text;
}

void command_say_user(const char *user, const char *what)
{
	struct shown u;

	say_error("cannot run the command as user %s: %s", show(&u, user), what);
}

int command_lookup(const char *name, const char *path, char out[static PATH_MAX])
{
	bool denied = false;

	if (!path)
		path = getenv("PATH");
	if (!path)
		path = "/bin:/usr/bin"; /* what execvp(3) takes then */
	if (!*name)
		return -ENOENT;
	if (strchr(name, '/')) {
		if (strlen(name) >= PATH_MAX)
			return -ENAMETOOLONG;
		strcpy(out, name);
		return access(out, F_OK) ? -errno : 0;
	}
	for (const char *p = path;; p++) {
		const char *end = strchrnul(p, ':');
		struct stat st;
		int n;

		/* An empty part is the current directory. */
		n = snprintf(out, PATH_MAX, "%.*s%s%s", (int)(end - p), p, end > p ? "/" : "",
			     name);
		if (n < PATH_MAX && !stat(out, &st) && S_ISREG(st.st_mode)) {
			if (!access(out, X_OK))
				return 0;
			denied = true;
		}
		if (!*end)
			return denied ? -EACCES : -ENOENT;
		p = end;
	}
}

/* The file is there, and yet "no such file": what it needs to run is missing. */
static bool say_missing_interpreter(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct elf_script script;
	struct shown s, p;
	char loader[PATH_MAX];
	bool said = false;

	if (fd < 0)
		return false;
	if (!elf_script_interpreter(fd, &script)) {
		said = true;
		say_error("cannot run %s: its interpreter %s is missing", show(&p, path),
			  show(&s, script.path));
		if (strchr(script.path, '\r'))
			say_remedy(
			    "its first line ends in a carriage return: convert it to Unix line ends");
		else
			say_remedy(
			    "install the interpreter, or correct the first line of the script");
	} else if (elf_interp(fd, loader, sizeof(loader)) > 0) {
		said = true;
		say_error("cannot run %s: its dynamic loader %s is missing", show(&p, path),
			  show(&s, loader));
		say_remedy("the program was built for another C library or architecture");
	}
	close(fd);
	return said;
}

static void say_not_found(const char *name)
{
	char path[PATH_MAX];
	struct shown s;

	if (!command_lookup(name, NULL, path) && say_missing_interpreter(path))
		return;
	if (strchr(name, '/'))
		say_error("cannot run %s: there is no such file", show(&s, name));
	else
		say_error("cannot run %s: no command of this name in PATH", show(&s, name));
	say_remedy("check its spelling, or give its path");
}

static void say_denied(const char *name, const char *user)
{
	struct shown s, p;
	char path[PATH_MAX];
	struct stat st;
	bool hidden = command_lookup(name, NULL, path) == -EACCES && !strchr(name, '/');

	if (!hidden && !stat(path, &st) && S_ISDIR(st.st_mode)) {
		say_error("cannot run %s: it is a directory", show(&s, name));
		say_remedy("name a program in it");
		return;
	}
	if (hidden)
		say_error("cannot run %s: the file of this name in PATH is not executable",
			  show(&s, name));
	else if (!stat(path, &st) && !(st.st_mode & 0111))
		say_error("cannot run %s: it is not executable", show(&s, name));
	else
		say_error("cannot run %s: permission denied", show(&s, path));
	if (user)
		say_remedy(
		    "user %s needs the right to execute it, and to enter every directory above it",
		    show(&p, user));
	else
		say_remedy("chmod +x it, or name its interpreter: the mount may be noexec, too");
}

int command_say_failure(const char *name, const char *user, int step, int error)
{
	char path[PATH_MAX];
	struct shown s;

	/* execvp(3) says "denied" also if only a directory of PATH was closed to it. */
	if (step == COMMAND_STEP_EXEC && error == EACCES &&
	    command_lookup(name, NULL, path) == -ENOENT)
		error = ENOENT;
	if (step == COMMAND_STEP_GROUPS || step == COMMAND_STEP_USER) {
		command_say_user(user, strerror(error));
		say_remedy("run as root with CAP_SETUID and CAP_SETGID, or leave -u away");
	} else if (error == ENOENT) {
		say_not_found(name);
	} else if (error == EACCES) {
		say_denied(name, user);
	} else {
		say_error("cannot run %s: %s", show(&s, name), strerror(error));
	}
	return error == ENOENT ? COMMAND_NOT_FOUND : COMMAND_NOT_RUNNABLE;
}
