/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which kernels preempt programs on tracepoints, by the names in their BTF: kernels made here, and
 * damaged ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <bpf/btf.h>
#include <linux/btf.h>
#include <stdlib.h>
#include <string.h>

#include "source/unpreempted.h"

#define DOMAIN "tracepoint_srcu_srcu_data"

/* A struct for each name. */
static struct btf *kernel(const char *const names[])
{
	struct btf *b = btf__new_empty();

	assert_non_null(b);
	for (; *names; names++)
		assert_true(btf__add_struct(b, *names, 8) > 0);
	return b;
}

static bool needed(const char *const names[])
{
	struct btf *b = kernel(names);
	uint32_t size;
	const void *raw = btf__raw_data(b, &size);
	bool r = unpreempted_needed(raw, size);

	btf__free(b);
	return r;
}

#define KERNEL(...) ((const char *const[]){__VA_ARGS__, NULL})

static void by_both_names(void **state)
{
	(void)state;
	assert_true(needed(KERNEL("task_struct", DOMAIN, "srcu_ctr", "mm_struct")));
	assert_true(needed(KERNEL("srcu_ctr", DOMAIN)));
	/* 6.1, 6.12: an ordinary domain. 6.18: none. */
	assert_false(needed(KERNEL("task_struct", DOMAIN)));
	assert_false(needed(KERNEL("srcu_ctr", "task_struct")));
	assert_false(needed(KERNEL("task_struct")));
}

static void of_calls(void **state)
{
	struct btf *b = kernel(KERNEL("task_struct", "trace_call_bpf_faultable"));
	uint32_t size;
	const void *raw = btf__raw_data(b, &size);

	(void)state;
	assert_true(unpreempted_calls_needed(raw, size));
	assert_false(unpreempted_needed(raw, size));
	assert_false(unpreempted_calls_needed(raw, size - 1));
	btf__free(b);
	b = kernel(KERNEL(DOMAIN, "srcu_ctr", "trace_call_bpf"));
	raw = btf__raw_data(b, &size);
	assert_false(unpreempted_calls_needed(raw, size));
	btf__free(b);
}

static void by_whole_names(void **state)
{
	(void)state;
	assert_false(needed(KERNEL(DOMAIN, "my_srcu_ctr", "srcu_ctrs")));
	assert_false(needed(KERNEL("x" DOMAIN, "srcu_ctr")));
	/* The part of another comes first. */
	assert_true(needed(KERNEL("my_srcu_ctr", "x" DOMAIN, "srcu_ctr", DOMAIN)));
}

/* Each in a buffer of its own size: what reads beyond it is seen by the sanitizer. */
static bool of_bytes(const void *bytes, size_t size)
{
	void *copy = malloc(size ? size : 1);
	bool r;

	assert_non_null(copy);
	memcpy(copy, bytes, size);
	r = unpreempted_needed(copy, size);
	free(copy);
	return r;
}

static void of_damaged_types(void **state)
{
	struct btf *b = kernel(KERNEL(DOMAIN, "srcu_ctr"));
	uint32_t size;
	const void *data = btf__raw_data(b, &size);
	char *raw = malloc(size);
	struct btf_header *h;

	(void)state;
	assert_non_null(raw);
	memcpy(raw, data, size);
	btf__free(b);
	assert_true(of_bytes(raw, size));
	for (uint32_t cut = 0; cut < size; cut++)
		assert_false(of_bytes(raw, cut));
	h = (struct btf_header *)raw;
	h->str_off = UINT32_MAX;
	assert_false(of_bytes(raw, size));
	h->str_off = 0;
	h->str_len = UINT32_MAX;
	assert_false(of_bytes(raw, size));
	h->str_len = size - h->hdr_len;
	assert_true(of_bytes(raw, size));
	h->hdr_len = UINT32_MAX;
	assert_false(of_bytes(raw, size));
	h->magic = 0;
	assert_false(of_bytes(raw, size));
	free(raw);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(by_both_names),
	    cmocka_unit_test(of_calls),
	    cmocka_unit_test(by_whole_names),
	    cmocka_unit_test(of_damaged_types),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
