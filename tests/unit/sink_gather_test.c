/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A recording → objects: the same ones, whether it is read as it grows or all at once. */
#include <jansson.h>

#include "store_fixture.h"

#include "sink/gather.h"

#define MS 1000000ull
#define BEGIN 1000000000ull
#define OBJECTS_MAX 4096

static void put_note(struct store *s, uint64_t ns, uint64_t token, uint32_t number,
		     const char *text, size_t pieces)
{
	static struct event ev;

	for (size_t i = 0; i < pieces; i++) {
		memset(&ev, 0, sizeof(ev));
		ev.kind = PP_NOTE;
		ev.time_ns = ns;
		ev.mm_id = 1;
		ev.pid = ev.tid = 4242;
		ev.note.token = token;
		ev.note.number = number;
		ev.note.at = (uint32_t)(i * strlen(text));
		ev.note.len = (uint16_t)strlen(text);
		ev.note.flags = i + 1 == pieces ? PP_NOTE_LAST : 0;
		memcpy(ev.note.text, text, strlen(text));
		store_event(s, &ev);
	}
}

static void put_sample(struct store *s, uint64_t ns, uint64_t anon)
{
	static struct event ev;

	memset(&ev, 0, sizeof(ev));
	ev.kind = PP_SAMPLE;
	ev.time_ns = ns;
	ev.mm_id = 1;
	ev.pid = ev.tid = 4242;
	ev.sample.now.m[PP_ANON] = anon;
	ev.sample.max = anon;
	ev.sample.charge = EV_NONE;
	ev.sample.threads = 4;
	store_event(s, &ev);
}

static void put_phase(struct store *s, uint64_t id, enum phase_kind kind, uint64_t start_ns,
		      uint64_t end_ns, const char *label)
{
	static struct phase ph;

	memset(&ph, 0, sizeof(ph));
	ph.id = id;
	ph.mm_id = 1;
	ph.pid = ph.tid = 4242;
	ph.kind = kind;
	ph.ended_by = PH_BY_MARK;
	ph.origin = kind >= PH_STARTUP ? PH_IMPLIED : PH_FROM_CALL;
	ph.label.len = (uint16_t)strlen(label);
	memcpy(ph.label.bytes, label, strlen(label));
	ph.token = id;
	ph.start_ns = start_ns;
	ph.end_ns = end_ns;
	ph.peak.bytes = id << 20;
	ph.threads = kind >= PH_STARTUP ? 0 : 7;
	ph.charge_peak = ph.limit = ph.headroom_min = ph.printed_bytes = EV_NONE;
	store_phase(s, &ph);
}

static void put_output(struct store *s, uint64_t id, uint64_t ns, uint32_t stream, const char *text)
{
	static struct output_piece o;

	memset(&o, 0, sizeof(o));
	o.id = id;
	o.time_ns = ns;
	o.mm_id = 1;
	o.pid = o.tid = 4242;
	o.stream = stream;
	o.len = (uint32_t)strlen(text);
	memcpy(o.bytes, text, o.len);
	store_output(s, &o);
}

/* The first n steps of one story: 10 ms each, with samples, phases, notes and output. */
static void write_story(const char *path, unsigned n)
{
	struct run_info info = plain_info();
	struct run_end end = {.finished = true, .end_ns = BEGIN + n * 10 * MS, .status = -1};
	uint64_t phases = 0;
	struct store *s;
	char text[32];

	info.where_every = 0;
	assert_int_equal(store_create(&s, path, &info), 0);
	for (unsigned i = 1; i <= n; i++) {
		uint64_t ns = BEGIN + i * 10 * MS;

		put_sample(s, ns - MS, i << 12);
		put_sample(s, ns, i << 13);
		if (i % 3)
			continue;
		put_note(s, ns - 2 * MS, i % 2 ? phases + 1 : 0, i, "what it is ", 1 + i % 4);
		snprintf(text, sizeof(text), "step %u/%u", i % 5, i);
		put_phase(s, ++phases, i % 2 ? PH_SPAN : PH_CHECKPOINT, ns - 25 * MS, ns, text);
		if (i % 30 == 0)
			put_phase(s, ++phases, PH_BETWEEN, ns, ns + 5 * MS, "");
		snprintf(text, sizeof(text), "line %u\n", i);
		put_output(s, 2 * i, ns, KEPT_STDERR, text);
		put_output(s, 2 * i + 1, ns, KEPT_STDOUT, "not this\n");
	}
	assert_int_equal(store_close(&s, &end), 0);
}

struct map {
	struct object o[OBJECTS_MAX];
	size_t n;
	unsigned puts;
};

static void put(struct map *m, struct object *o)
{
	size_t i = 0;

	m->puts++;
	while (i < m->n && strcmp(m->o[i].key, o->key) != 0)
		i++;
	assert_true(i < OBJECTS_MAX);
	if (i < m->n)
		object_free(&m->o[i]);
	else
		m->n++;
	m->o[i] = *o;
	o->data = NULL;
}

static void put_open(struct map *m, struct gather *g)
{
	struct object o = {0};

	for (int i = 0; i < GATHER_KINDS; i++) {
		if (!gather_open(g, i, &o))
			continue;
		put(m, &o);
		gather_open_sent(g, i);
		assert_int_equal(gather_open(g, i, &o), 0);
	}
}

static void take(struct map *m, struct gather *g, const char *path, uint64_t until_ns, bool final)
{
	struct recording *r;

	do {
		struct object *o;

		assert_int_equal(recording_open(&r, path), 0);
		assert_int_equal(gather_read(g, r, until_ns, final), 0);
		recording_close(&r);
		while ((o = gather_ready(g))) {
			put(m, o);
			gather_sent(g);
		}
		put_open(m, g);
	} while (final && !g->all);
}

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct object *)a)->key, ((const struct object *)b)->key);
}

static void map_free(struct map *m)
{
	for (size_t i = 0; i < m->n; i++)
		object_free(&m->o[i]);
	free(m);
}

static void as_it_grows_and_all_at_once(void **state)
{
	struct map *grown = calloc(1, sizeof(*grown)), *whole = calloc(1, sizeof(*whole));
	struct folder f;
	struct gather g;

	(void)state;
	assert_non_null(grown);
	assert_non_null(whole);
	folder_make(&f);
	assert_int_equal(gather_begin(&g), 0);
	/* 20 s of it in pieces, each from a recording that has so much and no more. */
	for (unsigned n = 100; n <= 2000; n += 380) {
		write_story(f.file, n);
		take(grown, &g, f.file, BEGIN + n * 10 * MS - 300 * MS, false);
		if (n == 2000)
			take(grown, &g, f.file, UINT64_MAX, true);
		unlink(f.file);
	}
	gather_end(&g);
	write_story(f.file, 2000);
	assert_int_equal(gather_begin(&g), 0);
	take(whole, &g, f.file, UINT64_MAX, true);
	gather_end(&g);
	assert_true(grown->puts > grown->n);
	assert_int_equal(grown->n, whole->n);
	qsort(grown->o, grown->n, sizeof(struct object), by_key);
	qsort(whole->o, whole->n, sizeof(struct object), by_key);
	for (size_t i = 0; i < whole->n; i++) {
		assert_string_equal(grown->o[i].key, whole->o[i].key);
		assert_int_equal(grown->o[i].len, whole->o[i].len);
		assert_memory_equal(grown->o[i].data, whole->o[i].data, whole->o[i].len);
	}
	map_free(grown);
	map_free(whole);
	folder_remove(&f);
}

static json_t *field(json_t *o, const char *name)
{
	json_t *v = json_object_get(o, name);

	if (!v)
		fail_msg("no %s", name);
	return v;
}

static void look_at_phase(json_t *o, unsigned *seen, unsigned *explained)
{
	const char *kind = json_string_value(field(o, "kind"));
	const char *explain = json_string_value(field(o, "explain"));
	unsigned long long wall = 1700000000000000000ull, mono;

	mono = (unsigned long long)json_integer_value(field(o, "mono_ns"));
	assert_int_equal(json_integer_value(field(o, "time_ns")), wall + mono - BEGIN);
	assert_int_equal(json_integer_value(field(o, "end_ns")), mono);
	assert_true(json_is_integer(field(o, "peak_bytes")));
	assert_true(json_is_string(field(o, "stage")));
	assert_int_equal(
	    strncmp(json_string_value(field(o, "timestamp")), "2023-11-14T22:13:2", 18), 0);
	assert_null(json_object_get(o, "owns_peak"));
	(*seen)++;
	if (strcmp(kind, "between") != 0) {
		assert_non_null(explain);
		assert_int_equal(json_integer_value(field(o, "num_threads")), 7);
		assert_int_equal(strncmp(explain, "what it is ", 11), 0);
		(*explained)++;
	}
}

/* 9 s of the story: 300 phases, of which each second has its first five apart. */
static void nothing_is_missing(void **state)
{
	struct map *m = calloc(1, sizeof(*m));
	unsigned phases = 0, explained = 0, samples = 0, alone = 0;
	size_t text = 0;
	struct folder f;
	struct gather g;

	(void)state;
	assert_non_null(m);
	folder_make(&f);
	write_story(f.file, 900);
	assert_int_equal(gather_begin(&g), 0);
	take(m, &g, f.file, UINT64_MAX, true);
	gather_end(&g);
	for (size_t i = 0; i < m->n; i++) {
		json_t *o = json_loadb(m->o[i].data, m->o[i].len, 0, NULL), *all;
		bool is_phase = !strncmp(m->o[i].key, "checkpoints/", 12);

		if (!strncmp(m->o[i].key, "stderr/", 7)) {
			text += m->o[i].len;
			continue;
		}
		assert_non_null(o);
		all = json_object_get(o, is_phase ? "checkpoints" : "samples");
		alone += is_phase && !all;
		for (size_t k = 0; k < (all ? json_array_size(all) : 1); k++) {
			json_t *row = all ? json_array_get(all, k) : o;

			if (is_phase)
				look_at_phase(row, &phases, &explained);
			else
				samples += json_integer_value(field(row, "rss_bytes")) > 0 &&
					   json_integer_value(field(row, "num_threads")) == 4;
		}
		json_decref(o);
	}
	assert_int_equal(samples, 1800);
	assert_int_equal(phases, 330);
	assert_int_equal(explained, 300);
	assert_in_range(alone, 9 * 5, 10 * 5);
	/* "line 3\n" to "line 900\n": 3 of one digit, 30 of two, 267 of three. */
	assert_int_equal(text, 3 * 7 + 30 * 8 + 267 * 9);
	map_free(m);
	folder_remove(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(as_it_grows_and_all_at_once),
	    cmocka_unit_test(nothing_is_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
