/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which files may hold markers. The caller looks into each and probes what it finds: what is
 * offered here is a file that is, will be or may be mapped executable, nothing more.
 *
 * Files of another mount namespace are opened inside it (never the host's file of the same name):
 * such a path is /proc/PID/… or /proc/self/fd/N and good until the callback returns. Each inode is
 * offered once. Nothing is run, nothing is waited for (pipes and devices are never opened). One
 * thread.
 */
#ifndef PEAKPHASE_SOURCE_FIND_H
#define PEAKPHASE_SOURCE_FIND_H

#include <limits.h>
#include <sys/types.h>

#include "resolve/proc.h"

/* Not 0 ends the search, and is what the search returns. */
typedef int (*find_fn)(void *ctx, const char *path);

/* Where a program and its Python look for things: environment variables, NULL if unset. */
struct find_env {
	const char *path, *library_path, *preload; /* PATH, LD_LIBRARY_PATH, LD_PRELOAD */
	const char *python_path, *venv, *home;	   /* PYTHONPATH, VIRTUAL_ENV, HOME */
};

/* Of this process. For `run -u USER`, set home to the user's. */
void find_env_get(struct find_env *env);

/*
 * The program, libraries and other code that pid has mapped, and the known places of liblogrss.so
 * for it (a Python that has not imported it yet). 0, -ESRCH, -EACCES, or what fn returned.
 */
int find_in_process(const char *proc, pid_t pid, find_fn fn, void *ctx);

/*
 * The path by which one mapping of pid can be opened now, whatever its namespace, also if the
 * file was deleted (with the right to read map_files). -ENOENT: there is none.
 */
int find_mapping(const char *proc, pid_t pid, const struct proc_map *m, char out[static PATH_MAX]);
/* The same for a process that is gone: its name for the file, if that is the same file for us. */
int find_mapped_here(const struct proc_map *m, char out[static PATH_MAX]);

/* The words of a command that are looked up, and the step that comes after them: known places. */
#define FIND_WORDS_MAX 16
#define FIND_PLACES FIND_WORDS_MAX

/* The search for a command goes word by word: by its number in argv. */
struct find_steps {
	unsigned int first;			     /* to begin with */
	void (*begin)(void *ctx, unsigned int step); /* ctx: that of fn */
};

/*
 * What a command that has not started yet will map: its program, interpreters ("#!", env) and
 * their libraries, programs among its arguments (`nice python3 …`), and the known places of
 * liblogrss.so. 0, or what fn returned; a command that does not exist offers only the known places.
 * It waits for file systems as long as they let it: find_apart.h does not. steps may be NULL.
 */
int find_for_command(char *const *argv, const struct find_env *env, const struct find_steps *steps,
		     find_fn fn, void *ctx);

#endif
