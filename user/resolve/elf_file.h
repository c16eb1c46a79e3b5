/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An open ELF file, read piece by piece: for elf*.c only. libelf's own descriptor is not used, as
 * it trusts the section count of the file with memory and maps or reads whole sections; its
 * translation between the file's form and ours is.
 */
#ifndef PEAKPHASE_RESOLVE_ELF_FILE_H
#define PEAKPHASE_RESOLVE_ELF_FILE_H

#include <gelf.h>
#include <stddef.h>
#include <stdint.h>

/* Real objects have about a dozen; the rest of a longer table is not looked at. */
#define ELF_FILE_PHDRS 64u

struct elf_file {
	int fd;
	uint64_t size;
	Elf64_Ehdr ehdr;
	unsigned int nphdr;
	Elf64_Phdr phdr[ELF_FILE_PHDRS];
};

/* Reads the headers. Nothing to close: fd stays the caller's. 0 or -errno. */
int elf_file_init(struct elf_file *f, int fd);

/* All of len bytes, else -ENODATA or -errno. */
int elf_file_read(const struct elf_file *f, uint64_t off, void *buf, size_t len);

/* The same, and turns n records of that size and type into the host's form. */
int elf_file_records(const struct elf_file *f, uint64_t off, void *buf, size_t n, size_t size,
		     Elf_Type type);

/* A NUL-terminated string of less than cap bytes: its length, -ENAMETOOLONG, -ENODATA or -errno. */
int elf_file_string(const struct elf_file *f, uint64_t off, char *buf, size_t cap);

/* File offset of len bytes at vaddr in a loaded segment with all these flags; 0 or -ENOENT. */
int elf_file_offset(const struct elf_file *f, uint64_t vaddr, uint64_t len, uint32_t flags,
		    uint64_t *off);

/* n headers of sections from number i on; 0 or -errno. */
int elf_file_sections(const struct elf_file *f, uint64_t i, Elf64_Shdr *sh, size_t n);
/* The first section of that type: a linked object has one symbol table of each kind. -ENOENT. */
int elf_file_section(const struct elf_file *f, uint32_t type, Elf64_Shdr *out);

/* Bytes in the file's order. */
uint32_t elf_file_u32(const struct elf_file *f, const uint8_t *p);
uint64_t elf_file_u64(const struct elf_file *f, const uint8_t *p);

struct elf_note {
	uint32_t type;
	const char *name; /* not terminated */
	size_t namesz;
	const uint8_t *desc;
	size_t descsz;
	uint64_t desc_vaddr;
};

/* Not 0 ends the walk, and is what the walk returns. */
typedef int (*elf_note_fn)(void *ctx, const struct elf_file *f, const struct elf_note *note);
int elf_file_notes(const struct elf_file *f, elf_note_fn fn, void *ctx);

/* Own functions named log_rss, in the symbol tables: adds to out. 0 or -errno. See elf.h. */
struct elf_sites;
int elf_symbols_find(const struct elf_file *f, struct elf_sites *out);

/* Adds a site unless it is there already. */
struct elf_site;
void elf_sites_add(struct elf_sites *out, const struct elf_site *site);

#endif
