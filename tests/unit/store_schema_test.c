/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* docs/recording.md and the tables that are made: the same names, and its queries run. */
#include "store_fixture.h"

#include <ctype.h>
#include <sqlite3.h>

#include "store/schema.h"

#define DOC "docs/recording.md"
#define NAMES_MAX 64

static const char *const documented[] = {"phases",   "phase_where", "processes", "meta",
					 "losses",   "edges",	    "bases",	 "samples",
					 "faults",   "notes",	    "output",	 "output_streams",
					 "labelled", "owners",	    "report"};

static char *read_doc(void)
{
	FILE *f = fopen(DOC, "r");
	char *text = calloc(1, 1 << 18);

	assert_non_null(f);
	assert_non_null(text);
	assert_true(fread(text, 1, (1 << 18) - 1, f) > 1000);
	fclose(f);
	return text;
}

struct names {
	char name[NAMES_MAX][32];
	int n;
};

static bool has(const struct names *l, const char *name)
{
	for (int i = 0; i < l->n; i++)
		if (!strcmp(l->name[i], name))
			return true;
	return false;
}

/* The `names` in the first cell of a row. */
static void add_cell(struct names *l, const char *row)
{
	const char *end = strchr(row + 1, '|');

	for (const char *p = row; (p = strchr(p, '`')) && p < end;) {
		size_t n = strcspn(++p, "`");

		assert_true(n > 0 && n < sizeof(l->name[0]) && l->n < NAMES_MAX);
		memcpy(l->name[l->n], p, n);
		l->name[l->n++][n] = '\0';
		p += n + 1;
	}
}

/* Columns that the section of a table names. */
static void documented_columns(char *doc, const char *table, struct names *out)
{
	char heading[64];
	char *section, *line;

	snprintf(heading, sizeof(heading), "\n### %s\n", table);
	section = strstr(doc, heading);
	if (!section)
		fail_msg("no section for %s", table);
	out->n = 0;
	for (line = section + strlen(heading); line && *line != '#'; line = strchr(line, '\n')) {
		if (*line == '\n')
			line++;
		if (*line == '#' || !*line)
			break;
		if (!strncmp(line, "| `", 3))
			add_cell(out, line);
	}
}

static void recorded_columns(sqlite3 *db, const char *table, struct names *out)
{
	sqlite3_stmt *st;

	assert_int_equal(
	    sqlite3_prepare_v2(db, "SELECT name FROM pragma_table_info(?)", -1, &st, NULL),
	    SQLITE_OK);
	sqlite3_bind_text(st, 1, table, -1, SQLITE_STATIC);
	out->n = 0;
	while (sqlite3_step(st) == SQLITE_ROW && out->n < NAMES_MAX)
		snprintf(out->name[out->n++], sizeof(out->name[0]), "%s",
			 (const char *)sqlite3_column_text(st, 0));
	sqlite3_finalize(st);
}

static void none_missing(const struct names *of, const struct names *in, const char *table,
			 const char *where)
{
	for (int i = 0; i < of->n; i++)
		if (!has(in, of->name[i]))
			fail_msg("%s.%s is not in %s", table, of->name[i], where);
}

static void test_every_column_is_documented(void **state)
{
	struct names doc, made, base;
	char *text = read_doc();
	struct folder f;
	sqlite3 *db;

	(void)state;
	folder_make(&f);
	assert_int_equal(write_plain(f.file, 2), 0);
	assert_int_equal(sqlite3_open(f.file, &db), SQLITE_OK);
	recorded_columns(db, "phases", &base);
	for (size_t i = 0; i < sizeof(documented) / sizeof(documented[0]); i++) {
		documented_columns(text, documented[i], &doc);
		recorded_columns(db, documented[i], &made);
		assert_true(made.n > 1);
		none_missing(&doc, &made, documented[i], "the recording");
		if (!strcmp(documented[i], "labelled"))
			for (int k = 0; k < base.n; k++)
				strcpy(doc.name[doc.n++], base.name[k]);
		none_missing(&made, &doc, documented[i], DOC);
	}
	sqlite3_close(db);
	free(text);
	folder_remove(&f);
}

static int all_documented(void *ctx, int n, char **values, char **names)
{
	(void)n;
	(void)names;
	for (size_t i = 0; i < sizeof(documented) / sizeof(documented[0]); i++)
		if (!strcmp(documented[i], values[0]))
			++*(int *)ctx;
	return 0;
}

static void test_every_table_and_key_is_documented(void **state)
{
	char *text = read_doc(), id[32];
	int n = 0, keys = 0;
	sqlite3_stmt *st;
	struct folder f;
	sqlite3 *db;

	(void)state;
	folder_make(&f);
	assert_int_equal(write_plain(f.file, 2), 0);
	assert_int_equal(sqlite3_open(f.file, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db,
				      "SELECT name FROM sqlite_master WHERE type IN ('table', "
				      "'view')",
				      all_documented, &n, NULL),
			 SQLITE_OK);
	assert_int_equal(n, sizeof(documented) / sizeof(documented[0]));
	assert_int_equal(sqlite3_prepare_v2(db,
					    "SELECT '`' || key || '`' FROM meta UNION ALL SELECT "
					    "'`' || class || '`' FROM losses",
					    -1, &st, NULL),
			 SQLITE_OK);
	for (; sqlite3_step(st) == SQLITE_ROW; keys++)
		if (!strstr(text, (const char *)sqlite3_column_text(st, 0)))
			fail_msg("%s is not in " DOC, sqlite3_column_text(st, 0));
	assert_true(keys > 20 + PP_LOSS_MAX);
	snprintf(id, sizeof(id), "0x%x", STORE_APPLICATION_ID);
	assert_non_null(strstr(text, id));
	sqlite3_finalize(st);
	sqlite3_close(db);
	free(text);
	folder_remove(&f);
}

/* Lines that the sqlite3 program prints for a query; -1: it failed, or is not there. */
static int lines_of(const char *file, const char *query)
{
	char script[128], command[512];
	int lines = 0, c;
	FILE *out;

	snprintf(script, sizeof(script), "%s.sql", file);
	out = fopen(script, "w");
	assert_non_null(out);
	fputs(query, out);
	fclose(out);
	snprintf(command, sizeof(command), "sqlite3 -bail -readonly %s <%s", file, script);
	out = popen(command, "r");
	assert_non_null(out);
	while ((c = fgetc(out)) != EOF)
		lines += c == '\n';
	unlink(script);
	return pclose(out) ? -1 : lines;
}

static void test_queries_run(void **state)
{
	char *text = read_doc(), *end;
	int queries = 0, rows = 0;
	struct folder f;

	(void)state;
	if (system("command -v sqlite3 >/dev/null"))
		skip();
	folder_make(&f);
	assert_int_equal(write_plain(f.file, 20), 0);
	for (char *q = text; (q = strstr(q, "```sql\n")); q = end + 3, queries++) {
		int n;

		q += strlen("```sql\n");
		end = strstr(q, "```");
		assert_non_null(end);
		*end = '\0';
		n = lines_of(f.file, q);
		if (n < 0)
			fail_msg("query fails: %s", q);
		rows += n;
	}
	assert_int_equal(queries, 10);
	/* One owner, one command, one label; there are no samples, faults and verdicts in it. */
	assert_int_equal(rows, 3);
	free(text);
	folder_remove(&f);
}

/* What views say of labels that would steer a terminal. */
static const struct {
	const char *bytes;
	size_t len;
	const char *shown;
} labels[] = {
    {"load:users", 10, "load:users"},
    {"na\xc3\xafve \"x\" 'y' %s", 17, "na\xc3\xafve \"x\" 'y' %s"},
    {"\x1b[2J", 4, "X'1B5B324A'"},
    {"a\nb", 3, "X'610A62'"},
    {"a\0b", 3, "X'610062'"},
    {"\xc2\x9b"
     "2J",
     4, "X'C29B324A'"},
    {"\x7f", 1, "X'7F'"},
    {"", 0, ""},
};
#define NLABELS (sizeof(labels) / sizeof(labels[0]))

static void test_views_show_no_control_characters(void **state)
{
	struct run_info info = plain_info();
	struct run_end end = {0};
	struct process p = {.mm_id = 1, .exit = PX_EXIT, .comm = "a\tb", .peak = {.win = 3}};
	struct folder f;
	sqlite3_stmt *st;
	struct store *s;
	sqlite3 *db;

	(void)state;
	folder_make(&f);
	assert_int_equal(store_create(&s, f.file, &info), 0);
	store_process(s, &p);
	for (size_t i = 0; i < NLABELS; i++) {
		struct phase ph = {.id = i + 1,
				   .mm_id = 1,
				   .kind = PH_SPAN,
				   .ended_by = PH_BY_END,
				   .start_win = i,
				   .end_win = i + 1,
				   .peak = {.bytes = 300 << 20}};

		ph.label.len = (uint16_t)labels[i].len;
		memcpy(ph.label.bytes, labels[i].bytes, labels[i].len);
		assert_int_equal(store_phase(s, &ph), 0);
	}
	assert_int_equal(store_close(&s, &end), 0);
	assert_int_equal(sqlite3_open(f.file, &db), SQLITE_OK);
	assert_int_equal(
	    sqlite3_prepare_v2(db,
			       "SELECT phase, owns_peak, peak_mib FROM report ORDER BY "
			       "id",
			       -1, &st, NULL),
	    SQLITE_OK);
	for (size_t i = 0; i < NLABELS; i++) {
		assert_int_equal(sqlite3_step(st), SQLITE_ROW);
		assert_string_equal((const char *)sqlite3_column_text(st, 0), labels[i].shown);
		/* The peak is in window 3: the phase of windows (2, 3]. */
		assert_int_equal(sqlite3_column_int(st, 1), i == 2);
		assert_true(sqlite3_column_double(st, 2) == 300.0);
	}
	assert_int_equal(sqlite3_step(st), SQLITE_DONE);
	sqlite3_finalize(st);
	sqlite3_close(db);
	folder_remove(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_every_column_is_documented),
	    cmocka_unit_test(test_every_table_and_key_is_documented),
	    cmocka_unit_test(test_queries_run),
	    cmocka_unit_test(test_views_show_no_control_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
