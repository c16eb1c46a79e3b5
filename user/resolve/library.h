/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which libraries the dynamic loader will map with a program, without running either: names from
 * the dynamic sections, looked for where ld.so(8) looks, but for its cache (the folders of
 * ld.so.conf, from which the cache is made, are searched themselves) and glibc-hwcaps.
 */
#ifndef PEAKPHASE_RESOLVE_LIBRARY_H
#define PEAKPHASE_RESOLVE_LIBRARY_H

#define LIBRARY_MAX 256 /* libraries of one program that are followed */

/* Not 0 ends the walk, and is what the walk returns. */
typedef int (*library_fn)(void *ctx, const char *path);

/*
 * All libraries that `path` needs, directly or not, each once; those of preload first.
 * library_path and preload: LD_LIBRARY_PATH and LD_PRELOAD, may be NULL. What is not found is
 * passed over. 0, what fn returned, or -ENOMEM.
 */
int library_each(const char *path, const char *library_path, const char *preload, library_fn fn,
		 void *ctx);

#endif
