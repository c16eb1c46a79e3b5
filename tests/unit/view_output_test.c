/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the program wrote, below its phases and its end, in text and in JSON. */
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
#include "view/report.h"
#include "view_fake.h"

#define GONE 5 /* number of a piece that was pushed out meanwhile */

/* The pipeline of view_fake.h, and what it wrote. */
struct written {
	struct fake f; /* first: the fake's functions get it as their ctx */
	struct note pieces[16];
	const char *texts[16];
	size_t n;
	uint64_t end[3];
	struct output_totals totals;
	const char *last;
};

static int each_output(void *ctx, uint64_t mm_id, report_note_fn fn, void *arg)
{
	struct written *w = ctx;
	int err = 0;

	for (size_t i = 0; i < w->n && !err; i++)
		if (w->pieces[i].mm_id == mm_id)
			err = fn(arg, &w->pieces[i]);
	return err;
}

static int output_text(void *ctx, const struct note *n, char *buf)
{
	const struct written *w = ctx;

	if (n->first_id == GONE)
		return -ENOENT;
	memcpy(buf, w->texts[n->first_id], n->bytes);
	return 0;
}

static int each_totals(void *ctx, report_totals_fn fn, void *arg)
{
	return fn(arg, &((struct written *)ctx)->totals);
}

static int stderr_tail(void *ctx, uint64_t mm_id, struct tail *out)
{
	const struct written *w = ctx;

	(void)mm_id;
	*out = (struct tail){0};
	tail_append(out, w->last, strlen(w->last));
	return 0;
}

static void put(struct written *w, uint64_t ms, uint32_t stream, uint64_t skip, const char *text)
{
	uint64_t *end = &w->end[stream];

	w->pieces[w->n] = (struct note){
	    .mm_id = w->f.processes[0].mm_id,
	    .pid = w->f.processes[0].pid,
	    .tid = w->f.processes[0].pid,
	    .time_ns = FAKE_T0 + ms * FAKE_MS,
	    .bytes = (uint32_t)strlen(text),
	    .first_id = w->n,
	    .stream = stream,
	    .at = *end + skip,
	    .missing = skip,
	};
	w->texts[w->n++] = text;
	*end += skip + strlen(text);
}

static struct written *made(void)
{
	struct written *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	fake_pipeline(&w->f);
	w->last = "Traceback (most recent call last):\n\033[31mMemoryError\n";
	w->totals = (struct output_totals){KEPT_STDERR, 1 << 20, 8 << 20, 20 << 20, 11 << 20};
	put(w, 10, KEPT_STDERR, 0, "starting\n");
	put(w, 11, KEPT_STDERR, 0, "two\nlines, and the beg");
	put(w, 11, KEPT_STDERR, 0, "inning of \xc3");
	put(w, 12, KEPT_STDERR, 0, "\xa9\n");
	put(w, 13, KEPT_STDERR, 0, "not seen any more\n");
	assert_int_equal(w->n, GONE);
	put(w, 13, KEPT_STDERR, 0, "pushed out\n");
	put(w, 6000, KEPT_STDOUT, 0, "rows: 5\nno end");
	put(w, 6000, KEPT_STDERR, 11 << 20, "\033[2J\xff peak 9.9 MiB in [x]\n\n");
	put(w, 6001, KEPT_STDOUT, 0, " here");
	return w;
}

static struct report_source source_of(struct written *w)
{
	struct report_source src = fake_source(&w->f);

	src.each_output = each_output;
	src.output_text = output_text;
	src.each_output_totals = each_totals;
	src.stderr_tail = stderr_tail;
	return src;
}

static char *text_of(const struct report_source *src, const struct report_style *style, size_t *len)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, len);

	assert_int_equal(report_text(src, style, NULL, f), 0);
	fclose(f);
	for (size_t i = 0; i < *len; i++)
		assert_true(text[i] == '\n' || (unsigned char)text[i] >= 0x20);
	return text;
}

static void below_phases(void **state)
{
	struct written *w = made();
	struct report_source src = source_of(w);
	size_t len;
	char *text = text_of(&src, &(struct report_style){0}, &len);

	(void)state;
	golden_check(__FILE__, "report_output.txt", text, len);
	free(text);
	free(w);
}

static void of_one_phase(void **state)
{
	static const char *const labels[] = {"nothing", "join"};
	struct written *w = made();
	struct report_source src = source_of(w);
	size_t len;
	char *text;

	(void)state;
	src.output_of = labels;
	src.noutput_of = 1;
	text = text_of(&src, &(struct report_style){0}, &len);
	assert_null(strstr(text, "| "));
	free(text);
	src.noutput_of = 2;
	text = text_of(&src, &(struct report_style){0}, &len);
	assert_non_null(strstr(text, "out| rows: 5\n"));
	assert_null(strstr(text, "starting"));
	free(text);
	/* Not asked for. */
	src.each_output = NULL;
	text = text_of(&src, &(struct report_style){0}, &len);
	assert_null(strstr(text, "| "));
	free(text);
	free(w);
}

static void below_the_end(void **state)
{
	struct written *w = made();
	struct report_source src = source_of(w);
	size_t len;
	char *text;

	(void)state;
	src.each_output = NULL;
	w->f.processes[0].exit = PX_SIGNAL;
	w->f.processes[0].status = 11;
	text = text_of(&src, &(struct report_style){0}, &len);
	assert_non_null(strstr(text, "  | Traceback (most recent call last):\n"
				     "  | \\x1b[31mMemoryError\n"));
	free(text);
	/* Whoever stops reading a pipe kills nobody. */
	w->f.processes[0].status = 13;
	text = text_of(&src, &(struct report_style){0}, &len);
	assert_null(strstr(text, "Traceback"));
	free(text);
	free(w);
}

static json_t *json_of(const struct report_source *src)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	json_error_t error;
	json_t *v;

	assert_int_equal(report_json(src, NULL, f), 0);
	fclose(f);
	v = json_loads(text, 0, &error);
	if (!v)
		fail_msg("%s: %s", error.text, text);
	free(text);
	return v;
}

static const char *string_in(json_t *v, const char *key)
{
	return json_string_value(json_object_get(v, key));
}

static json_int_t int_in(json_t *v, const char *key)
{
	return json_integer_value(json_object_get(v, key));
}

/* The output of the phase with that label. */
static json_t *output_in(json_t *v, const char *label)
{
	json_t *phases =
		   json_object_get(json_array_get(json_object_get(v, "processes"), 0), "phases"),
	       *ph;
	size_t i;

	json_array_foreach (phases, i, ph) {
		if (!strcmp(string_in(ph, "label"), label))
			return json_object_get(ph, "output");
	}
	fail_msg("no phase %s", label);
	return NULL;
}

static void json(void **state)
{
	struct written *w = made();
	struct report_source src = source_of(w);
	json_t *v, *o, *t;

	(void)state;
	w->f.verdicts[0] = (struct verdict){.kind = VD_SIGNAL,
					    .mm_id = w->f.processes[0].mm_id,
					    .traced = true,
					    .charge = EV_NONE,
					    .limit = EV_NONE,
					    .limit_usage = EV_NONE};
	w->f.nverdicts = 1;
	v = json_of(&src);
	o = output_in(v, "(startup)");
	/* Pieces of one write are one. */
	assert_int_equal(json_array_size(o), 4);
	assert_string_equal(string_in(json_array_get(o, 0), "text"), "starting\n");
	assert_string_equal(string_in(json_array_get(o, 0), "stream"), "stderr");
	assert_int_equal(int_in(json_array_get(o, 0), "at_ns"), FAKE_T0 + 10 * FAKE_MS);
	assert_int_equal(int_in(json_array_get(o, 1), "offset"), 9);
	assert_string_equal(string_in(json_array_get(o, 1), "text"),
			    "two\nlines, and the beginning of \xef\xbf\xbd");
	assert_string_equal(string_in(json_array_get(o, 1), "hex") +
				2 * strlen("two\nlines, and the "
					   "beginning of "),
			    "c3");
	assert_null(json_object_get(json_array_get(o, 0), "hex"));
	o = output_in(v, "join");
	assert_int_equal(json_array_size(o), 3);
	assert_string_equal(string_in(json_array_get(o, 0), "stream"), "stdout");
	assert_int_equal(int_in(json_array_get(o, 0), "missing_bytes"), 0);
	assert_int_equal(int_in(json_array_get(o, 2), "missing_bytes"), 11 << 20);
	assert_null(output_in(v, "transform:users"));
	t = json_array_get(json_object_get(v, "output"), 0);
	assert_int_equal(int_in(t, "dropped_bytes"), 11 << 20);
	assert_int_equal(int_in(t, "written_bytes"), 20 << 20);
	t = json_object_get(json_array_get(json_object_get(v, "verdicts"), 0), "stderr_lines");
	assert_int_equal(json_array_size(t), 2);
	assert_string_equal(json_string_value(json_array_get(t, 1)), "\033[31mMemoryError");
	json_decref(v);
	free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(below_phases),
	    cmocka_unit_test(of_one_phase),
	    cmocka_unit_test(below_the_end),
	    cmocka_unit_test(json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
