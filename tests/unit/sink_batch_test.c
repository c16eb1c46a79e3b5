/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sinks: what lies together in an object, what it is called, when it is tried again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <jansson.h>

#include "lib/text.h"
#include "sink/backoff.h"
#include "sink/batch.h"

#define S 1000000000ull
#define WALL (1796000000 * S)

static json_t *parsed(const struct batch *b, char key[PLACE_KEY_MAX])
{
	struct object o = {0};
	json_error_t error;
	json_t *j;

	assert_int_equal(batch_object(b, &o), 0);
	strcpy(key, o.key);
	j = json_loadb(o.data, o.len, 0, &error);
	if (!j)
		fail_msg("%s: %.*s", error.text, (int)o.len, o.data);
	object_free(&o);
	return j;
}

static void add(struct batch *b, uint64_t ns, const char *row)
{
	assert_true(batch_takes(b, ns));
	assert_int_equal(batch_add(b, ns, row, strlen(row)), 0);
}

static void one_row_is_an_object_of_its_own(void **state)
{
	char key[PLACE_KEY_MAX];
	struct batch b;
	json_t *j;

	(void)state;
	batch_init(&b, "samples", ".json");
	add(&b, WALL, "{ \"n\": 1 }");
	j = parsed(&b, key);
	assert_string_equal(key, "samples/1796000000000000000.json");
	assert_int_equal(json_object_size(j), 1);
	json_decref(j);
	batch_free(&b);
}

static void several_have_the_last_ones_fields_and_all_of_them(void **state)
{
	char key[PLACE_KEY_MAX], first[PLACE_KEY_MAX];
	struct batch b;
	json_t *j, *all;

	(void)state;
	batch_init(&b, "samples", ".json");
	add(&b, WALL, "{ \"n\": 1 }");
	json_decref(parsed(&b, first));
	add(&b, WALL + S, "{ \"n\": 2, \"x\": { \"y\": 1 } }");
	add(&b, WALL + 2 * S, "{ \"n\": 3, \"x\": { \"y\": 7 } }");
	j = parsed(&b, key);
	/* It grew under its key. */
	assert_string_equal(key, first);
	assert_int_equal(json_integer_value(json_object_get(j, "n")), 3);
	assert_int_equal(json_integer_value(json_object_get(json_object_get(j, "x"), "y")), 7);
	all = json_object_get(j, "samples");
	assert_int_equal(json_array_size(all), 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(
		    json_integer_value(json_object_get(json_array_get(all, (size_t)i), "n")),
		    i + 1);
	json_decref(j);
	batch_free(&b);
}

static void text_follows_itself(void **state)
{
	struct object o = {0};
	struct batch b;

	(void)state;
	batch_init(&b, "stderr", ".log");
	add(&b, WALL, "half a li");
	add(&b, WALL, "ne\n");
	assert_int_equal(batch_object(&b, &o), 0);
	assert_string_equal(o.key, "stderr/1796000000000000000.log");
	assert_int_equal(o.len, 12);
	assert_memory_equal(o.data, "half a line\n", 12);
	object_free(&o);
	batch_free(&b);
}

/* Fills a time with rows of a size, so many a second; the number of objects that they become. */
static unsigned objects_of(uint64_t seconds, unsigned a_second, size_t size)
{
	char row[1024], key[PLACE_KEY_MAX] = "", next[PLACE_KEY_MAX];
	unsigned objects = 1;
	struct object o;
	struct batch b;

	memset(row, 'x', sizeof(row));
	batch_init(&b, "samples", ".log");
	for (uint64_t ns = 0; ns < seconds * S; ns += S / a_second) {
		if (!batch_takes(&b, WALL + ns)) {
			assert_int_equal(batch_object(&b, &o), 0);
			strcpy(next, o.key);
			object_free(&o);
			assert_true(strcmp(key, next) < 0);
			strcpy(key, next);
			assert_true(b.len <= BATCH_HUGE + size);
			batch_next(&b);
			objects++;
		}
		assert_int_equal(batch_add(&b, WALL + ns, row, size), 0);
	}
	batch_free(&b);
	return objects;
}

static void a_day_is_some_thousand_objects(void **state)
{
	(void)state;
	/* One a minute, however few. */
	assert_in_range(objects_of(86400, 1, 250), 1440, 1440);
	/* 128 KiB is full at 64 rows of 2 a second, after 262 s: still one a minute. */
	assert_in_range(objects_of(86400, 2, 250), 1440, 1440);
	/* 50 of 400 bytes a second: 128 KiB lasts 6.6 s. */
	assert_in_range(objects_of(3600, 50, 400), 3600 / 7, 3600 / 6);
	/* A flood: at most one a second, here 400 of 1000 bytes. */
	assert_in_range(objects_of(300, 400, 1000), 299, 300);
}

static void keys_rise_though_time_stands_still(void **state)
{
	char first[PLACE_KEY_MAX], second[PLACE_KEY_MAX];
	struct batch b;

	(void)state;
	batch_init(&b, "samples", ".json");
	add(&b, WALL, "{ }");
	json_decref(parsed(&b, first));
	batch_next(&b);
	add(&b, WALL, "{ }");
	json_decref(parsed(&b, second));
	assert_true(strcmp(first, second) < 0);
	/* A row of another processor that comes late does not end the batch. */
	assert_true(batch_takes(&b, WALL - 30 * S));
	batch_free(&b);
}

static void some_phases_have_an_object_each(void **state)
{
	struct singles s = {0};
	unsigned taken = 0;

	(void)state;
	/* 100 in one second: five. */
	for (unsigned i = 0; i < 100; i++)
		taken += singles_take(&s, WALL + i);
	assert_int_equal(taken, SINGLES_A_SECOND);
	/* Of one instant: one. */
	assert_true(singles_take(&s, WALL + S));
	assert_false(singles_take(&s, WALL + S));
	for (unsigned i = 2; i < 100000; i++)
		taken += singles_take(&s, WALL + i * S);
	assert_int_equal(taken + 1, SINGLES_MAX);
}

static struct phase labelled(const char *bytes, size_t len)
{
	struct phase ph = {.kind = PH_CHECKPOINT};

	ph.label.len = (uint16_t)len;
	memcpy(ph.label.bytes, bytes, len);
	ph.label.hash = text_hash(bytes, len);
	return ph;
}

static void labels_stay_in_their_folder(void **state)
{
	static const struct {
		const char *label, *key;
	} cases[] = {
	    {"transform:users", "transform:users"},
	    {"a/b", "a%2Fb"},
	    {"..", "%2E."},
	    {"../../etc/passwd", "%2E.%2F..%2Fetc%2Fpasswd"},
	    {"", ""},
	    {"(after)", "%28after)"},
	    {"-rf", "%2Drf"},
	    {"50%", "50%25"},
	    {"a b\n\x1b[31m", "a%20b%0A%1B%5B31m"},
	    {"\xc3\xa9", "%C3%A9"},
	    {"x~1", "x%7E1"},
	};
	char out[PLACE_LABEL_MAX + 1];
	struct phase ph;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ph = labelled(cases[i].label, strlen(cases[i].label));
		place_label(out, &ph);
		assert_string_equal(out, cases[i].key);
	}
	ph = (struct phase){.kind = PH_AFTER};
	place_label(out, &ph);
	assert_string_equal(out, "(after)");
}

static void long_labels_are_cut_and_stay_apart(void **state)
{
	char a[PLACE_LABEL_MAX + 1], b[PLACE_LABEL_MAX + 1], bytes[PP_LABEL_MAX];
	struct phase ph;

	(void)state;
	/* Every length, of bytes that are escaped and that are not. */
	for (int fill = 0; fill < 256; fill += 33) {
		memset(bytes, fill, sizeof(bytes));
		for (size_t len = 0; len <= PP_LABEL_MAX; len++) {
			ph = labelled(bytes, len);
			place_label(a, &ph);
			assert_true(strlen(a) <= PLACE_LABEL_MAX);
			assert_null(strpbrk(a, "/ \n\\"));
		}
	}
	ph = labelled(bytes, PP_LABEL_MAX);
	place_label(a, &ph);
	ph.label.hash++;
	place_label(b, &ph);
	assert_string_not_equal(a, b);
}

static void places(void **state)
{
	static const char *const bad[] = {
	    "",		 "s3://",	  "s3://ab",	   "s3://UPPER/x",
	    "s3://-abc", "s3://abc/a//b", "s3://abc/..",   "s3://abc/a/../b",
	    "gs://abc",	 "s3://abc/a\nb", "s3://abc/\xff", "s3://a_b"};
	struct place p;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (!place_parse(&p, bad[i]))
			fail_msg("'%s' was taken", bad[i]);
	assert_int_equal(place_parse(&p, "s3://logs.x-1/a/b c/"), 0);
	assert_int_equal(p.kind, PLACE_S3);
	assert_string_equal(p.bucket, "logs.x-1");
	assert_string_equal(p.prefix, "a/b c");
	assert_int_equal(place_parse(&p, "s3://logs"), 0);
	assert_string_equal(p.prefix, "");
	assert_int_equal(place_parse(&p, "../out"), 0);
	assert_int_equal(p.kind, PLACE_DIR);
}

static void waits_double_up_to_a_bound_with_jitter(void **state)
{
	struct backoff b;
	uint64_t now = 5 * S, wait, most = BACKOFF_FIRST_NS;

	(void)state;
	backoff_begin(&b, now);
	assert_int_equal(backoff_wait(&b, now), 0);
	for (int i = 0; i < 100; i++) {
		/* The longest that the dice can say, and the shortest. */
		uint32_t dice = i % 2 ? UINT32_MAX : 0;

		backoff_failure(&b, now, dice);
		wait = backoff_wait(&b, now);
		assert_in_range(wait, dice ? most - 1 : most / 2, dice ? most : most / 2);
		assert_int_equal(backoff_wait(&b, now + wait), 0);
		most = 2 * most > BACKOFF_MOST_NS ? BACKOFF_MOST_NS : 2 * most;
	}
	assert_false(backoff_over(&b, now + 29 * S, 30 * S));
	assert_true(backoff_over(&b, now + 30 * S, 30 * S));
	backoff_success(&b, now + 30 * S);
	assert_int_equal(backoff_wait(&b, now), 0);
	/* Nothing has failed since. */
	assert_false(backoff_over(&b, now + 100 * S, 30 * S));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(one_row_is_an_object_of_its_own),
	    cmocka_unit_test(several_have_the_last_ones_fields_and_all_of_them),
	    cmocka_unit_test(text_follows_itself),
	    cmocka_unit_test(a_day_is_some_thousand_objects),
	    cmocka_unit_test(keys_rise_though_time_stands_still),
	    cmocka_unit_test(some_phases_have_an_object_each),
	    cmocka_unit_test(labels_stay_in_their_folder),
	    cmocka_unit_test(long_labels_are_cut_and_stay_apart),
	    cmocka_unit_test(places),
	    cmocka_unit_test(waits_double_up_to_a_bound_with_jitter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
