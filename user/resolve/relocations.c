/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "resolve/relocations.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RELOCATIONS_PIECE 512u
#define RELOCATIONS_MAX (2u << 20)
#define SECTIONS_MAX 1024u

/* A word that the loader fills. */
struct relocation {
	uint64_t word, info, addend;
	uint32_t symbols; /* section */
};

static int symbol_name(const struct elf_file *f, const struct relocation *r,
		       char name[static FUNCTIONS_NAME_MAX])
{
	uint64_t number = ELF64_R_SYM(r->info);
	Elf64_Shdr table, strings;
	Elf64_Sym sym;

	if (elf_file_sections(f, r->symbols, &table, 1) || number >= table.sh_size / sizeof(sym) ||
	    elf_file_records(f, table.sh_offset + number * sizeof(sym), &sym, 1, sizeof(sym),
			     ELF_T_SYM) ||
	    elf_file_sections(f, table.sh_link, &strings, 1) || sym.st_name >= strings.sh_size)
		return -ENOENT;
	return elf_file_string(f, strings.sh_offset + sym.st_name, name, FUNCTIONS_NAME_MAX) > 0
		   ? 0
		   : -ENOENT;
}

/* What the program cannot write to, once the loader has. */
static bool is_constant(const struct elf_file *f, uint64_t word)
{
	bool writable = false;

	for (unsigned int i = 0; i < f->nphdr; i++) {
		const Elf64_Phdr *p = &f->phdr[i];

		if (word < p->p_vaddr || word - p->p_vaddr >= p->p_memsz)
			continue;
		if (p->p_type == PT_GNU_RELRO)
			return true;
		writable |= p->p_type == PT_LOAD && p->p_flags & PF_W;
	}
	return !writable;
}

static int relocated(const struct elf_file *f, const struct relocation *r,
		     struct functions_slot *out)
{
	uint64_t type = ELF64_R_TYPE(r->info);

	/* Slots that are filled when they are first used stay writable. */
	if (type != R_X86_64_GLOB_DAT && type != R_X86_64_JUMP_SLOT && !is_constant(f, r->word))
		return -ENOENT;
	if (ELF64_R_SYM(r->info))
		return symbol_name(f, r, out->name);
	if (type != R_X86_64_RELATIVE)
		return -ENOENT;
	out->at = r->addend;
	return 0;
}

static int by_word(const void *pa, const void *pb)
{
	const struct relocation *a = pa, *b = pb;

	return a->word < b->word ? -1 : a->word > b->word;
}

int relocations_slot(const struct relocations *r, const struct elf_file *f, uint64_t word,
		     struct functions_slot *out)
{
	const struct relocation key = {.word = word}, *one;
	uint8_t bytes[8];
	uint64_t off;

	memset(out, 0, sizeof(*out));
	one = r->n ? bsearch(&key, r->v, r->n, sizeof(key), by_word) : NULL;
	if (one)
		return relocated(f, one, out);
	/* Without one of its own (static, or in a packed table): as it stands in the file. */
	if (!is_constant(f, word) || elf_file_offset(f, word, sizeof(bytes), 0, &off) ||
	    elf_file_read(f, off, bytes, sizeof(bytes)))
		return -ENOENT;
	out->at = elf_file_u64(f, bytes);
	return out->at ? 0 : -ENOENT;
}

/* What a table has more than there is room for is not known: its words cannot be told. */
static int read_table(struct relocations *r, const struct elf_file *f, const Elf64_Shdr *sh)
{
	Elf64_Rela rela[RELOCATIONS_PIECE];
	uint64_t left = sh->sh_size / sizeof(*rela), off = sh->sh_offset;
	struct relocation *more;

	if (left > RELOCATIONS_MAX - r->n)
		left = RELOCATIONS_MAX - r->n;
	if (!left)
		return 0;
	more = reallocarray(r->v, r->n + left, sizeof(*more));
	if (!more)
		return -ENOMEM;
	r->v = more;
	while (left) {
		size_t n = left < RELOCATIONS_PIECE ? left : RELOCATIONS_PIECE;

		if (elf_file_records(f, off, rela, n, sizeof(*rela), ELF_T_RELA))
			return 0;
		for (size_t i = 0; i < n; i++)
			r->v[r->n++] = (struct relocation){
			    .word = rela[i].r_offset,
			    .info = rela[i].r_info,
			    .addend = (uint64_t)rela[i].r_addend,
			    .symbols = sh->sh_link,
			};
		left -= n;
		off += n * sizeof(*rela);
	}
	return 0;
}

int relocations_read(struct relocations *r, const struct elf_file *f)
{
	Elf64_Shdr sh;
	int err = 0;

	for (unsigned int i = 0; !err && i < f->ehdr.e_shnum && i < SECTIONS_MAX; i++)
		if (!elf_file_sections(f, i, &sh, 1) && sh.sh_type == SHT_RELA &&
		    sh.sh_entsize == sizeof(Elf64_Rela) && sh.sh_size <= f->size)
			err = read_table(r, f, &sh);
	if (!err && r->n)
		qsort(r->v, r->n, sizeof(*r->v), by_word);
	return err;
}
