/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions by name. Symbol tables of large programs have 100 MB and more: the strings are
 * searched first, in pieces, for the few offsets where the name stands; most files end there. Then
 * the symbols are read in pieces for those offsets, without looking at a string.
 */
#include "resolve/elf.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "resolve/demangle.h"
#include "resolve/elf_file.h"
#include "resolve/own_log_rss.h"

#define PIECE (64u << 10)
#define TABLE_MAX (512ull << 20) /* longer tables are not searched: bounds the time, not memory */
#define NAMES_MAX 64u /* a name is there once, or a few times as the tail of longer ones */

struct name {
	const char *name;
	size_t len; /* with its NUL */
	enum elf_site_kind kind;
	bool tail;    /* also where more stands before it: Rust's name of the crate */
	bool mangled; /* a part of names that own_log_rss() knows more of */
};
#define NAME(s) .name = (s), .len = sizeof(s)

/* In C; in C++, whatever it is in and takes. */
static const struct name log_rss_names[] = {
    {NAME("log_rss"), .kind = ELF_SITE_OWN_FUNCTION},
    {.name = "7log_rss",
     .len = strlen("7log_rss"),
     .kind = ELF_SITE_OWN_FUNCTION,
     .tail = true,
     .mangled = true},
};

/* glibc, musl; the runtimes of C++ and Rust. */
static const struct name unwind_names[] = {
    {NAME("__cxa_begin_catch"), .kind = ELF_SITE_CAUGHT},
    {NAME("__rust_panic_cleanup"), .kind = ELF_SITE_CAUGHT, .tail = true},
    {NAME("longjmp"), .kind = ELF_SITE_LONGJMP},
    {NAME("_longjmp"), .kind = ELF_SITE_LONGJMP},
    {NAME("siglongjmp"), .kind = ELF_SITE_LONGJMP},
    {NAME("__libc_longjmp"), .kind = ELF_SITE_LONGJMP},
    {NAME("__libc_siglongjmp"), .kind = ELF_SITE_LONGJMP},
    {NAME("__longjmp_chk"), .kind = ELF_SITE_LONGJMP},
};
#define NAME_LEN_MAX sizeof("__rust_panic_cleanup")
#define BEFORE 256u /* bytes of a name before a tail */
#define BUF_SIZE (BEFORE + PIECE + NAME_LEN_MAX)

struct search {
	const struct elf_file *f;
	const struct name *name;
	size_t nnames;
	uint8_t *buf; /* BUF_SIZE bytes */
	unsigned int n;
	uint32_t offset[NAMES_MAX];	     /* in the string table */
	const struct name *found[NAMES_MAX]; /* there */
	uint64_t strings;		     /* where that is */
	bool imported;			     /* one is another file's */
	struct elf_sites *out;
};

static void names_in_piece(struct search *s, uint64_t base, size_t len)
{
	for (size_t k = 0; k < s->nnames; k++) {
		const uint8_t *p = s->buf, *end = s->buf + len;

		while ((p = memmem(p, (size_t)(end - p), s->name[k].name, s->name[k].len))) {
			const uint8_t *start = p;
			uint64_t at;

			while (s->name[k].tail && start > s->buf && start[-1])
				start--;
			at = base + (uint64_t)(start - s->buf);

			/* pieces overlap: one may be seen twice, which costs a slot and no more */
			if (s->n < NAMES_MAX) {
				s->found[s->n] = &s->name[k];
				s->offset[s->n++] = (uint32_t)at;
			}
			p++;
		}
	}
}

static int search_strings(struct search *s, const Elf64_Shdr *strings)
{
	uint64_t size = strings->sh_size;

	s->n = 0;
	s->strings = strings->sh_offset;
	if (strings->sh_type != SHT_STRTAB || size > TABLE_MAX)
		return 0;
	for (uint64_t pos = 0; pos < size; pos += PIECE) {
		uint64_t from = pos > BEFORE ? pos - BEFORE : 0;
		size_t len = BUF_SIZE;
		int err;

		if (len > size - from)
			len = size - from;
		err = elf_file_read(s->f, strings->sh_offset + from, s->buf, len);
		if (err)
			return err;
		names_in_piece(s, from, len);
	}
	return 0;
}

/* What cannot be taken for sure is kept to be told of: the first such function. */
static bool takes_label_first(struct search *s, const Elf64_Sym *sym)
{
	char symbol[MANGLED_MAX], name[DEMANGLED_MAX];
	enum own_log_rss own;

	if (elf_file_string(s->f, s->strings + sym->st_name, symbol, sizeof(symbol)) < 0)
		return false;
	own = own_log_rss(symbol);
	if (own == OWN_UNSURE && !*s->out->passed && demangle(symbol, false, name))
		snprintf(s->out->passed, ELF_PASSED_MAX, "%.*s", (int)ELF_PASSED_MAX - 1, name);
	return own == OWN_LABEL_FIRST;
}

static void add_function(struct search *s, const Elf64_Sym *sym, const struct name *name)
{
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	struct elf_site site = {.kind = name->kind};
	uint8_t code[sizeof(endbr64)];
	uint64_t past;

	s->imported |= sym->st_shndx == SHN_UNDEF && !name->mangled;
	if (ELF64_ST_TYPE(sym->st_info) != STT_FUNC || sym->st_shndx == SHN_UNDEF)
		return;
	if (name->mangled && !takes_label_first(s, sym))
		return;
	if (elf_file_offset(s->f, sym->st_value, 1, PF_X, &site.entry) || !site.entry)
		return;
	/* The kernel single-steps an endbr64; the next instruction finds the same registers. */
	if (s->f->ehdr.e_machine == EM_X86_64 &&
	    !elf_file_offset(s->f, sym->st_value + sizeof(code), 1, PF_X, &past) &&
	    !elf_file_read(s->f, site.entry, code, sizeof(code)) &&
	    !memcmp(code, endbr64, sizeof(code)))
		site.entry = past;
	elf_sites_add(s->out, &site);
}

static int search_symbols(struct search *s, const Elf64_Shdr *table)
{
	const size_t piece = PIECE / sizeof(Elf64_Sym);
	Elf64_Sym *syms = (Elf64_Sym *)s->buf;
	uint64_t left = table->sh_size / sizeof(Elf64_Sym), off = table->sh_offset;

	if (table->sh_entsize != sizeof(Elf64_Sym) || table->sh_size > TABLE_MAX)
		return 0;
	while (left) {
		size_t n = left < piece ? left : piece;
		int err = elf_file_records(s->f, off, syms, n, sizeof(*syms), ELF_T_SYM);

		if (err)
			return err;
		for (size_t i = 0; i < n; i++)
			for (unsigned int k = 0; k < s->n; k++)
				if (syms[i].st_name == s->offset[k])
					add_function(s, &syms[i], s->found[k]);
		left -= n;
		off += n * sizeof(*syms);
	}
	return 0;
}

static int search_table(struct search *s, uint32_t type)
{
	Elf64_Shdr table, strings;
	int err = elf_file_section(s->f, type, &table);

	if (!err && table.sh_link >= s->f->ehdr.e_shnum)
		err = -ENOENT;
	if (!err)
		err = elf_file_sections(s->f, table.sh_link, &strings, 1);
	if (!err)
		err = search_strings(s, &strings);
	if (!err && s->n)
		err = search_symbols(s, &table);
	/* a table that is not all there: what it holds cannot be known, what others hold can */
	return err == -ENOENT || err == -ENODATA ? 0 : err;
}

static int search_both(struct search *s)
{
	int err;

	s->buf = malloc(BUF_SIZE);
	if (!s->buf)
		return -ENOMEM;
	err = search_table(s, SHT_SYMTAB);
	if (!err)
		err = search_table(s, SHT_DYNSYM);
	free(s->buf);
	return err;
}

int elf_symbols_find(const struct elf_file *f, struct elf_sites *out)
{
	struct search s = {
	    .f = f,
	    .name = log_rss_names,
	    .nnames = sizeof(log_rss_names) / sizeof(log_rss_names[0]),
	    .out = out,
	};
	int err = search_both(&s);

	/* Of a file that has another one, or calls one, this is no more than a way to it. */
	if (out->n || s.imported)
		*out->passed = '\0';
	return err;
}

int elf_find_unwinding(int fd, struct elf_sites *out)
{
	struct elf_file f;
	struct search s = {
	    .f = &f,
	    .name = unwind_names,
	    .nnames = sizeof(unwind_names) / sizeof(unwind_names[0]),
	    .out = out,
	};
	int err = elf_file_init(&f, fd);

	memset(out, 0, sizeof(*out));
	if (!err)
		err = search_both(&s);
	return err ? err : (int)out->n;
}

int elf_has_symbols(int fd)
{
	struct elf_file f;
	Elf64_Shdr table;
	int err = elf_file_init(&f, fd);

	err = err ? err : elf_file_section(&f, SHT_SYMTAB, &table);
	return err == -ENOENT ? 0 : err ? err : 1;
}
