/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The file of a new recording: made, owned and locked before the first row. */
#ifndef PEAKPHASE_STORE_CREATE_H
#define PEAKPHASE_STORE_CREATE_H

#include <sqlite3.h>

/*
 * Makes path (or takes an empty file), with the tables in it, in WAL mode, and a flock() on
 * *lock_fd that tells readers that a tracer is writing. Close the database first, then lock_fd:
 * closing any descriptor of the file drops the POSIX locks that SQLite holds. Says errors.
 * 0, -EEXIST, -EACCES, -ENOSPC, …
 */
int create_recording(sqlite3 **db, int *lock_fd, const char *path);

/* One more connection to a recording that is being written. 0, -errno; says nothing. */
int create_open(sqlite3 **db, const char *path);

/* The errno of a failed call on db, by result code and by what the system said. */
int create_errno(sqlite3 *db, int rc);

#endif
