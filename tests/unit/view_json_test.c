/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The JSON writer and `report --json`, read back with jansson; the names are a golden file. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "golden.h"
#include "lib/json.h"
#include "view/columns.h"
#include "view/report.h"
#include "view_fake.h"

#define CONTAINER_ID "3f2a111111111111111111111111111111111111111111111111111111111111"

static json_t *parse(const char *text, size_t len)
{
	json_error_t err;
	json_t *v = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &err);

	if (!v)
		fail_msg("line %d: %s in\n%s", err.line, err.text, text);
	return v;
}

static void writer(void **state)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	struct jw j;
	json_t *v, *a;

	(void)state;
	assert_int_equal(jw_open(&j, f), 0);
	jw_begin_object(&j);
	jw_key(&j, "max");
	jw_i64(&j, INT64_MAX);
	jw_key(&j, "min");
	jw_i64(&j, INT64_MIN);
	jw_key(&j, "s");
	jw_string(&j, "a\0\"\\\n\xff\xc3\xbc", 8);
	jw_key(&j, "none");
	jw_text(&j, NULL);
	jw_key(&j, "hex");
	jw_hex(&j, "\xff\x00z", 3);
	jw_key(&j, "empty");
	jw_begin_object(&j);
	jw_end_object(&j);
	jw_key(&j, "list");
	jw_begin_array(&j);
	jw_ratio(&j, 2, 3);
	jw_ratio(&j, 1, 1);
	jw_ratio(&j, 1, 0);
	jw_inline(&j);
	jw_begin_array(&j);
	jw_bool(&j, true);
	jw_bool(&j, false);
	jw_end_array(&j);
	jw_end_array(&j);
	jw_end_object(&j);
	assert_int_equal(jw_close(&j), 0);
	fclose(f);
	v = parse(text, len);
	assert_int_equal(json_integer_value(json_object_get(v, "max")), INT64_MAX);
	assert_int_equal(json_integer_value(json_object_get(v, "min")), INT64_MIN);
	assert_int_equal(json_string_length(json_object_get(v, "s")), 10);
	assert_memory_equal(json_string_value(json_object_get(v, "s")),
			    "a\0\"\\\n\xef\xbf\xbd\xc3\xbc", 10);
	assert_true(json_is_null(json_object_get(v, "none")));
	assert_string_equal(json_string_value(json_object_get(v, "hex")), "ff007a");
	a = json_object_get(v, "list");
	assert_int_equal(json_array_size(a), 4);
	assert_true(json_real_value(json_array_get(a, 0)) == 0.6667);
	assert_true(json_real_value(json_array_get(a, 1)) == 1.0);
	assert_true(json_is_null(json_array_get(a, 2)));
	assert_non_null(strstr(text, "[ true, false ]"));
	json_decref(v);
	free(text);
}

/* Longer than the writer's pieces and buffer, with characters of each length across their ends. */
static void long_strings(void **state)
{
	static const char *const units[] = {"ü", "日", "🙂", "a"};
	size_t size = 300000;
	char *s = malloc(size + 8);

	(void)state;
	assert_non_null(s);
	for (size_t u = 0; u < 4; u++) {
		for (size_t shift = 0; shift < 4; shift++) {
			char *text = NULL;
			size_t len = 0, n = shift, unit = strlen(units[u]);
			FILE *f = open_memstream(&text, &len);
			struct jw j;
			json_t *v;

			memset(s, 'x', shift);
			for (; n < size; n += unit)
				memcpy(s + n, units[u], unit);
			assert_int_equal(jw_open(&j, f), 0);
			jw_begin_array(&j);
			jw_string(&j, s, n);
			jw_end_array(&j);
			assert_int_equal(jw_close(&j), 0);
			fclose(f);
			v = parse(text, len);
			assert_int_equal(json_string_length(json_array_get(v, 0)), n);
			assert_memory_equal(json_string_value(json_array_get(v, 0)), s, n);
			json_decref(v);
			free(text);
		}
	}
	free(s);
}

static json_t *report_of(struct fake *f, char **text)
{
	struct report_source src = fake_source(f);
	size_t len = 0;
	FILE *out = open_memstream(text, &len);

	assert_int_equal(report_json(&src, NULL, out), 0);
	fclose(out);
	return parse(*text, len);
}

static const char *string_at(json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

static json_int_t int_at(json_t *o, const char *key)
{
	json_t *v = json_object_get(o, key);

	assert_true(json_is_integer(v));
	return json_integer_value(v);
}

static json_t *phase_at(json_t *report, size_t process, size_t i)
{
	return json_array_get(
	    json_object_get(json_array_get(json_object_get(report, "processes"), process),
			    "phases"),
	    i);
}

static void pipeline(void **state)
{
	struct fake *f = malloc(sizeof(*f));
	char *text = NULL;
	json_t *v, *peak, *job, *ph;

	(void)state;
	assert_non_null(f);
	fake_pipeline(f);
	v = report_of(f, &text);
	assert_int_equal(int_at(v, "format"), 1);
	assert_true(json_is_true(json_object_get(v, "exact")));
	peak = json_object_get(v, "peak");
	assert_int_equal(int_at(peak, "bytes"), 3224 * FAKE_MIB);
	assert_int_equal(int_at(peak, "pid"), 4242);
	assert_string_equal(string_at(peak, "phase"), "join");
	assert_int_equal(json_array_size(json_object_get(peak, "open")), 2);
	assert_string_equal(json_string_value(json_array_get(json_object_get(peak, "open"), 0)),
			    "transform:memberships");
	assert_int_equal(int_at(json_object_get(peak, "members"), "anon"), 3220 * FAKE_MIB);
	job = json_object_get(v, "job");
	assert_int_equal(int_at(job, "processes"), 1);
	/* One process at a time: its peak is the sum's. */
	assert_int_equal(int_at(job, "rss_sum_peak_bytes"), 3224 * FAKE_MIB);
	assert_true(json_is_null(json_object_get(job, "limit_bytes")));
	assert_true(json_is_null(json_object_get(job, "charge_peak_bytes")));
	ph = phase_at(v, 0, 5);
	assert_string_equal(string_at(ph, "label"), "join");
	assert_true(json_is_true(json_object_get(ph, "owns_peak")));
	assert_false(json_is_true(json_object_get(phase_at(v, 0, 3), "owns_peak")));
	ph = phase_at(v, 0, 7);
	assert_string_equal(string_at(ph, "kind"), "after");
	assert_int_equal(int_at(ph, "kept_bytes"), -368 * (json_int_t)FAKE_MIB);
	assert_null(json_object_get(ph, "where"));
	assert_int_equal(json_array_size(json_object_get(v, "verdicts")), 0);
	json_decref(v);
	free(text);
	free(f);
}

static void trouble(void **state)
{
	struct fake *f = malloc(sizeof(*f));
	char *text = NULL;
	json_t *v, *o, *q;

	(void)state;
	assert_non_null(f);
	fake_trouble(f);
	v = report_of(f, &text);
	assert_false(json_is_true(json_object_get(v, "exact")));
	o = json_object_get(v, "job");
	/* Four images, of which one was left by exec. */
	assert_int_equal(int_at(o, "processes"), 3);
	assert_int_equal(int_at(o, "most_at_once"), 3);
	assert_int_equal(int_at(o, "rss_sum_peak_bytes"), 325 * FAKE_MIB);
	/* Samples were lost: there is no bound. */
	assert_true(json_is_null(json_object_get(o, "rss_sum_error_bytes")));
	q = json_array_get(json_object_get(o, "rss_sum_open"), 1);
	assert_int_equal(json_array_size(json_object_get(o, "rss_sum_open")), 2);
	assert_int_equal(int_at(q, "pid"), 101);
	assert_int_equal(int_at(q, "rss_bytes"), 320 * FAKE_MIB);
	assert_int_equal(json_array_size(json_object_get(q, "phases")), 2);
	assert_int_equal(int_at(o, "charge_peak_bytes"), 700 * FAKE_MIB);
	assert_int_equal(int_at(o, "charge_peak_at_ns"), FAKE_T0 + 5500 * FAKE_MS);
	/* The image that the exec ended, not yet the one that came after it. */
	assert_int_equal(json_array_size(json_object_get(o, "charge_open")), 3);
	q = json_array_get(json_object_get(o, "charge_open"), 2);
	assert_string_equal(json_string_value(json_array_get(json_object_get(q, "phases"), 0)),
			    "before_exec");
	assert_int_equal(int_at(o, "headroom_min_bytes"), 324 * FAKE_MIB);
	assert_int_equal(int_at(json_object_get(o, "limit_owner"), "level"), 1);
	o = json_array_get(json_object_get(v, "processes"), 1);
	assert_string_equal(string_at(json_object_get(o, "exit"), "kind"), "signal");
	assert_int_equal(int_at(json_object_get(o, "exit"), "signal"), 9);
	assert_true(json_is_null(json_object_get(json_object_get(o, "exit"), "status")));
	o = json_array_get(json_object_get(v, "processes"), 3);
	assert_true(json_is_null(json_object_get(o, "end_ns")));
	o = json_object_get(phase_at(v, 1, 1), "where");
	assert_int_equal(json_array_size(o), 3);
	assert_string_equal(string_at(json_array_get(o, 0), "mapping"), "heap");
	assert_string_equal(string_at(json_array_get(o, 2), "mapping"), "libfoo\033.so");
	assert_true(json_real_value(json_object_get(json_array_get(o, 0), "share")) == 0.61);
	assert_int_equal(int_at(json_array_get(o, 0), "bytes_est"), 183 * FAKE_MIB);
	o = json_object_get(v, "verdicts");
	assert_int_equal(json_array_size(o), 1);
	o = json_array_get(o, 0);
	assert_string_equal(string_at(o, "kind"), "signal");
	assert_int_equal(int_at(o, "pid"), 101);
	assert_int_equal(int_at(o, "limit_bytes"), 1024 * FAKE_MIB);
	assert_int_equal(json_array_size(json_object_get(o, "phases")), 1);
	assert_string_equal(json_string_value(json_array_get(json_object_get(o, "phases"), 0)),
			    "(startup)");
	o = json_object_get(v, "losses");
	assert_int_equal(int_at(o, "edges"), 3);
	assert_int_equal(int_at(o, "samples"), 12);
	json_decref(v);
	free(text);
	free(f);
}

/* Of nested phases with the lowest headroom the innermost is named; one that came later is not. */
static void tight(void **state)
{
	static const size_t with[] = {3, 5, 6};
	struct fake *f = malloc(sizeof(*f));
	char *text = NULL;
	json_t *v, *job;

	(void)state;
	assert_non_null(f);
	fake_pipeline(f);
	f->processes[0].limit = 4096 * FAKE_MIB;
	f->processes[0].headroom_min = 512 * FAKE_MIB;
	for (size_t i = 0; i < 3; i++)
		f->phases[with[i]].headroom_min = 512 * FAKE_MIB;
	v = report_of(f, &text);
	job = json_object_get(v, "job");
	assert_string_equal(string_at(job, "headroom_phase"), "join");
	assert_int_equal(int_at(job, "headroom_min_bytes"), 512 * FAKE_MIB);
	assert_int_equal(int_at(json_object_get(job, "limit_owner"), "level"), 0);
	json_decref(v);
	free(text);
	free(f);
}

/* Case D1 for programs: every label's bytes are in the label, or in label_hex. */
static void labels(void **state)
{
	struct fake *f = malloc(sizeof(*f));
	char *text = NULL;
	json_t *v;

	(void)state;
	assert_non_null(f);
	fake_labels(f);
	v = report_of(f, &text);
	for (size_t i = 0; i < strlen(text); i++)
		assert_true(text[i] == '\n' || ((unsigned char)text[i] >= 0x20 && text[i] != 0x7f));
	for (size_t i = 0; i < f->nphases; i++) {
		const struct ev_label *l = &f->phases[i].label;
		const char *label = string_at(phase_at(v, 0, i), "label");
		const char *hex = string_at(phase_at(v, 0, i), "label_hex");
		const char *state_text = string_at(phase_at(v, 0, i), "label_state");
		char byte[3];

		if (!hex && !(l->flags & (PP_LABEL_NULL | PP_LABEL_UNREADABLE))) {
			assert_int_equal(strlen(label), l->len);
			assert_memory_equal(label, l->bytes, l->len);
		}
		for (size_t b = 0; hex && b < l->len; b++) {
			snprintf(byte, sizeof(byte), "%02x", (unsigned char)l->bytes[b]);
			assert_memory_equal(hex + 2 * b, byte, 2);
		}
		if (l->flags & PP_LABEL_NULL)
			assert_string_equal(state_text, "null");
		else if (l->flags & PP_LABEL_UNREADABLE)
			assert_string_equal(state_text, "unreadable");
		else
			assert_null(state_text);
	}
	/* Two that were cut at the same place stay distinct. */
	assert_string_not_equal(string_at(phase_at(v, 0, 12), "label"),
				string_at(phase_at(v, 0, 13), "label"));
	json_decref(v);
	free(text);
	free(f);
}

static void nothing_traced(void **state)
{
	struct fake *f = malloc(sizeof(*f));
	char *text = NULL;
	json_t *v;

	(void)state;
	assert_non_null(f);
	fake_init(f);
	v = report_of(f, &text);
	assert_true(json_is_null(json_object_get(v, "peak")));
	assert_int_equal(json_array_size(json_object_get(v, "processes")), 0);
	json_decref(v);
	free(text);
	free(f);
}

static void notes(void **state)
{
	struct fake *f = malloc(sizeof(*f));
	char *text = NULL;
	size_t with = 0;
	json_t *v, *phase, *note;
	size_t i;

	(void)state;
	assert_non_null(f);
	fake_pipeline(f);
	fake_note(f, 12700, 4242, "a plan\n");
	fake_note(f, 12800, 4242, "\xff")->flags = 0;
	v = report_of(f, &text);
	json_array_foreach (
	    json_object_get(json_array_get(json_object_get(v, "processes"), 0), "phases"), i,
	    phase) {
		json_t *all = json_object_get(phase, "notes");

		if (!all)
			continue;
		with++;
		assert_string_equal(json_string_value(json_object_get(phase, "kind")), "after");
		assert_int_equal(json_array_size(all), 2);
		note = json_array_get(all, 0);
		assert_string_equal(json_string_value(json_object_get(note, "text")), "a plan\n");
		assert_true(json_is_true(json_object_get(note, "whole")));
		assert_int_equal(json_integer_value(json_object_get(note, "at_ns")),
				 FAKE_T0 + 12700 * FAKE_MS);
		assert_true(json_is_false(json_object_get(json_array_get(all, 1), "whole")));
	}
	assert_int_equal(with, 1);
	json_decref(v);
	free(text);
	free(f);
}

/* What other programs rely on: a name that changes or goes changes this file. */
static void names(void **state)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	(void)state;
	for (size_t i = 0; i < process_ncolumns; i++)
		if (process_columns[i].json)
			fprintf(f, "process %s\n", process_columns[i].json);
	for (size_t i = 0; i < phase_ncolumns; i++)
		if (phase_columns[i].json)
			fprintf(f, "phase %s\n", phase_columns[i].json);
	for (size_t i = 0; i < PP_LOSS_MAX; i++)
		fprintf(f, "loss %s\n", loss_names[i].json);
	fclose(f);
	golden_check(__FILE__, "names.txt", text, len);
	free(text);
}

static void whole_texts(void **state)
{
	struct fake *f = malloc(sizeof(*f));
	char *text = NULL;
	json_t *v;

	(void)state;
	assert_non_null(f);
	fake_trouble(f);
	v = report_of(f, &text);
	golden_check(__FILE__, "report_trouble.json", text, strlen(text));
	json_decref(v);
	free(text);
	free(f);
}

static void containers(void **state)
{
	struct fake *f = malloc(sizeof(*f));
	json_t *v, *c, *owner;
	char *text;

	(void)state;
	assert_non_null(f);
	fake_trouble(f);
	f->cgroups[0] = (struct cgroup){.id = 7,
					.path = "/docker/" CONTAINER_ID,
					.runtime = "docker",
					.container = CONTAINER_ID,
					.name = "web-1"};
	f->ncgroups = 1;
	f->processes[1].cgroup_id = 7;
	f->processes[1].limit_level = 0;
	v = report_of(f, &text);
	assert_true(json_is_null(
	    json_object_get(json_array_get(json_object_get(v, "processes"), 0), "container")));
	c = json_object_get(json_array_get(json_object_get(v, "processes"), 1), "container");
	assert_string_equal(string_at(c, "runtime"), "docker");
	assert_string_equal(string_at(c, "name"), "web-1");
	assert_string_equal(string_at(c, "id"), CONTAINER_ID);
	assert_true(json_is_null(json_object_get(c, "pod")));
	owner = json_object_get(json_object_get(v, "job"), "limit_owner");
	assert_int_equal(int_at(owner, "level"), 0);
	assert_string_equal(string_at(owner, "cgroup"), "/docker/" CONTAINER_ID);
	assert_true(json_equal(json_object_get(owner, "container"), c));
	json_decref(v);
	free(text);
	free(f);
}

/* What may be missing, with a name that is no text. */
static void unheard(void **state)
{
	struct fake *f = malloc(sizeof(*f));
	json_t *v, *u;
	char *text;

	(void)state;
	assert_non_null(f);
	fake_trouble(f);
	f->unheard[0] = (struct unheard){.pid = 101,
					 .from_ns = 6000000000,
					 .to_ns = 6000250000,
					 .looked = true,
					 .file = "/opt/lib\x1b[2J\xff.so"};
	f->unheard[1] = (struct unheard){.pid = 102, .from_ns = 1, .to_ns = 2, .file = "/x"};
	f->nunheard = 2;
	v = report_of(f, &text);
	u = json_object_get(v, "unheard");
	assert_int_equal(json_array_size(u), 2);
	assert_int_equal(int_at(json_array_get(u, 0), "pid"), 101);
	assert_int_equal(int_at(json_array_get(u, 0), "from_ns"), 6000000000);
	assert_int_equal(int_at(json_array_get(u, 0), "to_ns"), 6000250000);
	assert_true(json_is_true(json_object_get(json_array_get(u, 0), "looked")));
	assert_true(json_is_false(json_object_get(json_array_get(u, 1), "looked")));
	assert_string_equal(string_at(json_array_get(u, 0), "file"),
			    "/opt/lib\x1b[2J\xef\xbf\xbd.so");
	json_decref(v);
	free(text);
	free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(writer),	      cmocka_unit_test(long_strings),
	    cmocka_unit_test(pipeline),	      cmocka_unit_test(trouble),
	    cmocka_unit_test(tight),	      cmocka_unit_test(labels),
	    cmocka_unit_test(nothing_traced), cmocka_unit_test(notes),
	    cmocka_unit_test(names),	      cmocka_unit_test(whole_texts),
	    cmocka_unit_test(containers),     cmocka_unit_test(unheard),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
