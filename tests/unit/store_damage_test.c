/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whatever a file holds, the reader says what is wrong with it, and lives. */
#include "store_fixture.h"

#include <sqlite3.h>

static int skip_event(void *ctx, const struct event *ev)
{
	(void)ctx;
	(void)ev;
	return 0;
}

static int skip_phase(void *ctx, const struct phase *ph)
{
	(void)ctx;
	(void)ph;
	return 0;
}

static int walk_process(void *ctx, const struct process *p)
{
	struct recording *r = ctx;
	int err = recording_each_phase(r, p->mm_id, skip_phase, NULL);

	if (!err)
		err = recording_phases_at(r, p->mm_id, p->peak.win, skip_phase, NULL);
	return err ? err : recording_each_sample(r, p->mm_id, skip_event, NULL);
}

/* Opens and reads everything: 0, or the first error. */
static int walk(const char *path)
{
	struct recording *r;
	int err = recording_open(&r, path);

	if (!err)
		err = recording_each_process(r, walk_process, r);
	if (!err)
		err = recording_each_event(r, skip_event, NULL);
	assert_true((r == NULL) <= (err != 0));
	recording_close(&r);
	return err;
}

static char *read_file(const char *path, size_t *size)
{
	FILE *f = fopen(path, "r");
	char *data;
	long n;

	assert_non_null(f);
	fseek(f, 0, SEEK_END);
	n = ftell(f);
	rewind(f);
	data = malloc((size_t)n);
	assert_non_null(data);
	assert_int_equal(fread(data, 1, (size_t)n, f), n);
	fclose(f);
	*size = (size_t)n;
	return data;
}

static void write_file(const char *path, const char *data, size_t size)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
}

static void sql(const char *path, const char *statements)
{
	char *message = NULL;
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	if (sqlite3_exec(db, statements, NULL, NULL, &message))
		fail_msg("%s: %s", statements, message);
	sqlite3_close(db);
}

/* stderr of a whole run of messages would drown the test's own. */
static int silence(void)
{
	int keep = dup(STDERR_FILENO), null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	assert_true(keep >= 0 && null >= 0);
	dup2(null, STDERR_FILENO);
	close(null);
	return keep;
}

static void unsilence(int keep)
{
	dup2(keep, STDERR_FILENO);
	close(keep);
}

static void test_not_a_recording(void **state)
{
	struct folder f;
	char zeros[4096] = {0};
	int keep = silence();

	(void)state;
	folder_make(&f);
	assert_int_equal(walk(f.file), -ENOENT);
	assert_int_equal(walk(f.dir), -EBADMSG);
	assert_int_equal(walk("/dev/null"), -EBADMSG);
	write_file(f.file, "", 0);
	assert_int_equal(walk(f.file), -ENODATA);
	write_file(f.file, "some text", 9);
	assert_int_equal(walk(f.file), -EBADMSG);
	write_file(f.file, zeros, sizeof(zeros));
	assert_int_equal(walk(f.file), -EBADMSG);
	assert_int_equal(unlink(f.file), 0);
	sql(f.file, "CREATE TABLE edges(a); CREATE TABLE phases(b)");
	assert_int_equal(walk(f.file), -EBADMSG);
	sql(f.file, "PRAGMA application_id = 0x506b5068; PRAGMA user_version = 4");
	assert_int_equal(walk(f.file), -EBADMSG);
	sql(f.file, "PRAGMA user_version = 5");
	assert_int_equal(walk(f.file), -ENOTSUP);
	sql(f.file, "PRAGMA user_version = 1");
	assert_int_equal(walk(f.file), -ENOTSUP);
	sql(f.file, "PRAGMA user_version = -1");
	assert_int_equal(walk(f.file), -EBADMSG);
	unsilence(keep);
	folder_remove(&f);
}

static void test_cut_anywhere(void **state)
{
	struct folder f;
	size_t size;
	char *data;
	int keep;

	(void)state;
	folder_make(&f);
	assert_int_equal(write_plain(f.file, 200), 0);
	data = read_file(f.file, &size);
	keep = silence();
	for (size_t cut = 0; cut < size; cut += cut < 200 ? 1 : 997) {
		int want = cut ? -EBADMSG : -ENODATA, got;

		write_file(f.file, data, cut);
		got = walk(f.file);
		if (got != want) {
			unsilence(keep);
			fail_msg("cut at %zu: %d, not %d", cut, got, want);
		}
	}
	unsilence(keep);
	write_file(f.file, data, size);
	assert_int_equal(walk(f.file), 0);
	free(data);
	folder_remove(&f);
}

/* Every 37th byte of the file turned over, one at a time: read as a value, or refused. */
static void test_any_byte_changed(void **state)
{
	struct folder f;
	size_t size, refused = 0, read = 0;
	char *data;
	int keep;

	(void)state;
	folder_make(&f);
	assert_int_equal(write_plain(f.file, 60), 0);
	data = read_file(f.file, &size);
	keep = silence();
	for (size_t at = 0; at < size; at += 37) {
		int err;

		data[at] ^= (char)(at % 255 + 1);
		write_file(f.file, data, size);
		data[at] ^= (char)(at % 255 + 1);
		err = walk(f.file);
		if (err && err != -EBADMSG && err != -ENOTSUP && err != -EIO && err != -EACCES) {
			unsilence(keep);
			fail_msg("byte %zu: %d", at, err);
		}
		refused += err != 0;
		read += err == 0;
	}
	unsilence(keep);
	/* Most of a small file is unused space; its heads and its trees are not. */
	assert_true(refused > 20);
	assert_true(read > 20);
	free(data);
	folder_remove(&f);
}

/* Each of these is a file that SQLite finds in order. */
static const char *const impossible[] = {
    "UPDATE phases SET kind = 0",
    "UPDATE phases SET kind = 6",
    "UPDATE phases SET ended_by = 8",
    "UPDATE phases SET label = zeroblob(256)",
    "UPDATE phases SET label = 'text'",
    "UPDATE phases SET label = NULL",
    "UPDATE phases SET label_flags = 65536",
    "UPDATE phases SET peak_bytes = 'many'",
    "UPDATE phases SET peak_bytes = 1.5",
    "UPDATE phases SET peak_bytes = NULL",
    "UPDATE phases SET exact = 2",
    "UPDATE phases SET depth = -1",
    "UPDATE processes SET exit = 0",
    "UPDATE processes SET pid = 4294967296",
    "UPDATE processes SET args = zeroblob(129)",
    "UPDATE processes SET comm = zeroblob(17)",
    "UPDATE edges SET kind = 0",
    "UPDATE edges SET kind = 10", /* a sample */
    "UPDATE edges SET win_max = x'00'",
    "UPDATE edges SET label = zeroblob(300) WHERE kind = 2",
    "UPDATE edges SET label = zeroblob(2000000) WHERE kind = 2",
    "DELETE FROM bases",
    "UPDATE bases SET args = zeroblob(1000)",
    "UPDATE meta SET value = 'yes' WHERE key = 'finished'",
    "UPDATE meta SET value = 2 WHERE key = 'finished'",
    "UPDATE meta SET value = 7 WHERE key = 'kernel'",
    "UPDATE meta SET value = -1 WHERE key = 'page_size'",
    "UPDATE losses SET count = 'x'",
    "DROP TABLE samples",
    "ALTER TABLE samples ADD COLUMN x",
    "DROP VIEW report; DROP VIEW owners; DROP VIEW labelled; ALTER TABLE phases RENAME TO p; "
    "CREATE VIEW phases AS SELECT * FROM p",
    "DROP TABLE faults; CREATE VIEW faults AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x "
    "FROM c) SELECT * FROM c",
};

static void test_impossible_rows(void **state)
{
	struct folder f;
	size_t size;
	char *data;
	int keep;

	(void)state;
	folder_make(&f);
	assert_int_equal(write_plain(f.file, 30), 0);
	data = read_file(f.file, &size);
	keep = silence();
	for (size_t i = 0; i < sizeof(impossible) / sizeof(impossible[0]); i++) {
		int err;

		write_file(f.file, data, size);
		sql(f.file, impossible[i]);
		err = walk(f.file);
		if (err != -EBADMSG) {
			unsilence(keep);
			fail_msg("%s: %d", impossible[i], err);
		}
	}
	unsilence(keep);
	free(data);
	folder_remove(&f);
}

/* People may add to a recording what is their own. */
static void test_additions_are_no_damage(void **state)
{
	struct folder f;

	(void)state;
	folder_make(&f);
	assert_int_equal(write_plain(f.file, 30), 0);
	sql(f.file,
	    "CREATE TABLE remarks(a); CREATE VIEW mine AS SELECT * FROM phases; CREATE INDEX "
	    "by_label ON phases(label); DROP VIEW report; VACUUM");
	assert_int_equal(walk(f.file), 0);
	folder_remove(&f);
}

/* Seeds of the fuzzer that are refused at once would leave it nothing to find. */
static void test_seeds_of_the_fuzzer_open(void **state)
{
	static const char *const seeds[] = {"finished", "unfinished", "empty"};
	char path[64];

	(void)state;
	for (size_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++) {
		snprintf(path, sizeof(path), "tests/fuzz/recording.seeds/%s", seeds[i]);
		assert_int_equal(walk(path), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_not_a_recording),
	    cmocka_unit_test(test_cut_anywhere),
	    cmocka_unit_test(test_any_byte_changed),
	    cmocka_unit_test(test_impossible_rows),
	    cmocka_unit_test(test_additions_are_no_damage),
	    cmocka_unit_test(test_seeds_of_the_fuzzer_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
