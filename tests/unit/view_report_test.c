/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Text reports of phases made by hand, at several widths, as files in golden/. */
#include <errno.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "golden.h"
#include "lib/text.h"
#include "view/report.h"
#include "view_fake.h"

#define CONTAINER_ID "3f2a111111111111111111111111111111111111111111111111111111111111"

#define CONTAINER_ID "3f2a111111111111111111111111111111111111111111111111111111111111"

static void check(void (*make)(struct fake *), const struct report_style *style, const char *name)
{
	struct fake *f = malloc(sizeof(*f));
	struct report_source src;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(f);
	make(f);
	src = fake_source(f);
	assert_int_equal(report_text(&src, style, NULL, out), 0);
	fclose(out);
	golden_check(__FILE__, name, text, len);
	for (size_t i = 0; i < len; i++) {
		if (style->ascii)
			assert_true((unsigned char)text[i] < 0x80);
		if (!style->color)
			assert_true(text[i] == '\n' || (unsigned char)text[i] >= 0x20);
	}
	assert_true(text_is_utf8(text, len));
	free(text);
	free(f);
}

static void pipeline(void **state)
{
	(void)state;
	check(fake_pipeline, &(struct report_style){0}, "report_pipeline.txt");
	check(fake_pipeline, &(struct report_style){.width = 80}, "report_pipeline_80.txt");
	check(fake_pipeline, &(struct report_style){.width = 132, .members = true},
	      "report_pipeline_132_members.txt");
	check(fake_pipeline, &(struct report_style){.ascii = true}, "report_pipeline_ascii.txt");
	check(fake_pipeline, &(struct report_style){.color = true, .width = 100},
	      "report_pipeline_100_color.txt");
	check(fake_pipeline, &(struct report_style){.width = 10}, "report_pipeline_10.txt");
}

static void trouble(void **state)
{
	(void)state;
	check(fake_trouble, &(struct report_style){0}, "report_trouble.txt");
	check(fake_trouble, &(struct report_style){.ascii = true, .members = true, .width = 100},
	      "report_trouble_100_ascii.txt");
}

static void storm(void **state)
{
	(void)state;
	check(fake_storm, &(struct report_style){0}, "report_storm.txt");
}

static void notes_of_it(struct fake *f)
{
	fake_pipeline(f);
	/* Of the outer span by its token, though the inner one was open; of the thread's innermost.
	 */
	fake_note(f, 2000, 4242, "SCAN users\n  FILTER v > 1\n");
	f->notes[0].token = 99;
	f->phases[3].token = 99;
	fake_note(f, 2500, 4242, "\033[2J  peak 9.9 MiB in [x]\n\n\xff");
	fake_note(f, 9000, 4242, "the beginning of it")->flags = 0;
	fake_note(f, 9100, 4242, "")->flags = PP_NOTE_LAST | PP_NOTE_UNREADABLE;
	fake_note(f, 9200, 4242, "cut")->flags = PP_NOTE_LAST | PP_NOTE_CUT;
	fake_note(f, 12700, 4242, "of the end");
}

static void notes(void **state)
{
	(void)state;
	check(notes_of_it, &(struct report_style){.notes = true}, "report_notes.txt");
	check(notes_of_it, &(struct report_style){0}, "report_pipeline.txt");
}

static void labels(void **state)
{
	(void)state;
	check(fake_labels, &(struct report_style){0}, "report_labels.txt");
	check(fake_labels, &(struct report_style){.width = 100}, "report_labels_100.txt");
	check(fake_labels, &(struct report_style){.ascii = true}, "report_labels_ascii.txt");
}

static void unfinished_of(struct fake *f)
{
	fake_pipeline(f);
	f->run.finished = false;
	f->run.end_ns = FAKE_T0 + 12900 * FAKE_MS;
	f->processes[0].exit = PX_RUNNING;
	f->processes[0].end_ns = 0;
	f->processes[0].reason = PP_BY_ATTACH;
	f->processes[0].baseline_bytes = 4 * FAKE_MIB;
	/* The machine slept for 1000 s in its life. */
	f->run.boot_ns = f->run.mono_ns + 1000000 * FAKE_MS;
	f->processes[0].proc_start_boot_ns = FAKE_T0 + (1000000 - 12340) * FAKE_MS;
	fake_open(&f->phases[7], 0);
	fake_open(&f->phases[6], 20);
}

static void running_of(struct fake *f)
{
	unfinished_of(f);
	f->run.running = true;
}

static void full_of(struct fake *f)
{
	unfinished_of(f);
	f->run.error = -ENOSPC;
	f->run.dropped = 4711;
}

static void unfinished(void **state)
{
	(void)state;
	check(full_of, &(struct report_style){0}, "report_full.txt");
	check(unfinished_of, &(struct report_style){0}, "report_unfinished.txt");
	check(running_of, &(struct report_style){0}, "report_running.txt");
}

/* Two processes of a container whose engine let it have a name that steers terminals, and its
 * limit. */
static void container_of(struct fake *f)
{
	struct cgroup *c = &f->cgroups[0];

	fake_trouble(f);
	c->id = 5881;
	strcpy(c->path, "/docker/" CONTAINER_ID);
	strcpy(c->runtime, "docker");
	strcpy(c->container, CONTAINER_ID);
	strcpy(c->name, "web\x1b[2J");
	f->ncgroups = 1;
	for (size_t i = 0; i < f->nprocesses; i++) {
		f->processes[i].cgroup_id = 5881;
		f->processes[i].limit_level = 0;
	}
}

static void pod_of(struct fake *f)
{
	struct cgroup *c = &f->cgroups[0];

	container_of(f);
	strcpy(c->path, "/kubepods/pod12/" CONTAINER_ID);
	strcpy(c->runtime, "containerd");
	strcpy(c->name, "app");
	strcpy(c->pod, "web-7f9c");
	strcpy(c->ns, "default");
	for (size_t i = 0; i < f->nprocesses; i++)
		f->processes[i].limit_level = 1;
}

/* The first two lines: who, and whose limit. */
static void says(void (*make)(struct fake *), const char *who, const char *limit)
{
	struct fake *f = malloc(sizeof(*f));
	struct report_source src;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(f);
	make(f);
	src = fake_source(f);
	assert_int_equal(report_text(&src, &(struct report_style){0}, NULL, out), 0);
	fclose(out);
	if (!strstr(text, who) || !strstr(text, limit))
		fail_msg("neither %s nor %s in:\n%s", who, limit, text);
	free(text);
	free(f);
}

static void containers(void **state)
{
	(void)state;
	says(container_of, "   pid 101 (7 in docker web\\x1b[2J) python3 etl.py   at",
	     "limit 1024.0 MiB (docker web\\x1b[2J), lowest headroom 324.0 MiB in ");
	/* The limit is the pod's, not the container's: its cgroup is named. */
	says(pod_of, "   pid 101 (7 in containerd default/web-7f9c/app) python3 etl.py   at",
	     "limit 1024.0 MiB (cgroup /kubepods/pod12), lowest headroom 324.0 MiB in ");
}

/* A shell that moved the job into its cgroup, and had seen more in the one that it came from. */
static void moved_of(struct fake *f)
{
	struct process *p;

	fake_init(f);
	for (uint64_t i = 1; i <= 2; i++) {
		f->cgroups[i - 1].id = i;
		strcpy(f->cgroups[i - 1].path, i == 1 ? "/user.slice" : "/job");
	}
	f->ncgroups = 2;
	p = fake_process(f, 10, "sh", 0, 2000);
	p->cgroup_id = 1;
	p->charge_peak = 5000 * FAKE_MIB;
	fake_phase(f, PH_STARTUP, NULL, 0, 1, 0, 2000, 1, 2, 2);
	p = fake_process(f, 11, "etl", 10, 2000);
	p->cgroup_id = 2;
	p->charge_peak = 120 * FAKE_MIB;
	fake_phase(f, PH_STARTUP, NULL, 0, 1, 10, 2000, 1, 90, 90);
	f->run.job = (struct job){.most_live = 2,
				  .charge_bytes = 5000 * FAKE_MIB,
				  .charge_at_ns = FAKE_T0 + FAKE_MS,
				  .charge_mm_id = 1};
}

/* In the same cgroup: when that was, and who was there, can be told. */
static void stayed_of(struct fake *f)
{
	moved_of(f);
	f->processes[0].cgroup_id = 2;
	f->processes[0].charge_peak = 130 * FAKE_MIB;
	f->run.job.charge_bytes = 130 * FAKE_MIB;
}

static void charges(void **state)
{
	(void)state;
	says(moved_of, "\nlargest cgroup charge 120.0 MiB (cgroup /job)\n", "");
	says(
	    stayed_of,
	    "\nlargest cgroup charge 130.0 MiB (cgroup /job) at +0.001 s: pid 10 python3 in (startup)",
	    "");
}

static void deaf_of(struct fake *f)
{
	fake_trouble(f);
	for (size_t i = 0; i < 7; i++) {
		f->unheard[i] = (struct unheard){.pid = 101 + (uint32_t)i,
						 .from_ns = FAKE_T0 + 500 * FAKE_MS,
						 .to_ns = FAKE_T0 + 502 * FAKE_MS,
						 .looked = i != 1};
		strcpy(f->unheard[i].file, "/opt/lib\x1b[2J.so");
	}
	f->nunheard = 7;
}

/* The first few, and how many more there are. */
static void unheard(void **state)
{
	(void)state;
	says(
	    deaf_of,
	    "\nmarks may be missing of /opt/lib\\x1b[2J.so in pid 101 at +0.500 s, for 2 ms: it was mapped before it was probed\n"
	    "marks may be missing of /opt/lib\\x1b[2J.so in pid 102 at +0.500 s, for 2 ms: the process had ended before it could be looked into\n",
	    "\nmarks may be missing of 2 more\n");
}

/* On a terminal of 80 columns or more no row of a table is wider than it; notes come after. */
static void rows_fit(void **state)
{
	struct fake *f = malloc(sizeof(*f));

	(void)state;
	assert_non_null(f);
	fake_labels(f);
	for (unsigned width = 80; width <= 300; width += 7) {
		struct report_style style = {.width = width};
		struct report_source src = fake_source(f);
		char *text = NULL, *save, *line;
		size_t len = 0;
		unsigned rows = 0;
		FILE *out = open_memstream(&text, &len);

		assert_int_equal(report_text(&src, &style, NULL, out), 0);
		fclose(out);
		for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
			if (strncmp(line, "  ", 2) != 0)
				continue;
			rows++;
			assert_true(text_columns(line) <= width);
		}
		/* With the columns' heads, and what was there before the phase of the peak. */
		assert_int_equal(rows, 2 + f->nphases);
		free(text);
	}
	free(f);
}

/* Small processes of n commands, after a first one that is large. */
static char *of_commands(unsigned int n)
{
	struct fake *f = calloc(1, sizeof(*f));
	struct report_style style = {.width = 100};
	struct report_source src = fake_source(f);
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(f);
	fake_init(f);
	fake_process(f, 100, "etl", 0, 4000);
	fake_phase(f, PH_STARTUP, NULL, 0, 1, 0, 4000, 0, 100, 100);
	for (unsigned int i = 0; i < n; i++) {
		struct process *p = fake_process(f, 101 + i, "x", 100 + i, 101 + i);

		snprintf(p->comm, sizeof(p->comm), "tool%u", i);
		fake_phase(f, PH_STARTUP, NULL, 0, 1, 100 + i, 101 + i, 0, 2, 2);
	}
	assert_int_equal(report_text(&src, &style, NULL, out), 0);
	fclose(out);
	free(f);
	return text;
}

static void few_and_many_commands(void **state)
{
	char *text = of_commands(11);

	(void)state;
	assert_non_null(strstr(text, "pid 105 "));
	assert_null(strstr(text, "by command"));
	free(text);
	text = of_commands(12);
	assert_null(strstr(text, "pid 105 "));
	assert_non_null(
	    strstr(text, "  tool4                              1        2.0        1 ms\n"));
	free(text);
}

/* The phase of the peak did little for it: who did is said at once. */
static void there_before(void **state)
{
	struct fake *f = calloc(1, sizeof(*f));
	struct report_style style = {.width = 100};
	struct report_source src = fake_source(f);
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	assert_non_null(f);
	fake_init(f);
	fake_process(f, 4242, "job", 0, 4000);
	fake_phase(f, PH_STARTUP, NULL, 0, 1, 0, 1000, 0, 45, 45);
	fake_phase(f, PH_CHECKPOINT, "load", 1, 2, 1000, 2000, 45, 85, 85);
	fake_phase(f, PH_CHECKPOINT, "join", 2, 3, 2000, 3000, 85, 229, 229);
	fake_phase(f, PH_CHECKPOINT, "push", 3, 4, 3000, 4000, 229, 229, 230);
	assert_int_equal(report_text(&src, &style, NULL, out), 0);
	fclose(out);
	assert_non_null(strstr(text, "peak 230.0 MiB in [push]"));
	assert_non_null(strstr(
	    text,
	    "\n  229.0 MiB were there when that phase began, 144.0 of them by [join]: see --why\n"));
	free(text);
	/* More than 5 % are its own. */
	f->phases[3].start_bytes = 218 * FAKE_MIB;
	out = open_memstream(&text, &len);
	assert_int_equal(report_text(&src, &style, NULL, out), 0);
	fclose(out);
	assert_null(strstr(text, "were there"));
	free(text);
	free(f);
}

static void says_nothing(struct fake *f, const char *expected)
{
	struct report_source src = fake_source(f);
	struct report_style style = {0};
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert_int_equal(report_text(&src, &style, NULL, out), -ENODATA);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
}

/* Why there is nothing, as far as the recording itself knows. */
static void nothing_traced(void **state)
{
	struct fake *f = malloc(sizeof(*f));

	(void)state;
	assert_non_null(f);
	fake_init(f);
	says_nothing(f, "no process was traced\n");
	f->run.finished = false;
	says_nothing(f, "nothing was recorded: the tracer ended before it could write\n");
	f->run.running = true;
	says_nothing(f, "no process was traced so far: the tracing goes on\n");
	f->run.running = false;
	f->run.error = -ENOSPC;
	says_nothing(f, "nothing was recorded: No space left on device\n");
	f->run.dropped = 1;
	says_nothing(f, "nothing was recorded: No space left on device, 1 row is missing\n");
	f->run.dropped = 4711;
	says_nothing(f, "nothing was recorded: No space left on device, 4711 rows are missing\n");
	free(f);
}

static void errors_come_back(void **state)
{
	struct fake *f = malloc(sizeof(*f));
	struct report_source src;
	struct report_style style = {0};
	FILE *full = fopen("/dev/full", "w"), *null = fopen("/dev/null", "w");

	(void)state;
	assert_non_null(f);
	fake_pipeline(f);
	src = fake_source(f);
	assert_int_equal(report_text(&src, &style, NULL, full), -ENOSPC);
	fclose(full);
	full = fopen("/dev/full", "w");
	assert_int_equal(report_json(&src, NULL, full), -ENOSPC);
	fclose(full);
	f->fail = -EIO;
	assert_int_equal(report_text(&src, &style, NULL, null), -EIO);
	assert_int_equal(report_json(&src, NULL, null), -EIO);
	fclose(null);
	free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(storm),	      cmocka_unit_test(pipeline),
	    cmocka_unit_test(trouble),	      cmocka_unit_test(notes),
	    cmocka_unit_test(labels),	      cmocka_unit_test(unfinished),
	    cmocka_unit_test(containers),     cmocka_unit_test(charges),
	    cmocka_unit_test(unheard),	      cmocka_unit_test(rows_fit),
	    cmocka_unit_test(nothing_traced), cmocka_unit_test(errors_come_back),
	    cmocka_unit_test(there_before),   cmocka_unit_test(few_and_many_commands),
	};

	/* Widths of characters are the locale's; Debian always has this one. */
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		return EXIT_FAILURE;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
