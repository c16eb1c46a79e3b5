/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/preset_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/say.h"
#include "lib/text.h"

#define SUFFIX ".preset"
#define DIRS 2
#define SEEN_MAX 256

struct dirs {
	char path[DIRS][512]; /* the first that has a name counts; empty: none */
};

static void find_dirs(struct dirs *d)
{
	const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	d->path[0][0] = '\0';
	if (xdg && *xdg)
		snprintf(d->path[0], sizeof(d->path[0]), "%s/peakphase/presets.d", xdg);
	else if (home && *home)
		snprintf(d->path[0], sizeof(d->path[0]), "%s/.config/peakphase/presets.d", home);
	strcpy(d->path[1], "/etc/peakphase/presets.d");
}

/* A plain name: nothing that leads out of the folder or onto the terminal. */
static bool is_name(const char *s)
{
	static const char plain[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";

	return *s && *s != '.' && strlen(s) <= 64 && !s[strspn(s, plain)];
}

/* A folder is no preset, whatever its name. */
static bool is_there(const char *path)
{
	struct stat st;

	return !stat(path, &st) ? !S_ISDIR(st.st_mode) : errno != ENOENT && errno != ENOTDIR;
}

/* Its text, on the heap; NULL: said. */
static char *read_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char *text = NULL;
	struct stat st;
	ssize_t n;

	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size <= PRESET_BYTES_MAX) {
		text = calloc(1, PRESET_BYTES_MAX + 1);
		n = text ? read(fd, text, PRESET_BYTES_MAX) : -1;
		if (n < 0 || memchr(text, '\0', (size_t)n)) {
			free(text);
			text = NULL;
		}
	}
	if (!text) {
		say_error("cannot read the preset %s", path);
		say_remedy("a text file of at most %u bytes", PRESET_BYTES_MAX);
	}
	if (fd >= 0)
		close(fd);
	return text;
}

static char *text_of(const char *name, bool *failed)
{
	char path[640], *text;
	struct dirs d;

	*failed = false;
	find_dirs(&d);
	for (int i = 0; i < DIRS; i++) {
		if (!d.path[i][0])
			continue;
		snprintf(path, sizeof(path), "%s/%s" SUFFIX, d.path[i], name);
		if (!is_there(path))
			continue;
		text = read_file(path);
		*failed = !text;
		return text;
	}
	for (const struct preset *p = presets_own; p->name; p++)
		if (!strcmp(p->name, name))
			return strdup(p->text);
	return NULL;
}

int preset_files_add(struct patterns *ps, const char *name)
{
	char error[PRESET_ERROR_MAX], shown[128], *text = NULL;
	bool failed = false;
	int err;

	text_escape(shown, sizeof(shown), name, strlen(name));
	if (is_name(name))
		text = text_of(name, &failed);
	if (failed)
		return -EIO;
	if (!text) {
		say_error("there is no preset '%s'", shown);
		say_remedy("`peakphase presets` lists them");
		return -ENOENT;
	}
	err = preset_add(ps, text, error);
	if (err) {
		say_error("preset '%s': %s", shown, error);
		say_remedy("`peakphase presets` shows the form of others");
	}
	free(text);
	return err;
}

struct seen {
	char name[SEEN_MAX][65];
	int n;
};

static bool is_new(struct seen *seen, const char *name)
{
	for (int i = 0; i < seen->n; i++)
		if (!strcmp(seen->name[i], name))
			return false;
	if (seen->n == SEEN_MAX || strlen(name) >= sizeof(seen->name[0]))
		return false;
	strcpy(seen->name[seen->n++], name);
	return true;
}

static int each_in(const char *dir, const char *only, struct seen *seen,
		   int (*fn)(void *ctx, const char *name, const char *from, char *text), void *ctx)
{
	char name[300], path[1024], *text;
	struct dirent **list;
	int n = scandir(dir, &list, NULL, alphasort), err = 0;

	for (int i = 0; i < n; i++) {
		size_t len = strlen(list[i]->d_name), end = strlen(SUFFIX);

		if (!err && len > end && !strcmp(list[i]->d_name + len - end, SUFFIX)) {
			snprintf(name, sizeof(name), "%.*s", (int)(len - end), list[i]->d_name);
			snprintf(path, sizeof(path), "%s/%s", dir, list[i]->d_name);
			text = is_name(name) && (!only || !strcmp(only, name)) && is_there(path) &&
				       is_new(seen, name)
				   ? read_file(path)
				   : NULL;
			if (text)
				err = fn(ctx, name, path, text);
			free(text);
		}
		free(list[i]);
	}
	if (n >= 0)
		free(list);
	return err;
}

int preset_files_each(const char *only,
		      int (*fn)(void *ctx, const char *name, const char *from, char *text),
		      void *ctx)
{
	struct seen *seen = calloc(1, sizeof(*seen));
	struct dirs d;
	int err = 0;

	if (!seen)
		return -ENOMEM;
	find_dirs(&d);
	for (int i = 0; i < DIRS && !err; i++)
		if (d.path[i][0])
			err = each_in(d.path[i], only, seen, fn, ctx);
	for (const struct preset *p = presets_own; p->name && !err; p++) {
		bool wanted = (!only || !strcmp(only, p->name)) && is_new(seen, p->name);
		char *text = wanted ? strdup(p->text) : NULL;

		if (text)
			err = fn(ctx, p->name, "peakphase", text);
		free(text);
	}
	free(seen);
	return err;
}
