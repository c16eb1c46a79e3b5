/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Opening a recording for reading, whoever owns its folder and whatever state it was left in. */
#ifndef PEAKPHASE_STORE_ACCESS_H
#define PEAKPHASE_STORE_ACCESS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

struct access {
	sqlite3 *db;
	uint64_t bytes;	 /* of the file, with its log */
	bool running;	 /* a tracer holds its lock */
	uint64_t budget; /* steps that SQLite may still take before the next row */
};

/*
 * Checks the file's head, then opens it: as it is; if SQLite cannot do that here, without a log
 * where there is none; else as a private copy. Says errors. 0, -ENOENT, -EACCES, -EBADMSG,
 * -ENOTSUP, -ENODATA, -EIO. `a` must stay where it is until access_close().
 */
int access_open(struct access *a, const char *path);
void access_close(struct access *a);
/* A row came: SQLite may take as many steps again as an honest file can need. */
void access_progress(struct access *a);
/* -errno of an SQLite result; says it, naming path. */
int access_failed(struct access *a, const char *path);

/*
 * Copies the file and its log to a private folder. 0, -errno. After the copy has been opened,
 * snapshot_forget() takes its names away: nothing is left behind, however we end.
 */
int snapshot_make(char **dir, char **copy, const char *path);
void snapshot_forget(char **dir);

#endif
