/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "store/access.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/say.h"
#include "store/schema.h"
#include "store/store.h"

#define HEAD_BYTES 100
/* No value of ours is longer; a hostile one must not be read whole. */
#define VALUE_MAX (1 << 20)
#define STEPS_PER_CALL 100000

static uint32_t be32(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static int bad(const char *path, int err, const char *what, const char *remedy)
{
	say_error("%s: %s", path, what);
	if (remedy)
		say_remedy("%s", remedy);
	return err;
}

/* Offsets: "The Database Header" of SQLite's file format. */
static int check_head(const char *path, const unsigned char *h)
{
	uint32_t version = be32(h + 60);

	if (memcmp(h, "SQLite format 3", 16))
		return bad(path, -EBADMSG, "not a recording of peakphase", NULL);
	if (be32(h + 68) != STORE_APPLICATION_ID)
		return bad(path, -EBADMSG,
			   "not a recording of peakphase, but an SQLite file of another program",
			   NULL);
	if (version > STORE_SCHEMA && version < 0x80000000u) {
		say_error("%s: written by a newer peakphase (schema %u; this one reads up to %d)",
			  path, version, STORE_SCHEMA);
		say_remedy("read it with a peakphase that is at least as new");
		return -ENOTSUP;
	}
	if (version && version < STORE_SCHEMA) {
		say_error(
		    "%s: written by a peakphase before its first release (schema %u; this one reads %d)",
		    path, version, STORE_SCHEMA);
		say_remedy("record it again");
		return -ENOTSUP;
	}
	if (version != STORE_SCHEMA)
		return bad(path, -EBADMSG, "damaged: no version of the schema", NULL);
	return 0;
}

static uint64_t log_bytes(const char *path, const char *suffix)
{
	struct stat st;
	char *name = NULL;
	uint64_t bytes = 0;

	if (asprintf(&name, "%s%s", path, suffix) < 0)
		return 0;
	if (!stat(name, &st) && S_ISREG(st.st_mode))
		bytes = (uint64_t)st.st_size;
	free(name);
	return bytes;
}

static bool is_cut(const unsigned char *h, uint64_t bytes)
{
	uint32_t page = (uint32_t)h[16] << 8 | h[17];

	page = page == 1 ? 65536 : page;
	return bytes < (uint64_t)page * be32(h + 28);
}

static int check_file(struct access *a, const char *path, int fd)
{
	unsigned char head[HEAD_BYTES];
	uint64_t wal = log_bytes(path, "-wal");
	struct stat st;
	ssize_t n;
	int err;

	if (fstat(fd, &st))
		return bad(path, -EIO, strerror(errno), NULL);
	if (!S_ISREG(st.st_mode))
		return bad(path, -EBADMSG, "not a recording of peakphase: not a regular file",
			   NULL);
	if (!st.st_size)
		return bad(path, -ENODATA, "empty: nothing was recorded in it", NULL);
	n = pread(fd, head, sizeof(head), 0);
	if (n < 0)
		return bad(path, -EIO, strerror(errno), NULL);
	if (n < HEAD_BYTES)
		return bad(path, -EBADMSG, "not a recording of peakphase, or cut off in its head",
			   NULL);
	err = check_head(path, head);
	if (err)
		return err;
	if (!wal && is_cut(head, (uint64_t)st.st_size))
		return bad(path, -EBADMSG, "torn: the file is shorter than its head says",
			   "copy it again from where it was recorded, with the file ending in -wal "
			   "if there is one");
	a->bytes = (uint64_t)st.st_size + wal;
	/* A tracer that died has lost the lock, whatever the file looks like. */
	a->running = flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
	return 0;
}

static int on_steps(void *ctx)
{
	struct access *a = ctx;

	if (a->budget < STEPS_PER_CALL)
		return 1;
	a->budget -= STEPS_PER_CALL;
	return 0;
}

/*
 * A damaged tree can lead SQLite through the same pages without end. An honest one has a row in 8
 * bytes at best, and our statements take some ten steps for each.
 */
void access_progress(struct access *a)
{
	a->budget = 10000000 + 2 * a->bytes;
}

static int configure(sqlite3 *db)
{
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, VALUE_MAX);
	sqlite3_busy_timeout(db, 2000);
	return sqlite3_exec(db,
			    "PRAGMA cell_size_check = ON; PRAGMA cache_size = -8192; "
			    "PRAGMA mmap_size = 0; PRAGMA temp_store = FILE",
			    NULL, NULL, NULL);
}

/* Opens and touches it: SQLite looks at the file and its log at the first read only. */
static int try_open(struct access *a, const char *name, int flags)
{
	int rc = sqlite3_open_v2(name, &a->db, flags | SQLITE_OPEN_NOMUTEX, NULL);

	if (!rc)
		rc = configure(a->db);
	if (!rc) {
		access_progress(a);
		sqlite3_progress_handler(a->db, STEPS_PER_CALL, on_steps, a);
		/* A copy has one user: the index of its log stays in memory, no log is folded in.
		 */
		if (flags & SQLITE_OPEN_READWRITE) {
			sqlite3_db_config(a->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
			sqlite3_exec(a->db, "PRAGMA locking_mode = EXCLUSIVE", NULL, NULL, NULL);
		}
		rc = sqlite3_exec(a->db, "SELECT count(*) FROM main.sqlite_master", NULL, NULL,
				  NULL);
	}
	return rc;
}

/* "file:" and the path, escaped for a URI. */
static char *immutable_uri(const char *path)
{
	size_t len = strlen(path);
	char *uri = malloc(len * 3 + 32), *p = uri;

	if (!uri)
		return NULL;
	p += sprintf(p, "file:%s", *path == '/' ? "" : "./");
	for (; *path; path++)
		p += sprintf(p, strchr("%?#", *path) ? "%%%02x" : "%c", (unsigned char)*path);
	strcpy(p, "?immutable=1");
	return uri;
}

static int open_copy(struct access *a, const char *path)
{
	char *dir, *copy;
	int rc = snapshot_make(&dir, &copy, path);

	if (rc) {
		say_warning("%s: cannot be copied to a place of our own: %s", path, strerror(-rc));
		return rc == -ENOMEM ? SQLITE_NOMEM : SQLITE_CANTOPEN;
	}
	rc = try_open(a, copy, SQLITE_OPEN_READWRITE);
	snapshot_forget(&dir);
	free(copy);
	return rc;
}

static int open_fallback(struct access *a, const char *path)
{
	char *uri;
	int rc;

	sqlite3_close(a->db);
	a->db = NULL;
	if (log_bytes(path, "-wal"))
		return open_copy(a, path);
	/* No log, so nobody is writing it, and the file is all there is. */
	uri = immutable_uri(path);
	if (!uri)
		return SQLITE_NOMEM;
	rc = try_open(a, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
	free(uri);
	return rc;
}

int access_failed(struct access *a, const char *path)
{
	int rc = a->db ? sqlite3_errcode(a->db) : SQLITE_NOMEM;

	switch (rc & 0xff) {
	case SQLITE_NOMEM:
		say_error("%s: no memory to read it", path);
		return -ENOMEM;
	case SQLITE_IOERR:
	case SQLITE_BUSY:
		say_error("%s: cannot be read: %s", path, sqlite3_errmsg(a->db));
		return -EIO;
	case SQLITE_CANTOPEN:
	case SQLITE_PERM:
	case SQLITE_AUTH:
	case SQLITE_READONLY:
		say_error("%s: cannot be read here: %s", path, sqlite3_errmsg(a->db));
		say_remedy("copy it, with the file ending in -wal, to a folder of your own");
		return -EACCES;
	case SQLITE_INTERRUPT:
		say_error("%s: damaged: its pages lead in circles", path);
		return -EBADMSG;
	default:
		say_error("%s: damaged: %s", path, sqlite3_errmsg(a->db));
		return -EBADMSG;
	}
}

int access_open(struct access *a, const char *path)
{
	int fd, rc, err;
	char *name;

	*a = (struct access){0};
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0) {
		err = errno;
		say_error("cannot open %s: %s", path, strerror(err));
		say_remedy(
		    err == EACCES
			? "its owner has to let you read it: chmod, or sudo"
			: "recordings are where the tracer was started, or where its -o says");
		return err == ENOENT || err == EACCES ? -err : err == ENOTDIR ? -ENOENT : -EIO;
	}
	err = check_file(a, path, fd);
	/* Before SQLite has the file: closing a descriptor drops its POSIX locks. */
	close(fd);
	if (err)
		return err;
	name = sqlite3_mprintf("%s%s", *path == '/' ? "" : "./", path);
	if (!name)
		return -ENOMEM;
	rc = try_open(a, name, SQLITE_OPEN_READONLY);
	sqlite3_free(name);
	if ((rc & 0xff) == SQLITE_CANTOPEN || (rc & 0xff) == SQLITE_READONLY)
		rc = open_fallback(a, path);
	if (!rc)
		return 0;
	err = access_failed(a, path);
	access_close(a);
	return err;
}

void access_close(struct access *a)
{
	sqlite3_close(a->db);
	a->db = NULL;
}
