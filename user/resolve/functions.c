/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "resolve/functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "resolve/elf_file.h"
#include "resolve/relocations.h"

#define SYMBOLS_MAX (64ull << 20)
#define STRINGS_MAX (512ull << 20)
#define SECTIONS_MAX 1024u
#define SECTION_NAME 32u
#define GO_BUILD_ID 4 /* type of the note "Go" */

struct functions {
	struct elf_file file;
	struct relocations relocations;
	struct function *fn;
	size_t n, cap;
	char *strings[2]; /* of .symtab and .dynsym */
	bool go;
	uint64_t go_from, go_to; /* go_to 0: not known */
};

static int read_strings(const struct elf_file *file, const Elf64_Shdr *sh, char **out)
{
	if (sh->sh_type != SHT_STRTAB || sh->sh_size > file->size)
		return -ENODATA;
	if (sh->sh_size > STRINGS_MAX)
		return -E2BIG;
	*out = malloc(sh->sh_size + 1);
	if (!*out)
		return -ENOMEM;
	(*out)[sh->sh_size] = '\0';
	return elf_file_read(file, sh->sh_offset, *out, sh->sh_size);
}

static void take_symbol(struct functions *f, const Elf64_Sym *sym, const char *strings,
			uint64_t size)
{
	unsigned int type = ELF64_ST_TYPE(sym->st_info);
	const char *name;

	if (sym->st_name >= size || sym->st_shndx == SHN_UNDEF)
		return;
	name = strings + sym->st_name;
	if (!strcmp(name, "runtime.text"))
		f->go_from = sym->st_value;
	else if (!strcmp(name, "runtime.etext"))
		f->go_to = sym->st_value;
	if (type != STT_FUNC || !*name || !functions_offset(f, sym->st_value))
		return;
	f->fn[f->n++] = (struct function){
	    .at = sym->st_value,
	    .size = sym->st_size,
	    .section = sym->st_shndx,
	    .name = name,
	};
}

static int take_symbols(struct functions *f, const Elf64_Shdr *table, const char *strings,
			uint64_t size)
{
	size_t n = table->sh_size / sizeof(Elf64_Sym);
	Elf64_Sym *syms = malloc(n * sizeof(*syms) + 1);
	struct function *fn = syms ? realloc(f->fn, (f->cap + n + 1) * sizeof(*fn)) : NULL;
	int err = -ENOMEM;

	if (fn) {
		f->fn = fn;
		f->cap += n;
		err =
		    elf_file_records(&f->file, table->sh_offset, syms, n, sizeof(*syms), ELF_T_SYM);
	}
	for (size_t i = 0; !err && i < n; i++)
		take_symbol(f, &syms[i], strings, size);
	free(syms);
	return err;
}

static int read_table(struct functions *f, uint32_t type, char **strings)
{
	Elf64_Shdr table, names;
	int err = elf_file_section(&f->file, type, &table);

	if (!err && (table.sh_link >= f->file.ehdr.e_shnum || table.sh_size > f->file.size ||
		     table.sh_entsize != sizeof(Elf64_Sym)))
		err = -ENOENT;
	if (!err && table.sh_size > SYMBOLS_MAX)
		return -E2BIG;
	err = err ? err : elf_file_sections(&f->file, table.sh_link, &names, 1);
	err = err ? err : read_strings(&f->file, &names, strings);
	err = err ? err : take_symbols(f, &table, *strings, names.sh_size);
	/* A table that is not all there tells nothing; others can. */
	return err == -ENOENT || err == -ENODATA ? 0 : err;
}

static int by_address(const void *pa, const void *pb)
{
	const struct function *a = pa, *b = pb;

	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* What stands in both tables once; sizes that can be true. */
static void tidy(struct functions *f)
{
	const struct function *next = NULL;
	size_t n = 0;

	if (!f->n)
		return;
	qsort(f->fn, f->n, sizeof(*f->fn), by_address);
	for (size_t i = 0; i < f->n; i++)
		if (!n || by_address(&f->fn[n - 1], &f->fn[i]))
			f->fn[n++] = f->fn[i];
	f->n = n;
	for (size_t i = n; i--;) {
		struct function *fn = &f->fn[i];

		if (i + 1 < n && f->fn[i + 1].at != fn->at)
			next = &f->fn[i + 1];
		if (!next)
			continue;
		/* In assembly many have none; the last of a section may have other code behind it.
		 */
		if (!fn->size && next->section == fn->section)
			fn->size = next->at - fn->at;
		if (fn->size > next->at - fn->at)
			fn->size = next->at - fn->at;
	}
}

static int go_note(void *ctx, const struct elf_file *file, const struct elf_note *note)
{
	struct functions *f = ctx;

	(void)file;
	if (note->type == GO_BUILD_ID && note->namesz >= 2 && !memcmp(note->name, "Go", 2))
		f->go = true;
	return 0;
}

/* By the table that Go's runtime walks stacks with: nobody can strip that. */
static void look_for_go(struct functions *f)
{
	const struct elf_file *file = &f->file;
	Elf64_Shdr names, sh;
	char name[SECTION_NAME];

	elf_file_notes(file, go_note, f);
	if (elf_file_sections(file, file->ehdr.e_shstrndx, &names, 1))
		return;
	for (unsigned int i = 0; i < file->ehdr.e_shnum && i < SECTIONS_MAX && !f->go; i++)
		if (!elf_file_sections(file, i, &sh, 1) &&
		    elf_file_string(file, names.sh_offset + sh.sh_name, name, sizeof(name)) > 0)
			f->go = !strcmp(name, ".gopclntab") ||
				!strcmp(name, ".data.rel.ro.gopclntab") ||
				!strcmp(name, ".go.buildinfo");
}

const struct function *functions_list(const struct functions *f, size_t *n)
{
	*n = f->n;
	return f->fn;
}

const struct function *functions_at(const struct functions *f, uint64_t at)
{
	size_t lo = 0, hi = f->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (f->fn[mid].at <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || at - f->fn[lo - 1].at >= f->fn[lo - 1].size)
		return NULL;
	return &f->fn[lo - 1];
}

const struct function *functions_named(const struct functions *f, const char *name)
{
	for (size_t i = 0; i < f->n; i++)
		if (!strcmp(f->fn[i].name, name))
			return &f->fn[i];
	return NULL;
}

bool functions_x86_64(const struct functions *f)
{
	return f->file.ehdr.e_machine == EM_X86_64;
}

bool functions_is_go(const struct functions *f, uint64_t at)
{
	if (!f->go && !f->go_to)
		return false;
	return !f->go_to || (at >= f->go_from && at < f->go_to);
}

uint64_t functions_offset(const struct functions *f, uint64_t at)
{
	uint64_t off;

	return elf_file_offset(&f->file, at, 1, PF_X, &off) ? 0 : off;
}

size_t functions_code(const struct functions *f, uint64_t at, uint8_t *code, size_t len)
{
	for (unsigned int i = 0; i < f->file.nphdr; i++) {
		const Elf64_Phdr *p = &f->file.phdr[i];
		uint64_t in = at - p->p_vaddr, n = p->p_filesz - in;

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X) || at < p->p_vaddr ||
		    in >= p->p_filesz || p->p_offset > UINT64_MAX - in)
			continue;
		n = n < len ? n : len;
		return elf_file_read(&f->file, p->p_offset + in, code, n) ? 0 : n;
	}
	return 0;
}

int functions_slot(const struct functions *f, uint64_t word, struct functions_slot *out)
{
	return relocations_slot(&f->relocations, &f->file, word, out);
}

int functions_open(struct functions **out, int fd)
{
	struct functions *f = calloc(1, sizeof(*f));
	int err;

	if (!f)
		return -ENOMEM;
	err = elf_file_init(&f->file, fd);
	err = err ? err : read_table(f, SHT_SYMTAB, &f->strings[0]);
	err = err ? err : read_table(f, SHT_DYNSYM, &f->strings[1]);
	err = err ? err : relocations_read(&f->relocations, &f->file);
	if (err) {
		functions_free(&f);
		return err;
	}
	tidy(f);
	look_for_go(f);
	*out = f;
	return 0;
}

void functions_free(struct functions **fp)
{
	struct functions *f = *fp;

	if (!f)
		return;
	free(f->strings[0]);
	free(f->strings[1]);
	free(f->fn);
	free(f->relocations.v);
	free(f);
	*fp = NULL;
}
