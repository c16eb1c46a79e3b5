/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The known places of liblogrss.so, in our own file system or in that of another process. Private
 * to find. */
#ifndef PEAKPHASE_SOURCE_FIND_PLACE_H
#define PEAKPHASE_SOURCE_FIND_PLACE_H

#include <stdbool.h>

#include "source/find.h"

struct finder_seen;

struct finder {
	find_fn fn;
	void *ctx;
	int root; /* descriptor of the root that paths belong to; -1: ours */
	struct finder_seen *seen;
};

/* Offers a regular file that was not offered before; a path of our own file system. */
int finder_offer(struct finder *f, const char *path);
/* The same for a path below f->root. */
int finder_offer_inside(struct finder *f, const char *path);
void finder_end(struct finder *f);

/* Beside the running tracer, under its prefix, and in the system's library folders. */
int finder_library_places(struct finder *f);
/* Where the environment points Python to: PYTHONPATH, VIRTUAL_ENV, ~/.local, ./.venv, system-wide.
 * cwd: "" for ours. */
int finder_python_places(struct finder *f, const struct find_env *env, const char *cwd);
/* base/lib/python3X/{site,dist}-packages/peakphase: a prefix, a virtual environment. */
int finder_python_prefix(struct finder *f, const char *base);
/* The packages that come with a program BASE/bin/python3. */
int finder_python_of(struct finder *f, const char *program);
/* dir/peakphase/liblogrss.so */
int finder_python_folder(struct finder *f, const char *dir);

#endif
