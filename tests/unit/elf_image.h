/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A small ELF file made by hand, for tests: one executable segment that maps the whole file at
 * IMAGE_BASE, notes, code, dynamic section, symbols. Everything at a fixed place, so that
 * tests can break it where they like.
 */
#ifndef TESTS_UNIT_ELF_IMAGE_H
#define TESTS_UNIT_ELF_IMAGE_H

#include <elf.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define IMAGE_BASE 0x400000u
#define IMAGE_NOTES 0x200u
#define IMAGE_CODE 0x800u  /* markers, 32 bytes each; then functions */
#define IMAGE_FUNCS 0xc00u /* 16 bytes each */
#define IMAGE_INTERP 0xd00u
#define IMAGE_DYN 0xd40u
#define IMAGE_STR 0xe00u
#define IMAGE_SYM 0xf00u
#define IMAGE_SHDR 0x1000u
#define IMAGE_SIZE 0x1200u
#define IMAGE_NOTE_SIZE 56u

struct image {
	uint8_t bytes[IMAGE_SIZE];
	unsigned int symbols, dynamics;
	size_t strings;
};

enum { IMAGE_LOAD, IMAGE_NOTE, IMAGE_PINTERP, IMAGE_DYNAMIC, IMAGE_PHDRS };
enum { IMAGE_NULL, IMAGE_SYMTAB, IMAGE_STRTAB, IMAGE_SHDRS };

#define IMAGE_AT(img, type, off) ((type *)(void *)((img)->bytes + (off)))
#define IMAGE_EHDR(img) IMAGE_AT(img, Elf64_Ehdr, 0)
#define IMAGE_PHDR(img, i) (&IMAGE_AT(img, Elf64_Phdr, 64)[i])
#define IMAGE_SECTION(img, i) (&IMAGE_AT(img, Elf64_Shdr, IMAGE_SHDR)[i])

static const uint8_t image_marker[] = {0x90, 0x0f, 0x1f, 0x44, 0, 0, 0x66, 0x2e, 0x0f,
				       0x1f, 0x84, 0,	 0,    0, 0, 0,	   0xc3};

static inline void image_segment(struct image *img, int i, uint32_t type, uint64_t off,
				 uint64_t size)
{
	*IMAGE_PHDR(img, i) = (Elf64_Phdr){.p_type = type,
					   .p_flags = type == PT_LOAD ? PF_R | PF_X : PF_R,
					   .p_offset = off,
					   .p_vaddr = IMAGE_BASE + off,
					   .p_filesz = size,
					   .p_memsz = size,
					   .p_align = 4};
}

static inline void image_init(struct image *img)
{
	memset(img, 0, sizeof(*img));
	*IMAGE_EHDR(img) = (Elf64_Ehdr){.e_type = ET_EXEC,
					.e_machine = EM_X86_64,
					.e_version = EV_CURRENT,
					.e_phoff = 64,
					.e_shoff = IMAGE_SHDR,
					.e_ehsize = 64,
					.e_phentsize = sizeof(Elf64_Phdr),
					.e_phnum = IMAGE_PHDRS,
					.e_shentsize = sizeof(Elf64_Shdr),
					.e_shnum = IMAGE_SHDRS};
	memcpy(img->bytes, ELFMAG "\2\1\1", 7);
	image_segment(img, IMAGE_LOAD, PT_LOAD, 0, IMAGE_SIZE);
	image_segment(img, IMAGE_NOTE, PT_NOTE, IMAGE_NOTES, 0);
	image_segment(img, IMAGE_PINTERP, PT_INTERP, IMAGE_INTERP, 28);
	image_segment(img, IMAGE_DYNAMIC, PT_DYNAMIC, IMAGE_DYN, 0);
	strcpy((char *)img->bytes + IMAGE_INTERP, "/lib64/ld-linux-x86-64.so.2");
	*IMAGE_SECTION(img, IMAGE_SYMTAB) = (Elf64_Shdr){.sh_type = SHT_SYMTAB,
							 .sh_offset = IMAGE_SYM,
							 .sh_link = IMAGE_STRTAB,
							 .sh_entsize = sizeof(Elf64_Sym)};
	*IMAGE_SECTION(img, IMAGE_STRTAB) =
	    (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = IMAGE_STR, .sh_size = 0x100};
	img->strings = 1;
}

static inline uint32_t image_string(struct image *img, const char *s)
{
	size_t at = img->strings;

	strcpy((char *)img->bytes + IMAGE_STR + at, s);
	img->strings += strlen(s) + 1;
	return (uint32_t)at;
}

/* Space for one more note with this head; its descriptor. */
static inline uint8_t *image_note(struct image *img, const char *name, uint32_t namesz,
				  uint32_t type, uint32_t descsz)
{
	uint64_t *size = &IMAGE_PHDR(img, IMAGE_NOTE)->p_filesz;
	uint8_t *at = img->bytes + IMAGE_NOTES + *size;
	uint32_t head[3] = {namesz, descsz, type};

	memcpy(at, head, sizeof(head));
	memcpy(at + 12, name, namesz);
	*size += 12 + ((namesz + 3) & ~3u) + ((descsz + 3) & ~3u);
	return at + 12 + ((namesz + 3) & ~3u);
}

/* A note as log_rss.h writes it, that speaks of marker number i, whose bytes are put there. */
static inline uint8_t *image_marker_note(struct image *img, unsigned int i)
{
	uint8_t *desc = image_note(img, "peakphase", 10, 1, 32);
	uint32_t code = IMAGE_CODE + 32 * i, head[2] = {1, EM_X86_64};
	static const int64_t site[3] = {0, 1, 6};

	memcpy(desc, head, sizeof(head));
	for (int k = 0; k < 3; k++) {
		int64_t field = desc + 8 + 8 * k - img->bytes, distance = code + site[k] - field;

		memcpy(desc + 8 + 8 * k, &distance, 8);
	}
	memcpy(img->bytes + code, image_marker, sizeof(image_marker));
	return desc;
}

/* A symbol at function number i. */
static inline Elf64_Sym *image_symbol(struct image *img, const char *name, unsigned char info,
				      unsigned int i)
{
	Elf64_Sym *sym = &IMAGE_AT(img, Elf64_Sym, IMAGE_SYM)[img->symbols++];

	*sym = (Elf64_Sym){.st_name = image_string(img, name),
			   .st_info = info,
			   .st_shndx = 1,
			   .st_value = IMAGE_BASE + IMAGE_FUNCS + 16 * i};
	IMAGE_SECTION(img, IMAGE_SYMTAB)->sh_size = img->symbols * sizeof(*sym);
	return sym;
}

static inline Elf64_Dyn *image_dynamic(struct image *img, int64_t tag, uint64_t value)
{
	Elf64_Dyn *dyn = &IMAGE_AT(img, Elf64_Dyn, IMAGE_DYN)[img->dynamics++];

	dyn->d_tag = tag;
	dyn->d_un.d_val = value;
	IMAGE_PHDR(img, IMAGE_DYNAMIC)->p_filesz = img->dynamics * sizeof(*dyn);
	return dyn;
}

/* One with everything in it. */
static inline void image_full(struct image *img)
{
	image_init(img);
	memcpy(image_note(img, "GNU", 4, NT_GNU_BUILD_ID, 20), "0123456789abcdefghij", 20);
	image_marker_note(img, 0);
	image_symbol(img, "log_rss", ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0);
	image_dynamic(img, DT_NEEDED, image_string(img, "liblogrss.so.1"));
	image_dynamic(img, DT_RUNPATH, image_string(img, "$ORIGIN/../lib"));
	image_dynamic(img, DT_SONAME, image_string(img, "libmine.so"));
	image_dynamic(img, DT_NEEDED, image_string(img, "libc.so.6"));
	image_dynamic(img, DT_STRTAB, IMAGE_BASE + IMAGE_STR);
	image_dynamic(img, DT_STRSZ, 0x100);
	image_dynamic(img, DT_NULL, 0);
}

/* The first len bytes as a file. */
static inline int image_fd(const void *bytes, size_t len)
{
	int fd = memfd_create("image", MFD_CLOEXEC);

	if (fd >= 0 && write(fd, bytes, len) != (ssize_t)len) {
		close(fd);
		return -1;
	}
	return fd;
}

#endif
