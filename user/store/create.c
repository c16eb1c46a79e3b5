/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "store/create.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/say.h"
#include "store/schema.h"

/* What the system said of a file's last failure; sqlite3_system_errno() often knows no more. */
static int file_errno(sqlite3 *db, int op)
{
	sqlite3_file *file = NULL;
	int err = 0;

	if (sqlite3_file_control(db, "main", op, &file) || !file || !file->pMethods)
		return 0;
	file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &err);
	return err;
}

int create_errno(sqlite3 *db, int rc)
{
	int err = db ? sqlite3_system_errno(db) : 0;

	if (!db)
		return -ENOMEM;
	if (err <= 0)
		err = file_errno(db, SQLITE_FCNTL_JOURNAL_POINTER); /* the log, too */
	if (err <= 0)
		err = file_errno(db, SQLITE_FCNTL_FILE_POINTER);

	switch (rc & 0xff) {
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_READONLY:
		return -EROFS;
	case SQLITE_PERM:
		return -EACCES;
	case SQLITE_IOERR:
	case SQLITE_CANTOPEN:
		return err > 0 ? -err : -EIO;
	default:
		return -EIO;
	}
}

/* SQLite's names are of at most 512 bytes, whole from the root, "-journal" included. */
#define FULL_NAME_MAX 504

static bool too_long(const char *path)
{
	char *here = *path == '/' ? NULL : getcwd(NULL, 0);
	size_t len = strlen(path) + (here ? strlen(here) + 1 : 0);

	free(here);
	return len > FULL_NAME_MAX;
}

static const char *reason(int err)
{
	return err == -ENOLINK ? "it is a symbolic link to a file that does not exist"
			       : strerror(-err);
}

static void remedy(int err)
{
	switch (-err) {
	case ENOLINK:
		say_remedy("make that file, remove the link, or choose another name with -o");
		break;
	case ENAMETOOLONG:
		say_remedy(
		    "choose a shorter path with -o: SQLite takes up to %d bytes from the root on",
		    FULL_NAME_MAX);
		break;
	case EEXIST:
		say_remedy("choose another name with -o, or remove it first");
		break;
	case ENOSPC:
	case EDQUOT:
		say_remedy("make room, or write the recording elsewhere with -o");
		break;
	default:
		say_remedy("write the recording elsewhere with -o, or run with --no-record");
	}
}

static int take_empty(const char *path, int *out)
{
	struct stat st;
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), ret = 0;

	/* It was there a moment ago: so a link is, and not what it names. */
	if (fd < 0)
		return errno == EISDIR ? -EEXIST : errno == ENOENT ? -ENOLINK : -errno;
	if (fstat(fd, &st))
		ret = -errno;
	else if (!S_ISREG(st.st_mode) || st.st_size)
		ret = -EEXIST;
	if (ret)
		close(fd);
	else
		*out = fd;
	return ret;
}

static int make_file(const char *path, int *out, bool *made)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0644), ret;

	*made = fd >= 0;
	if (fd < 0) {
		ret = errno == EEXIST ? take_empty(path, &fd) : -errno;
		if (ret)
			return ret;
	}
	/* flock(), because it is apart from the POSIX locks that SQLite takes on the same file. */
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		ret = errno == EWOULDBLOCK ? -EBUSY : -errno;
		close(fd);
		return ret;
	}
	*out = fd;
	return 0;
}

/*
 * The tables are made in rollback mode: so the file names itself a recording from its first commit
 * on, whatever becomes of the log beside it. Pages of 8 KiB: 10 % more rows a second than with 4,
 * and 16 would double what a quiet run writes for another 8 %. Nobody waits for the disk meanwhile:
 * a machine that goes down now loses tables without a row. They are there before the first rows
 * are.
 */
static int fill(sqlite3 *db)
{
	int rc = sqlite3_exec(db,
			      "PRAGMA page_size = 8192; PRAGMA cache_size = -2048; "
			      "PRAGMA synchronous = OFF; BEGIN",
			      NULL, NULL, NULL);

	if (!rc)
		rc = schema_create(db);
	if (!rc)
		rc = sqlite3_exec(db,
				  "COMMIT; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; "
				  "PRAGMA wal_autocheckpoint = 0",
				  NULL, NULL, NULL);
	return rc;
}

/* An SQLite result code. A relative name must not be taken for one of SQLite's (":memory:"). */
static int open_db(sqlite3 **db, const char *path)
{
	char *name = sqlite3_mprintf("%s%s", *path == '/' ? "" : "./", path);
	int rc = SQLITE_NOMEM;

	*db = NULL;
	if (name)
		rc = sqlite3_open_v2(name, db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
	sqlite3_free(name);
	return rc;
}

int create_open(sqlite3 **db, const char *path)
{
	int rc = open_db(db, path), err;

	if (!rc)
		return 0;
	err = create_errno(*db, rc);
	sqlite3_close(*db);
	*db = NULL;
	return err;
}

int create_recording(sqlite3 **dbp, int *lock_fd, const char *path)
{
	sqlite3 *db = NULL;
	bool made;
	int ret, rc, fd = -1;

	ret = too_long(path) ? -ENAMETOOLONG : make_file(path, &fd, &made);
	if (ret) {
		say_error("cannot record to %s: %s", path, reason(ret));
		remedy(ret);
		return ret;
	}
	rc = open_db(&db, path);
	if (!rc)
		rc = fill(db);
	ret = rc ? create_errno(db, rc) : fdatasync(fd) ? -errno : 0;
	if (!ret) {
		*dbp = db;
		*lock_fd = fd;
		return 0;
	}
	say_error("cannot record to %s: %s", path, strerror(-ret));
	remedy(ret);
	sqlite3_close(db);
	if (made)
		unlink(path);
	close(fd);
	return ret;
}
