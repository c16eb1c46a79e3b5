/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Symbols named log_rss. Symbol tables of large programs have 100 MB and more: the strings are
 * searched first, in pieces, for the few offsets where the name stands; most files end there. Then
 * the symbols are read in pieces for those offsets, without looking at a string.
 */
#include "resolve/elf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "resolve/elf_file.h"

#define PIECE (64u << 10)
#define TABLE_MAX (512ull << 20) /* longer tables are not searched: bounds the time, not memory */
#define NAMES_MAX 64u /* a name is there once, or a few times as the tail of longer ones */
#define SECTIONS_PIECE 64u

/* log_rss in C, and log_rss(const char *) in C++, each with its NUL. */
static const struct {
	const char *name;
	size_t len;
} names[] = {
    {"log_rss", sizeof("log_rss")},
    {"_Z7log_rssPKc", sizeof("_Z7log_rssPKc")},
};
#define NAME_LEN_MAX sizeof("_Z7log_rssPKc")

struct search {
	const struct elf_file *f;
	uint8_t *buf; /* PIECE + NAME_LEN_MAX bytes */
	unsigned int n;
	uint32_t offset[NAMES_MAX]; /* in the string table */
	struct elf_sites *out;
};

static void names_in_piece(struct search *s, uint64_t base, size_t len)
{
	for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
		const uint8_t *p = s->buf, *end = s->buf + len;

		while ((p = memmem(p, (size_t)(end - p), names[k].name, names[k].len))) {
			uint64_t at = base + (uint64_t)(p - s->buf);

			/* pieces overlap: one may be seen twice, which costs a slot and no more */
			if (s->n < NAMES_MAX)
				s->offset[s->n++] = (uint32_t)at;
			p++;
		}
	}
}

static int search_strings(struct search *s, const Elf64_Shdr *strings)
{
	uint64_t size = strings->sh_size;

	s->n = 0;
	if (strings->sh_type != SHT_STRTAB || size > TABLE_MAX)
		return 0;
	for (uint64_t pos = 0; pos < size; pos += PIECE) {
		size_t len = PIECE + NAME_LEN_MAX;
		int err;

		if (len > size - pos)
			len = size - pos;
		err = elf_file_read(s->f, strings->sh_offset + pos, s->buf, len);
		if (err)
			return err;
		names_in_piece(s, pos, len);
	}
	return 0;
}

static void add_function(struct search *s, const Elf64_Sym *sym)
{
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	struct elf_site site = {.kind = ELF_SITE_OWN_FUNCTION};
	uint8_t code[sizeof(endbr64)];
	uint64_t past;

	if (ELF64_ST_TYPE(sym->st_info) != STT_FUNC || sym->st_shndx == SHN_UNDEF)
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
					add_function(s, &syms[i]);
		left -= n;
		off += n * sizeof(*syms);
	}
	return 0;
}

static int read_section(const struct elf_file *f, uint64_t i, Elf64_Shdr *sh, size_t n)
{
	if (i > UINT16_MAX)
		return -ENODATA;
	return elf_file_records(f, f->ehdr.e_shoff + i * sizeof(*sh), sh, n, sizeof(*sh),
				ELF_T_SHDR);
}

/* The first section of that type: a linked object has one symbol table of each kind. */
static int find_section(const struct elf_file *f, uint32_t type, Elf64_Shdr *out)
{
	Elf64_Shdr sh[SECTIONS_PIECE];

	if (!f->ehdr.e_shoff || f->ehdr.e_shentsize != sizeof(*sh))
		return -ENOENT;
	for (unsigned int i = 0; i < f->ehdr.e_shnum; i += SECTIONS_PIECE) {
		unsigned int left = f->ehdr.e_shnum - i;
		unsigned int n = left < SECTIONS_PIECE ? left : SECTIONS_PIECE;
		int err = read_section(f, i, sh, n);

		if (err)
			return err;
		for (unsigned int k = 0; k < n; k++)
			if (sh[k].sh_type == type) {
				*out = sh[k];
				return 0;
			}
	}
	return -ENOENT;
}

static int search_table(struct search *s, uint32_t type)
{
	Elf64_Shdr table, strings;
	int err = find_section(s->f, type, &table);

	if (!err && table.sh_link >= s->f->ehdr.e_shnum)
		err = -ENOENT;
	if (!err)
		err = read_section(s->f, table.sh_link, &strings, 1);
	if (!err)
		err = search_strings(s, &strings);
	if (!err && s->n)
		err = search_symbols(s, &table);
	/* a table that is not all there: what it holds cannot be known, what others hold can */
	return err == -ENOENT || err == -ENODATA ? 0 : err;
}

int elf_symbols_find(const struct elf_file *f, struct elf_sites *out)
{
	struct search s = {.f = f, .out = out};
	int err;

	s.buf = malloc(PIECE + NAME_LEN_MAX);
	if (!s.buf)
		return -ENOMEM;
	err = search_table(&s, SHT_SYMTAB);
	if (!err)
		err = search_table(&s, SHT_DYNSYM);
	free(s.buf);
	return err;
}
