/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "source/find.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "resolve/elf.h"
#include "resolve/library.h"
#include "source/command.h"
#include "source/find_place.h"

#define SCRIPT_DEPTH 5 /* as deep as the kernel follows "#!" */
#define WORDS_MAX 256  /* of shell code, over all of it, that may name programs */
#define SHELL_SCRIPT_MAX (64 << 10)
#define ENVIRON_MAX (128 << 10)

void find_env_get(struct find_env *env)
{
	*env = (struct find_env){
	    .path = getenv("PATH"),
	    .library_path = getenv("LD_LIBRARY_PATH"),
	    .preload = getenv("LD_PRELOAD"),
	    .python_path = getenv("PYTHONPATH"),
	    .venv = getenv("VIRTUAL_ENV"),
	    .home = getenv("HOME"),
	};
}

/* A file of the name is there; is it the one that is mapped? Overlays show other numbers in maps.
 */
static bool same_file(const struct proc_map *m, const struct stat *st)
{
	return m->inode == st->st_ino || m->dev_major != major(st->st_dev) ||
	       m->dev_minor != minor(st->st_dev);
}

/* Deleted files have no name, though a new one may have taken it. */
static bool named(const char *root, const struct proc_map *m, char out[static PATH_MAX],
		  struct stat *st)
{
	return !m->deleted && *m->path == '/' &&
	       snprintf(out, PATH_MAX, "%s%s", root, m->path) < PATH_MAX && !stat(out, st);
}

static bool is_file(const struct proc_map *m, const struct stat *st)
{
	return m->inode == st->st_ino && m->dev_major == major(st->st_dev) &&
	       m->dev_minor == minor(st->st_dev);
}

/* What starts a container runs from a mount of its own file alone, the path in which is "/". */
static bool is_runtime(const struct proc_map *m, char out[static PATH_MAX])
{
	static const char *const folders[] = {"/usr/bin", "/usr/sbin", "/usr/local/bin",
					      "/usr/local/sbin"};
	static const char *const names[] = {"runc", "crun"};
	struct stat st;

	if (m->deleted || strcmp(m->path, "/"))
		return false;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
			snprintf(out, PATH_MAX, "%s/%s", folders[i], names[k]);
			if (!stat(out, &st) && is_file(m, &st))
				return true;
		}
	}
	return false;
}

int find_mapped_here(const struct proc_map *m, char out[static PATH_MAX])
{
	struct stat st;

	return (named("", m, out, &st) && is_file(m, &st)) || is_runtime(m, out) ? 0 : -ENOENT;
}

int find_mapping(const char *proc, pid_t pid, const struct proc_map *m, char out[static PATH_MAX])
{
	char root[PATH_MAX];
	struct stat st;
	int n = snprintf(out, PATH_MAX, "%s/%d/map_files/%" PRIx64 "-%" PRIx64, proc, (int)pid,
			 m->start, m->end);

	if (n < PATH_MAX && !stat(out, &st))
		return 0;
	snprintf(root, sizeof(root), "%s/%d/root", proc, (int)pid);
	return named(root, m, out, &st) && same_file(m, &st) ? 0 : -ENOENT;
}

struct process_search {
	struct finder finder;
	const char *proc;
	pid_t pid;
};

static int on_map(void *ctx, const struct proc_map *m)
{
	struct process_search *s = ctx;
	char path[PATH_MAX];

	if (!m->executable || !m->inode || find_mapping(s->proc, s->pid, m, path))
		return 0;
	return finder_offer(&s->finder, path);
}

/* The value of a variable in a block of NAME=VALUE strings, each with a NUL behind it. */
static const char *variable(const char *block, size_t len, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = block; p < block + len; p += strlen(p) + 1) {
		if (!strncmp(p, name, n) && p[n] == '=')
			return p + n + 1;
	}
	return NULL;
}

/* Code that is not mapped yet: a Python that will import the markers, a program that will load
 * them. */
static int known_places_inside(struct process_search *s, const char *exe)
{
	char path[PATH_MAX], cwd[PATH_MAX], *block = malloc(ENVIRON_MAX);
	struct find_env env = {0};
	ssize_t n = -1;
	size_t len;
	int err = -ENOMEM;

	if (!block)
		return err;
	if (!proc_read(s->proc, s->pid, "environ", block, ENVIRON_MAX, &len)) {
		env.python_path = variable(block, len, "PYTHONPATH");
		env.venv = variable(block, len, "VIRTUAL_ENV");
		env.home = variable(block, len, "HOME");
	}
	if (snprintf(path, sizeof(path), "%s/%d/cwd", s->proc, (int)s->pid) < (int)sizeof(path))
		n = readlink(path, cwd, sizeof(cwd) - 1);
	cwd[n > 0 ? n : 0] = '\0';
	snprintf(path, sizeof(path), "%s/%d/root", s->proc, (int)s->pid);
	s->finder.root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	err = 0;
	if (s->finder.root >= 0) {
		/* Replaced while it runs: what an exec of the name, by itself say, will run. */
		err = finder_offer_inside(&s->finder, exe);
		err = err ? err : finder_python_of(&s->finder, exe);
		err = err ? err : finder_python_places(&s->finder, &env, *cwd ? cwd : "/");
		err = err ? err : finder_library_places(&s->finder);
		close(s->finder.root);
		s->finder.root = -1;
	}
	free(block);
	return err;
}

int find_in_process(const char *proc, pid_t process, find_fn fn, void *ctx)
{
	pid_t pid = proc_living(proc, process);
	struct process_search s = {.finder = {fn, ctx, -1, NULL}, .proc = proc, .pid = pid};
	char exe[PATH_MAX], path[PATH_MAX];
	int err;

	if (snprintf(path, sizeof(path), "%s/%d/exe", proc, (int)pid) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	err = proc_exe(proc, pid, exe, sizeof(exe), NULL);
	if (err)
		return err;
	/* The link works also for a program that was deleted, and needs no right to map_files. */
	err = finder_offer(&s.finder, path);
	err = err ? err : proc_maps_each(proc, pid, on_map, &s);
	err = err ? err : known_places_inside(&s, exe);
	finder_end(&s.finder);
	return err;
}

struct command_search {
	struct finder finder;
	const struct find_env *env;
	unsigned int words; /* of shell code, looked up so far */
};

static int on_library(void *ctx, const char *path)
{
	return finder_offer(ctx, path);
}

static int offer_program(struct command_search *s, const char *path, int depth);

/* "#!/usr/bin/env [-S] [-i] [NAME=VALUE…] python3 -u": env runs the first word that is neither. */
static int offer_env_word(struct command_search *s, char *words, int depth)
{
	char path[PATH_MAX];

	for (char *save, *w = strtok_r(words, " \t", &save); w; w = strtok_r(NULL, " \t", &save)) {
		if (*w == '-' || strchr(w, '='))
			continue;
		return command_lookup(w, s->env->path, path) ? 0
							     : offer_program(s, path, depth + 1);
	}
	return 0;
}

static bool is_env(const char *path)
{
	const char *slash = strrchr(path, '/');

	return !strcmp(slash ? slash + 1 : path, "env");
}

/*
 * Words of shell code that name programs: `sh -c 'cd x && ./etl input'`, `nice ./etl` in a script.
 * No shell is imitated: what is no program is not found, what is none of the programs that will run
 * costs a look.
 */
static int offer_shell_words(struct command_search *s, char *code, int depth)
{
	static const char between[] = " \t\r\n;&|()<>`\"'{}$=";
	char path[PATH_MAX];
	int err = 0;

	for (char *save, *w = strtok_r(code, between, &save); !err && w && s->words++ < WORDS_MAX;
	     w = strtok_r(NULL, between, &save))
		if (!command_lookup(w, s->env->path, path))
			err = offer_program(s, path, depth + 1);
	return err;
}

static bool is_shell(const char *path)
{
	static const char *const shells[] = {"sh", "bash", "dash", "ash", "zsh", "ksh", "mksh"};
	const char *slash = strrchr(path, '/');

	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++)
		if (!strcmp(slash ? slash + 1 : path, shells[i]))
			return true;
	return false;
}

/* What a shell script runs: of its beginning, as far as that is text. */
static int offer_shell_script(struct command_search *s, const char *path, int depth)
{
	char *code = malloc(SHELL_SCRIPT_MAX + 1);
	int fd = code ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1, err = 0;
	ssize_t n = fd < 0 ? -1 : pread(fd, code, SHELL_SCRIPT_MAX, 0);

	if (fd >= 0)
		close(fd);
	if (n > 0 && !memchr(code, 0, (size_t)n)) {
		code[n] = '\0';
		err = offer_shell_words(s, code, depth);
	}
	free(code);
	return err;
}

/* A program, what interprets it, and the libraries of what runs in the end. */
static int offer_program(struct command_search *s, const char *path, int depth)
{
	struct elf_script script;
	char real[PATH_MAX];
	struct stat st;
	int fd, err;

	/* `cmd <(…)`: to open the pipe that an argument names would disturb its writer. */
	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return 0;
	err = elf_script_interpreter(fd, &script);
	close(fd);
	if (!err) {
		err = depth < SCRIPT_DEPTH ? offer_program(s, script.path, depth + 1) : 0;
		if (!err && is_shell(script.path) && depth < SCRIPT_DEPTH)
			err = offer_shell_script(s, path, depth);
		if (!err && is_env(script.path) && depth < SCRIPT_DEPTH)
			err = offer_env_word(s, script.arg, depth);
		return err;
	}
	err = finder_offer(&s->finder, path);
	err =
	    err ? err
		: library_each(path, s->env->library_path, s->env->preload, on_library, &s->finder);
	/* A virtual environment is told by the link's folder, an installation by the file's. */
	err = err ? err : finder_python_of(&s->finder, path);
	if (!err && realpath(path, real))
		err = finder_python_of(&s->finder, real);
	return err;
}

/* Python looks for modules beside the script. */
static int beside_script(struct command_search *s, const char *path)
{
	const char *slash = strrchr(path, '/');
	char dir[PATH_MAX];

	snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
	return finder_python_folder(&s->finder, dir);
}

/* The argument of -c of a shell, or one that looks like it. */
static int offer_shell_argument(struct command_search *s, const char *code)
{
	char *copy = strdup(code);
	int err = copy ? offer_shell_words(s, copy, 0) : 0;

	free(copy);
	return err;
}

/* One word of the command line. */
static int offer_word(struct command_search *s, char *const *argv, unsigned int i)
{
	char path[PATH_MAX];
	struct stat st;
	int err = 0;

	/* Any argument may be the program that a wrapper (nice, timeout, uv) runs. */
	if (!command_lookup(argv[i], s->env->path, path)) {
		err = offer_program(s, path, 0);
		if (!err && !i)
			err = beside_script(s, path);
	} else if (i && strpbrk(argv[i], " \t\n;&|")) {
		err = offer_shell_argument(s, argv[i]);
	}
	/* A script need not be executable for its interpreter to run it. */
	if (!err && i && !stat(argv[i], &st) && S_ISREG(st.st_mode))
		err = beside_script(s, argv[i]);
	return err;
}

int find_for_command(char *const *argv, const struct find_env *env, const struct find_steps *steps,
		     find_fn fn, void *ctx)
{
	struct command_search s = {{fn, ctx, -1, NULL}, env, 0};
	int err = 0;

	for (unsigned int i = 0; !err && i < FIND_WORDS_MAX && argv[i]; i++) {
		if (steps && i < steps->first)
			continue;
		if (steps)
			steps->begin(ctx, i);
		err = offer_word(&s, argv, i);
	}
	if (!err && steps)
		steps->begin(ctx, FIND_PLACES);
	err = err ? err : finder_python_places(&s.finder, env, "");
	err = err ? err : finder_library_places(&s.finder);
	finder_end(&s.finder);
	return err;
}
