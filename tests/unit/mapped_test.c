/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Records of perf's side band, made by hand: whole, torn, and hostile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <cmocka.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>

#include "source/mappings.h"

struct text {
	uint64_t words[128];
	size_t size;
};

static void put(struct text *t, const void *bytes, size_t n)
{
	memcpy((char *)t->words + t->size, bytes, n);
	t->size += n;
}

static void put32(struct text *t, uint32_t v)
{
	put(t, &v, sizeof(v));
}

static void put64(struct text *t, uint64_t v)
{
	put(t, &v, sizeof(v));
}

static void set_head(struct text *t, uint32_t type, uint16_t misc, uint16_t size)
{
	struct perf_event_header head = {.type = type, .misc = misc, .size = size};

	memcpy(t->words, &head, sizeof(head));
}

/* The name, its NUL, up to the next multiple of 8; the time; then the head. */
static void finish(struct text *t, uint32_t type, uint16_t misc, const char *name)
{
	put(t, name, strlen(name) + 1);
	while (t->size % 8)
		put(t, "", 1);
	put64(t, 777);
	set_head(t, type, misc, (uint16_t)t->size);
}

static struct text mmap2(const char *name, uint64_t ino, uint32_t prot)
{
	struct text t = {.size = sizeof(struct perf_event_header)};

	put32(&t, 42);
	put32(&t, 43);
	put64(&t, 0x7f0000001000);
	put64(&t, 0x2000);
	put64(&t, 0x1000);
	put32(&t, 253);
	put32(&t, 1);
	put64(&t, ino);
	put64(&t, 99);
	put32(&t, prot);
	put32(&t, 0);
	finish(&t, PERF_RECORD_MMAP2, 0, name);
	return t;
}

static struct text comm(uint16_t misc)
{
	struct text t = {.size = sizeof(struct perf_event_header)};

	put32(&t, 42);
	put32(&t, 43);
	finish(&t, PERF_RECORD_COMM, misc, "etl");
	return t;
}

static void a_library(void **state)
{
	struct text t = mmap2("/opt/lib\xff.so", 5, PROT_READ | PROT_EXEC);
	struct mapped_record r;

	(void)state;
	assert_int_equal(mapped_decode(t.words, t.size, &r), 0);
	assert_int_equal(r.kind, MAPPED_FILE);
	assert_int_equal(r.pid, 42);
	assert_int_equal(r.time_ns, 777);
	assert_int_equal(r.start, 0x7f0000001000);
	assert_int_equal(r.end, 0x7f0000003000);
	assert_int_equal(r.offset, 0x1000);
	assert_int_equal(r.dev_major, 253);
	assert_int_equal(r.dev_minor, 1);
	assert_int_equal(r.ino, 5);
	assert_int_equal(r.generation, 99);
	assert_string_equal(r.path, "/opt/lib\xff.so");
}

/* The vdso and anonymous memory have no inode; data is not asked for. */
static void of_no_interest(void **state)
{
	struct text t = mmap2("[vdso]", 0, PROT_READ | PROT_EXEC);
	struct mapped_record r;

	(void)state;
	assert_int_equal(mapped_decode(t.words, t.size, &r), 0);
	assert_int_equal(r.kind, MAPPED_NONE);
	t = mmap2("/data", 5, PROT_READ);
	assert_int_equal(mapped_decode(t.words, t.size, &r), 0);
	assert_int_equal(r.kind, MAPPED_NONE);
	/* A thread that names itself has executed nothing. */
	t = comm(0);
	assert_int_equal(mapped_decode(t.words, t.size, &r), 0);
	assert_int_equal(r.kind, MAPPED_NONE);
	set_head(&t, PERF_RECORD_MAX + 5, 0, (uint16_t)t.size);
	assert_int_equal(mapped_decode(t.words, t.size, &r), 0);
	assert_int_equal(r.kind, MAPPED_NONE);
}

static void an_exec(void **state)
{
	struct text t = comm(PERF_RECORD_MISC_COMM_EXEC);
	struct mapped_record r;

	(void)state;
	assert_int_equal(mapped_decode(t.words, t.size, &r), 0);
	assert_int_equal(r.kind, MAPPED_EXEC);
	assert_int_equal(r.pid, 42);
	assert_int_equal(r.time_ns, 777);
}

static void long_name_is_cut(void **state)
{
	char name[700];
	struct mapped_record r;
	struct text t;

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	name[0] = '/';
	name[sizeof(name) - 1] = '\0';
	t = mmap2(name, 5, PROT_EXEC);
	assert_int_equal(mapped_decode(t.words, t.size, &r), 0);
	assert_int_equal(strlen(r.path), MAPPED_PATH_MAX - 1);
}

/* Every beginning of a record, and sizes and ends that lie. */
static void torn(void **state)
{
	struct text whole = mmap2("/opt/lib.so", 5, PROT_EXEC), t;
	struct mapped_record r;

	(void)state;
	for (size_t n = 0; n < whole.size; n++)
		assert_int_equal(mapped_decode(whole.words, n, &r), -EBADMSG);
	/* No NUL in the name. */
	t = whole;
	memset((char *)t.words + 64 + 8, 'x', t.size - 64 - 16);
	memset((char *)t.words + 72, 'x', t.size - 72);
	assert_int_equal(mapped_decode(t.words, t.size, &r), -EBADMSG);
	/* A mapping that ends before it begins. */
	t = whole;
	t.words[3] = UINT64_MAX - 5;
	assert_int_equal(mapped_decode(t.words, t.size, &r), -EBADMSG);
	/* Too short for what it says it is. */
	for (uint16_t size = 8; size < 72; size += 8) {
		t = whole;
		set_head(&t, PERF_RECORD_MMAP2, 0, size);
		assert_int_equal(mapped_decode(t.words, size, &r), -EBADMSG);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_library), cmocka_unit_test(of_no_interest),
	    cmocka_unit_test(an_exec),	 cmocka_unit_test(long_name_is_cut),
	    cmocka_unit_test(torn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
