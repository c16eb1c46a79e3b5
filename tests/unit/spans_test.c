/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What --span means: names of functions, of files, and of this program's own functions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "elf_image.h"
#include "resolve/demangle.h"
#include "resolve/functions.h"
#include "shared.h"
#include "source/span_names.h"
#include "source/spans.h"

__attribute__((noinline, used)) int spanned_one(int n);
__attribute__((noinline, used)) int spanned_two(int n);

int spanned_one(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

int spanned_two(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 2;
}

static void is_called(const char *symbol, const char *name)
{
	char out[DEMANGLED_MAX];
	size_t n = span_name(symbol, out);

	assert_string_equal(out, name);
	assert_int_equal(n, strlen(name));
}

static void test_names(void **state)
{
	char *long_name;

	(void)state;
	is_called("main", "main");
	is_called("_ZN3etl9transformERKSsi", "etl::transform");
	is_called("_ZNK3etl5tableIlE3sumEPKli", "etl::table<long>::sum");
	is_called("_ZN5parse4rows17h0123456789abcdefE", "parse::rows");
	is_called("_RNvNtCs1234_5parse7columns3all", "parse::columns::all");
	is_called("_ZN3etl4deepEi.constprop.0", "etl::deep");
	is_called("load.part.0.isra.0", "load");
	/* No mangled names. */
	is_called("_Z", "_Z");
	is_called("_ZN3etl", "_ZN3etl");
	is_called("_R", "_R");
	is_called("", "");
	is_called(".part.", ".part.");
	long_name = malloc(70000);
	assert_non_null(long_name);
	memset(long_name, 'N', 69999);
	memcpy(long_name, "_ZN", 3);
	long_name[69999] = '\0';
	assert_int_equal(demangle(long_name, true, (char[DEMANGLED_MAX]){0}), 0);
	free(long_name);
}

/* f(A<int, int>, A<A<int, int>, A<int, int> >, …): each parameter is twice the one before. */
static void test_name_without_end(void **state)
{
	static const char digit[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char symbol[512] = "_Z1f1AIiiE", out[DEMANGLED_MAX];

	(void)state;
	for (int i = 0; i < 30; i++)
		sprintf(symbol + strlen(symbol), "S_IS%c_S%c_E", digit[i], digit[i]);
	assert_int_equal(demangle(symbol, true, out), DEMANGLED_MAX - 1);
	assert_int_equal(strlen(out), DEMANGLED_MAX - 1);
	assert_memory_equal(out, "f(A<int, int>, A<A<int, int>, A<int, int> >", 43);
	assert_int_equal(demangle(symbol, false, out), 1);
	assert_string_equal(out, "f");
}

static void test_patterns(void **state)
{
	(void)state;
	assert_true(span_name_matches("main", "main"));
	assert_false(span_name_matches("main", "main2"));
	assert_true(span_name_matches("ma*", "main2"));
	assert_true(span_name_matches("etl::*", "_ZN3etl9transformERKSsi"));
	assert_true(span_name_matches("*transform*", "_ZN3etl9transformERKSsi"));
	assert_true(span_name_matches("_ZN3etl*", "_ZN3etl9transformERKSsi"));
	assert_true(span_name_matches("etl::deep(int)", "_ZN3etl4deepEi"));
	assert_true(span_name_matches("etl::deep", "_ZN3etl4deepEi"));
	assert_false(span_name_matches("etl::deep(long)", "_ZN3etl4deepEi"));
	assert_false(span_name_matches("deep", "_ZN3etl4deepEi"));
	assert_true(span_name_matches("parse::rows", "_ZN5parse4rows17h0123456789abcdefE"));
	assert_true(span_name_matches("load", "load.constprop.0"));
	assert_true(span_name_matches("load.constprop.0", "load.constprop.0"));
	/* Never called by itself. */
	assert_false(span_name_matches("load*", "load.cold"));
	assert_false(span_name_matches("etl::*", "_ZN3etl4deepEi.cold"));
}

static struct functions *own_functions(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct functions *f;

	assert_int_equal(functions_open(&f, fd), 0);
	close(fd);
	return f;
}

static void test_nearest(void **state)
{
	const char *near[SPAN_NEAREST];
	struct functions *f = own_functions();

	(void)state;
	assert_int_equal(span_names_near(f, "spaned_one", near), SPAN_NEAREST);
	assert_string_equal(near[0], "spanned_one");
	assert_string_equal(near[1], "spanned_two");
	assert_int_equal(span_names_near(f, "*PANNED_T*", near), SPAN_NEAREST);
	assert_string_equal(near[0], "spanned_two");
	functions_free(&f);
}

static void test_rules(void **state)
{
	char error[SPANS_ERROR_MAX];
	struct spans *s = spans_new();

	(void)state;
	assert_int_equal(spans_add(s, "a", error), -EINVAL);
	assert_string_equal(error, "a colon is missing");
	assert_int_equal(spans_add(s, ":f", error), -EINVAL);
	assert_string_equal(error, "the binary is missing");
	assert_int_equal(spans_add(s, "a:", error), -EINVAL);
	assert_string_equal(error, "the function is missing");
	assert_int_equal(spans_add(s, "liba.so:a::b", error), 0);
	assert_null(spans_path(s, 0));
	assert_int_equal(spans_add(s, "./a:f", error), 0);
	assert_string_equal(spans_path(s, 0), "./a");
	assert_null(spans_path(s, 1));
	for (int i = 2; i < SPANS_RULES_MAX; i++)
		assert_int_equal(spans_add(s, "./a:f", error), 0);
	assert_int_equal(spans_add(s, "./a:f", error), -EINVAL);
	assert_false(spans_failed(s));
	spans_free(&s);
	assert_null(s);
}

struct labels {
	unsigned int n;
	struct span_label label[8];
};

static int take_label(void *ctx, unsigned int number, const struct span_label *label)
{
	struct labels *l = ctx;

	assert_int_equal(number, l->n);
	assert_true(l->n < 8);
	l->label[l->n++] = *label;
	return 0;
}

/* One rule for this program, or a file: 1 if it is meant, and what comes of it. */
static int one(const char *rule, int fd, struct labels *l, struct span_sites *out, bool *failed)
{
	char error[SPANS_ERROR_MAX];
	struct spans *s = spans_new();
	int want;

	memset(l, 0, sizeof(*l));
	memset(out, 0, sizeof(*out));
	assert_int_equal(spans_add(s, rule, error), 0);
	want = spans_want(s, fd);
	if (want)
		assert_int_equal(spans_find(s, fd, take_label, l, out), 0);
	*failed = spans_failed(s);
	spans_free(&s);
	return want;
}

static void test_own_functions(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct span_sites out;
	struct labels l;
	bool failed;

	(void)state;
#if defined(__x86_64__)
	assert_true(one("spans_test:spanned_*", fd, &l, &out, &failed));
	assert_false(failed);
	assert_int_equal(out.entries, 2);
	assert_int_equal(out.exits, 2);
	assert_int_equal(out.libraries, 0);
	assert_int_equal(l.n, 2);
	assert_int_equal(out.cookie[0], 0);
	assert_int_equal(out.cookie[1], 1);
	assert_int_equal(l.label[0].len, 11);
	assert_int_equal(memcmp(l.label[0].bytes, "spanned_one", 11), 0);
	assert_true(out.entry[0] && out.exit[0] > out.entry[0]);
	span_sites_free(&out);
#endif
	assert_true(one("/proc/self/exe:spanned_three", fd, &l, &out, &failed));
	assert_true(failed);
	assert_int_equal(out.entries, 0);
	span_sites_free(&out);
	assert_false(one("spans:spanned_one", fd, &l, &out, &failed));
	assert_false(one("/spans_test:spanned_one", fd, &l, &out, &failed));
	assert_false(failed);
	close(fd);
}

static void test_library_names(void **state)
{
	int lib;
	char dir[] = "/tmp/spans-test-XXXXXX", path[64];
	struct span_sites out;
	struct labels l;
	bool failed;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/libetl.so.2.1", dir);
	lib = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(lib >= 0);
	assert_true(one("libetl.so:f", lib, &l, &out, &failed));
	assert_true(failed); /* no ELF file */
	assert_true(one("libetl.so.2.1:f", lib, &l, &out, &failed));
	assert_false(one("libetl:f", lib, &l, &out, &failed));
	assert_false(one("libetl.so.3:f", lib, &l, &out, &failed));
	/* Gone since it was mapped. */
	unlink(path);
	assert_true(one("libetl.so:f", lib, &l, &out, &failed));
	close(lib);
	rmdir(dir);
}

/* A file with Go in it is told by a note; its functions by where they lie, if that is known. */
static void test_go(void **state)
{
	const unsigned char func = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
	struct span_sites out;
	struct image img;
	struct labels l;
	bool failed;
	int fd;

	(void)state;
	image_full(&img);
	image_note(&img, "Go\0", 4, 4, 0);
	image_symbol(&img, "main.work", func, 1)->st_size = 1;
	image_symbol(&img, "in_c", func, 3)->st_size = 1;
	img.bytes[IMAGE_FUNCS + 16] = img.bytes[IMAGE_FUNCS + 48] = 0xc3; /* ret */
	fd = image_fd(img.bytes, sizeof(img.bytes));
	assert_true(one("libmine.so:in_c", fd, &l, &out, &failed));
	assert_true(failed);
	close(fd);

	image_symbol(&img, "runtime.text", STT_NOTYPE, 0);
	image_symbol(&img, "runtime.etext", STT_NOTYPE, 2);
	fd = image_fd(img.bytes, sizeof(img.bytes));
	assert_true(one("libmine.so:main.work", fd, &l, &out, &failed));
	assert_true(failed);
	assert_int_equal(out.entries, 0);
	assert_true(one("libmine.so:in_c", fd, &l, &out, &failed));
	assert_false(failed);
	assert_int_equal(out.entries, 1);
	assert_int_equal(out.entry[0], IMAGE_FUNCS + 48);
	assert_int_equal(out.exits, 1);
	span_sites_free(&out);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_names),	  cmocka_unit_test(test_name_without_end),
	    cmocka_unit_test(test_patterns),	  cmocka_unit_test(test_nearest),
	    cmocka_unit_test(test_rules),	  cmocka_unit_test(test_own_functions),
	    cmocka_unit_test(test_library_names), cmocka_unit_test(test_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
