/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>

#include <peakphase/log_rss.h>

#include "elf_image.h"
#include "resolve/elf.h"
#include "resolve/own_log_rss.h"

static int find(const struct image *img, struct elf_sites *sites)
{
	int fd = image_fd(img->bytes, sizeof(img->bytes));
	int n;

	assert_true(fd >= 0);
	n = elf_find_markers(fd, sites);
	close(fd);
	return n;
}

#ifdef PEAKPHASE_X86_64
/* Offset in the file of an address of this process, as the kernel has mapped it. */
static uint64_t mapped_offset(uintptr_t address)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long start, end, off;
	char line[512];
	uint64_t found = 0;

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &off) == 3 && address >= start &&
		    address < end)
			found = address - start + off;
	fclose(maps);
	return found;
}

/* This program itself has a marker, as the compiler and the linker make them. */
static void own_program(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct elf_sites sites;
	uint64_t want = mapped_offset((uintptr_t)peakphase_marker);

	(void)state;
	log_rss("elf_test");
	log_rss_end(log_rss_begin("elf_test"));
	assert_int_equal(log_rss_enabled(), 0);
	assert_int_equal(elf_find_markers(fd, &sites), 1);
	close(fd);
	assert_int_equal(sites.site[0].kind, ELF_SITE_MARKER);
	assert_int_equal(sites.site[0].entry, want);
	assert_int_equal(sites.site[0].nop1, want);
	assert_int_equal(sites.site[0].nop5, want + 1);
	assert_int_equal(sites.site[0].nop10, want + 6);
}
#endif

static void notes(void **state)
{
	struct elf_sites sites;
	struct image img;

	(void)state;
	image_init(&img);
	assert_int_equal(find(&img, &sites), 0);
	image_note(&img, "Linux", 6, 1, 5); /* another one, of odd length, before ours */
	image_marker_note(&img, 0);
	image_marker_note(&img, 0); /* the same from another translation unit */
	assert_int_equal(find(&img, &sites), 1);
	assert_int_equal(sites.site[0].nop1, IMAGE_CODE);
	assert_int_equal(sites.site[0].nop5, IMAGE_CODE + 1);
	assert_int_equal(sites.site[0].nop10, IMAGE_CODE + 6);
	image_marker_note(&img, 1);
	assert_int_equal(find(&img, &sites), 2);
	assert_int_equal(sites.site[1].entry, IMAGE_CODE + 32);
}

static void more_notes_than_room(void **state)
{
	struct elf_sites sites;
	struct image img;

	(void)state;
	image_init(&img);
	for (unsigned int i = 0; i < ELF_SITES_MAX + 4; i++)
		image_marker_note(&img, i);
	assert_int_equal(find(&img, &sites), ELF_SITES_MAX);
	assert_int_equal(sites.more, 4);
}

/* A note must not make us probe in the midst of an instruction, or in data. */
static void notes_that_lie(void **state)
{
	struct elf_sites sites;
	struct image img;
	uint8_t *desc;

	(void)state;
	image_init(&img);
	desc = image_marker_note(&img, 0);
	img.bytes[IMAGE_CODE + 1] = 0xe8;
	assert_int_equal(find(&img, &sites), 1);
	assert_int_equal(sites.site[0].nop1, IMAGE_CODE);
	assert_int_equal(sites.site[0].nop5, 0);
	assert_int_equal(sites.site[0].nop10, IMAGE_CODE + 6);
	img.bytes[IMAGE_CODE] = 0xcc;
	assert_int_equal(find(&img, &sites), 1);
	assert_int_equal(sites.site[0].entry, IMAGE_CODE + 6);
	img.bytes[IMAGE_CODE + 15] = 1;
	assert_int_equal(find(&img, &sites), 0);

	image_init(&img);
	desc = image_marker_note(&img, 0);
	IMAGE_PHDR(&img, IMAGE_LOAD)->p_flags = PF_R | PF_W;
	assert_int_equal(find(&img, &sites), 0);
	IMAGE_PHDR(&img, IMAGE_LOAD)->p_flags = PF_R | PF_X;
	desc[0] = 2; /* a version to come */
	assert_int_equal(find(&img, &sites), 0);
	desc[0] = 1;
	desc[4] = EM_RISCV;
	assert_int_equal(find(&img, &sites), 0);
	desc[4] = EM_X86_64;
	desc[15] = 0x7f; /* far outside */
	assert_int_equal(find(&img, &sites), 1);
	assert_int_equal(sites.site[0].nop1, 0);
}

static const unsigned char global_func = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);

static void own_functions(void **state)
{
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	struct elf_sites sites;
	struct image img;

	(void)state;
	image_init(&img);
	image_symbol(&img, "main", global_func, 0);
	image_symbol(&img, "log_rss_now", global_func, 1);
	image_symbol(&img, "my_log_rss", global_func, 2);
	assert_int_equal(find(&img, &sites), 0);
	image_symbol(&img, "log_rss", global_func, 3);
	image_symbol(&img, "log_rss", ELF64_ST_INFO(STB_LOCAL, STT_FUNC), 4);
	image_symbol(&img, "log_rss", ELF64_ST_INFO(STB_WEAK, STT_FUNC), 4); /* the same place */
	image_symbol(&img, "_Z7log_rssPKc", global_func, 5);
	image_symbol(&img, "log_rss", ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 6);
	image_symbol(&img, "log_rss", global_func, 7)->st_shndx = SHN_UNDEF;
	image_symbol(&img, "log_rss", global_func, 8)->st_value = 0x1000; /* not mapped */
	memcpy(img.bytes + IMAGE_FUNCS + 16 * 4, endbr64, sizeof(endbr64));
	assert_int_equal(find(&img, &sites), 3);
	assert_int_equal(sites.site[0].kind, ELF_SITE_OWN_FUNCTION);
	assert_int_equal(sites.site[0].entry, IMAGE_FUNCS + 16 * 3);
	assert_int_equal(sites.site[1].entry, IMAGE_FUNCS + 16 * 4 + 4);
	assert_int_equal(sites.site[2].entry, IMAGE_FUNCS + 16 * 5);
	assert_int_equal(sites.site[0].nop1 | sites.site[0].nop5 | sites.site[0].nop10, 0);
	/* the same in a stripped library */
	IMAGE_SECTION(&img, IMAGE_SYMTAB)->sh_type = SHT_DYNSYM;
	assert_int_equal(find(&img, &sites), 3);
	/* a note wins: then log_rss() is what calls the marker */
	image_marker_note(&img, 0);
	assert_int_equal(find(&img, &sites), 1);
	assert_int_equal(sites.site[0].kind, ELF_SITE_MARKER);
}

static void functions_of_cxx(void **state)
{
	static const struct {
		const char *symbol;
		enum own_log_rss own;
	} c[] = {
	    {"_Z7log_rssPKc", OWN_LABEL_FIRST},
	    {"_ZL7log_rssPKc", OWN_LABEL_FIRST},  /* static */
	    {"_Z7log_rssPKcib", OWN_LABEL_FIRST}, /* defaulted arguments */
	    {"_ZN12_GLOBAL__N_17log_rssEPKc", OWN_LABEL_FIRST},
	    {"_ZN3app12_GLOBAL__N_17log_rssEPKci", OWN_LABEL_FIRST},
	    {"_ZN3app7log_rssEPKc", OWN_UNSURE},      /* app: a namespace, a class? */
	    {"_ZNK3app7log_rssEPKc", OWN_UNSURE},     /* a method */
	    {"_ZN3app7log_rssB5cxx11EPKc", OWN_NONE}, /* a tag, and so what it returns first */
	    {"_ZN12_GLOBAL__N_13app7log_rssEPKc", OWN_UNSURE},
	    {"_Z7log_rssiPKc", OWN_UNSURE},
	    {"_Z7log_rssPc", OWN_UNSURE},
	    {"_Z7log_rssSt17basic_string_viewIcSt11char_traitsIcEE", OWN_UNSURE},
	    {"_ZN3app7log_rss17h0123456789abcdefE", OWN_UNSURE}, /* Rust */
	    {"_RNvCsdBezzDwma51_3app7log_rss", OWN_UNSURE},
	    {"_Z7log_rssv", OWN_NONE}, /* no label at all */
	    {"_ZN3app7log_rssEi", OWN_NONE},
	    {"_Z10my_log_rssPKc", OWN_NONE},
	    {"_Z11log_rss_nowPKc", OWN_NONE},
	    {"_ZN3app7log_rss3runEPKc", OWN_NONE},	    /* log_rss is a class */
	    {"_ZZN3app7log_rssEPKcENKUlvE_clEv", OWN_NONE}, /* a lambda within */
	    {"_Z7log_rssPKc.cold", OWN_NONE},
	    {"_Z7log_rssPKc.constprop.0", OWN_NONE},
	    {"_Z1fPFvPKcE", OWN_NONE},
	    {"log_rss", OWN_NONE},
	    {"_Z7log_rssP", OWN_NONE},
	    {"_Z", OWN_NONE},
	    {"", OWN_NONE},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++)
		if (own_log_rss(c[i].symbol) != c[i].own)
			fail_msg("%s is %d", c[i].symbol, own_log_rss(c[i].symbol));
}

static void own_functions_of_cxx(void **state)
{
	struct elf_sites sites;
	struct image img;

	(void)state;
	image_init(&img);
	image_symbol(&img, "_Z7log_rssv", global_func, 0);
	image_symbol(&img, "_ZN3app7log_rssEPKc", ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 0);
	assert_int_equal(find(&img, &sites), 0);
	assert_string_equal(sites.passed, "");
	image_symbol(&img, "_ZN3app7log_rssEPKc", global_func, 1);
	image_symbol(&img, "_ZN5other7log_rssEPKc", global_func, 2);
	assert_int_equal(find(&img, &sites), 0);
	assert_string_equal(sites.passed, "app::log_rss");
	/* beside one that is taken, it calls that */
	image_symbol(&img, "_Z7log_rssPKci", global_func, 3);
	image_symbol(&img, "_ZN12_GLOBAL__N_17log_rssEPKc", global_func, 4);
	assert_int_equal(find(&img, &sites), 2);
	assert_int_equal(sites.site[0].kind, ELF_SITE_OWN_FUNCTION);
	assert_int_equal(sites.site[0].entry, IMAGE_FUNCS + 16 * 3);
	assert_int_equal(sites.site[1].entry, IMAGE_FUNCS + 16 * 4);
	assert_string_equal(sites.passed, "");

	/* so it does in a program that has log_rss() of a library */
	image_init(&img);
	image_symbol(&img, "_ZN3app7log_rssEPKc", global_func, 1);
	image_symbol(&img, "log_rss", global_func, 0)->st_shndx = SHN_UNDEF;
	assert_int_equal(find(&img, &sites), 0);
	assert_string_equal(sites.passed, "");
}

/* Linkers store "log_rss" as the tail of "my_log_rss". */
static void name_within_a_name(void **state)
{
	struct elf_sites sites;
	struct image img;

	(void)state;
	image_init(&img);
	image_symbol(&img, "my_log_rss", global_func, 0);
	image_symbol(&img, "", global_func, 1)->st_name = 1 + 3;
	assert_int_equal(find(&img, &sites), 1);
	assert_int_equal(sites.site[0].entry, IMAGE_FUNCS + 16);
}

static int collect(void *ctx, enum elf_dynamic what, const char *string)
{
	static const char tag[] = {
	    [ELF_NEEDED] = 'N', [ELF_RUNPATH] = 'R', [ELF_RPATH] = 'r', [ELF_SONAME] = 'S'};
	char *out = ctx;
	size_t len = strlen(out);

	snprintf(out + len, 256 - len, "%c:%s ", tag[what], string);
	return strcmp(string, "stop") ? 0 : 7;
}

static void what_it_loads(void **state)
{
	char text[256] = "", path[64];
	uint8_t id[20];
	struct image img;
	int fd;

	(void)state;
	image_full(&img);
	fd = image_fd(img.bytes, sizeof(img.bytes));
	assert_int_equal(elf_is_elf(fd), 1);
	assert_int_equal(elf_dynamic_strings(fd, collect, text), 0);
	assert_string_equal(text, "N:liblogrss.so.1 R:$ORIGIN/../lib S:libmine.so N:libc.so.6 ");
	assert_int_equal(elf_interp(fd, path, sizeof(path)), 27);
	assert_string_equal(path, "/lib64/ld-linux-x86-64.so.2");
	assert_int_equal(elf_interp(fd, path, 20), -ENAMETOOLONG);
	assert_int_equal(elf_build_id(fd, id, sizeof(id)), 20);
	assert_memory_equal(id, "0123456789abcdefghij", 20);
	assert_int_equal(elf_build_id(fd, id, 4), 4);
	assert_int_equal(elf_has_symbols(fd), 1);
	close(fd);

	IMAGE_SECTION(&img, IMAGE_SYMTAB)->sh_type = SHT_DYNSYM;
	fd = image_fd(img.bytes, sizeof(img.bytes));
	assert_int_equal(elf_has_symbols(fd), 0);
	close(fd);

	image_init(&img);
	image_dynamic(&img, DT_NEEDED, image_string(&img, "stop"));
	image_dynamic(&img, DT_NEEDED, image_string(&img, "never"));
	image_dynamic(&img, DT_STRTAB, IMAGE_BASE + IMAGE_STR);
	image_dynamic(&img, DT_STRSZ, 0x100);
	fd = image_fd(img.bytes, sizeof(img.bytes));
	assert_int_equal(elf_dynamic_strings(fd, collect, text), 7);
	assert_int_equal(elf_build_id(fd, id, sizeof(id)), 0);
	close(fd);
}

static void scripts(void **state)
{
	static const struct {
		const char *text, *path, *arg;
		int ret;
	} c[] = {
	    {"#!/bin/sh\n", "/bin/sh", "", 0},
	    {"#!/bin/sh", "/bin/sh", "", 0},
	    {"#! \t/usr/bin/env  python3 -u \t\nrest", "/usr/bin/env", "python3 -u", 0},
	    {"#!sh -e\n", "sh", "-e", 0},
	    {"#!\n/bin/sh", "", "", -ENOEXEC},
	    {"#!   ", "", "", -ENOEXEC},
	    {"#", "", "", -ENOEXEC},
	    {"", "", "", -ENOEXEC},
	    {"\177ELF", "", "", -ENOEXEC},
	};
	struct elf_script s;
	char line[400];
	int fd;

	(void)state;
	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		fd = image_fd(c[i].text, strlen(c[i].text));
		assert_int_equal(elf_script_interpreter(fd, &s), c[i].ret);
		assert_string_equal(s.path, c[i].path);
		assert_string_equal(s.arg, c[i].arg);
		close(fd);
	}
	memset(line, 'x', sizeof(line));
	memcpy(line, "#!/", 3);
	fd = image_fd(line, sizeof(line)); /* a path that may have been cut is not executed */
	assert_int_equal(elf_script_interpreter(fd, &s), -ENOEXEC);
	close(fd);
	line[10] = ' ';
	fd = image_fd(line, sizeof(line)); /* a cut argument is */
	assert_int_equal(elf_script_interpreter(fd, &s), 0);
	assert_int_equal(strlen(s.arg), ELF_SCRIPT_LINE - 11);
	close(fd);
}

/* Everything this module has, on one file. What comes out does not matter, only that it ends. */
static void run_all(int fd)
{
	struct elf_script script;
	struct elf_sites sites;
	char text[256] = "";
	uint8_t id[20];

	assert_true(fd >= 0);
	if (elf_find_markers(fd, &sites) >= 0)
		assert_true(sites.n <= ELF_SITES_MAX);
	elf_is_elf(fd);
	elf_build_id(fd, id, sizeof(id));
	elf_interp(fd, text, sizeof(text));
	text[0] = 0;
	elf_dynamic_strings(fd, collect, text);
	elf_script_interpreter(fd, &script);
	close(fd);
}

static void truncated(void **state)
{
	struct image img;

	(void)state;
	image_full(&img);
	for (size_t len = 0; len <= sizeof(img.bytes); len += len < 0x400 ? 1 : 13)
		run_all(image_fd(img.bytes, len));
}

static void mutated(void **state)
{
	static const uint8_t values[] = {0x00, 0x7f, 0xff};
	struct image img, bad;

	(void)state;
	image_full(&img);
	for (size_t i = 0; i < sizeof(img.bytes); i++)
		for (size_t k = 0; k < sizeof(values); k++) {
			bad = img;
			bad.bytes[i] = values[k];
			if (bad.bytes[i] != img.bytes[i])
				run_all(image_fd(bad.bytes, sizeof(bad.bytes)));
		}
	srandom(1);
	for (int round = 0; round < 2000; round++) {
		bad = img;
		for (int k = 0; k < 8; k++)
			bad.bytes[(size_t)random() % sizeof(bad.bytes)] = (uint8_t)random();
		run_all(image_fd(bad.bytes, sizeof(bad.bytes)));
	}
}

/*
 * A file of 1 TiB that occupies 8 KiB, whose headers speak of tables as large. Bound: 2 s of CPU;
 * reading 512 MiB of zeros, the largest table that is searched, takes about 0.2 s.
 */
static void sparse(void **state)
{
	struct timespec before, after;
	struct image img;
	int fd;

	(void)state;
	image_full(&img);
	IMAGE_PHDR(&img, IMAGE_NOTE)->p_type = PT_NULL;
	IMAGE_SECTION(&img, IMAGE_STRTAB)->sh_size = 1ull << 39;
	IMAGE_EHDR(&img)->e_shnum = 0xffff;
	IMAGE_EHDR(&img)->e_phnum = 0xffff;
	fd = image_fd(img.bytes, sizeof(img.bytes));
	assert_int_equal(ftruncate(fd, 1ll << 40), 0);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
	run_all(fd);
	image_full(&img);
	IMAGE_PHDR(&img, IMAGE_NOTE)->p_type = PT_NULL;
	IMAGE_SECTION(&img, IMAGE_STRTAB)->sh_size = 1ull << 29;
	fd = image_fd(img.bytes, sizeof(img.bytes));
	assert_int_equal(ftruncate(fd, 1ll << 40), 0);
	run_all(fd);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
	assert_true(after.tv_sec - before.tv_sec <= 2);
}

static void not_files(void **state)
{
	int fds[2], fd = open("/proc/self", O_RDONLY | O_CLOEXEC);
	struct elf_sites sites;
	struct elf_script script;

	(void)state;
	assert_int_equal(elf_find_markers(fd, &sites), -ENOEXEC);
	assert_int_equal(elf_script_interpreter(fd, &script), -ENOEXEC);
	close(fd);
	assert_int_equal(pipe(fds), 0); /* reading it would never end */
	assert_int_equal(elf_find_markers(fds[0], &sites), -ENOEXEC);
	assert_int_equal(elf_script_interpreter(fds[0], &script), -ENOEXEC);
	close(fds[0]);
	close(fds[1]);
	assert_int_equal(elf_find_markers(-1, &sites), -EBADF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#ifdef PEAKPHASE_X86_64
	    cmocka_unit_test(own_program),
#endif
	    cmocka_unit_test(notes),
	    cmocka_unit_test(more_notes_than_room),
	    cmocka_unit_test(notes_that_lie),
	    cmocka_unit_test(own_functions),
	    cmocka_unit_test(functions_of_cxx),
	    cmocka_unit_test(own_functions_of_cxx),
	    cmocka_unit_test(name_within_a_name),
	    cmocka_unit_test(what_it_loads),
	    cmocka_unit_test(scripts),
	    cmocka_unit_test(truncated),
	    cmocka_unit_test(mutated),
	    cmocka_unit_test(sparse),
	    cmocka_unit_test(not_files),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
