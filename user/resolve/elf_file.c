/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "resolve/elf_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A program of 10,000 translation units with markers has 600 KiB of notes. */
#define SECTIONS_PIECE 64u
#define NOTES_MAX (1u << 20)

int elf_file_read(const struct elf_file *f, uint64_t off, void *buf, size_t len)
{
	uint8_t *p = buf;

	if (off > f->size || len > f->size - off)
		return -ENODATA;
	while (len) {
		ssize_t n = pread(f->fd, p, len, (off_t)off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n) /* truncated since we asked for its size */
			return -ENODATA;
		p += n;
		off += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

int elf_file_records(const struct elf_file *f, uint64_t off, void *buf, size_t n, size_t size,
		     Elf_Type type)
{
	Elf_Data data = {.d_buf = buf, .d_type = type, .d_version = EV_CURRENT, .d_size = n * size};
	int err = elf_file_read(f, off, buf, n * size);

	if (err)
		return err;
	return elf64_xlatetom(&data, &data, f->ehdr.e_ident[EI_DATA]) ? 0 : -ENOEXEC;
}

int elf_file_string(const struct elf_file *f, uint64_t off, char *buf, size_t cap)
{
	size_t len = cap;
	const char *end;
	int err;

	if (off >= f->size)
		return -ENODATA;
	if (len > f->size - off)
		len = f->size - off;
	err = elf_file_read(f, off, buf, len);
	if (err)
		return err;
	end = memchr(buf, 0, len);
	if (!end)
		return len == cap ? -ENAMETOOLONG : -ENODATA;
	return (int)(end - buf);
}

int elf_file_offset(const struct elf_file *f, uint64_t vaddr, uint64_t len, uint32_t flags,
		    uint64_t *off)
{
	for (unsigned int i = 0; i < f->nphdr; i++) {
		const Elf64_Phdr *p = &f->phdr[i];
		uint64_t in;

		if (p->p_type != PT_LOAD || (p->p_flags & flags) != flags || vaddr < p->p_vaddr)
			continue;
		in = vaddr - p->p_vaddr;
		if (in > p->p_filesz || len > p->p_filesz - in)
			continue;
		if (p->p_offset > f->size || in > f->size - p->p_offset ||
		    len > f->size - p->p_offset - in)
			continue;
		*off = p->p_offset + in;
		return 0;
	}
	return -ENOENT;
}

uint32_t elf_file_u32(const struct elf_file *f, const uint8_t *p)
{
	if (f->ehdr.e_ident[EI_DATA] == ELFDATA2MSB)
		return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
	return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

uint64_t elf_file_u64(const struct elf_file *f, const uint8_t *p)
{
	uint64_t first = elf_file_u32(f, p), second = elf_file_u32(f, p + 4);

	return f->ehdr.e_ident[EI_DATA] == ELFDATA2MSB ? first << 32 | second
						       : second << 32 | first;
}

static int read_header(struct elf_file *f)
{
	const unsigned char *ident = f->ehdr.e_ident;
	Elf_Data data = {.d_buf = &f->ehdr,
			 .d_type = ELF_T_EHDR,
			 .d_version = EV_CURRENT,
			 .d_size = sizeof(f->ehdr)};
	int err = elf_file_read(f, 0, &f->ehdr, sizeof(f->ehdr));

	if (err)
		return err == -ENODATA ? -ENOEXEC : err;
	if (memcmp(ident, ELFMAG, SELFMAG) || ident[EI_CLASS] != ELFCLASS64 ||
	    (ident[EI_DATA] != ELFDATA2LSB && ident[EI_DATA] != ELFDATA2MSB))
		return -ENOEXEC;
	if (!elf64_xlatetom(&data, &data, ident[EI_DATA]))
		return -ENOEXEC;
	if (f->ehdr.e_type != ET_EXEC && f->ehdr.e_type != ET_DYN)
		return -ENOEXEC;
	if (f->ehdr.e_phnum && f->ehdr.e_phentsize != sizeof(Elf64_Phdr))
		return -ENOEXEC;
	return 0;
}

int elf_file_init(struct elf_file *f, int fd)
{
	struct stat st;
	int err;

	elf_version(EV_CURRENT);
	memset(f, 0, sizeof(*f));
	f->fd = fd;
	if (fstat(fd, &st))
		return -errno;
	/* a FIFO would wait for ever, a device may do anything */
	if (!S_ISREG(st.st_mode) || st.st_size < 0)
		return -ENOEXEC;
	f->size = (uint64_t)st.st_size;
	err = read_header(f);
	if (err)
		return err;
	f->nphdr = f->ehdr.e_phnum < ELF_FILE_PHDRS ? f->ehdr.e_phnum : ELF_FILE_PHDRS;
	err =
	    elf_file_records(f, f->ehdr.e_phoff, f->phdr, f->nphdr, sizeof(Elf64_Phdr), ELF_T_PHDR);
	return err == -ENODATA ? -ENOEXEC : err;
}

int elf_file_sections(const struct elf_file *f, uint64_t i, Elf64_Shdr *sh, size_t n)
{
	if (i > UINT16_MAX)
		return -ENODATA;
	return elf_file_records(f, f->ehdr.e_shoff + i * sizeof(*sh), sh, n, sizeof(*sh),
				ELF_T_SHDR);
}

int elf_file_section(const struct elf_file *f, uint32_t type, Elf64_Shdr *out)
{
	Elf64_Shdr sh[SECTIONS_PIECE];

	if (!f->ehdr.e_shoff || f->ehdr.e_shentsize != sizeof(*sh))
		return -ENOENT;
	for (unsigned int i = 0; i < f->ehdr.e_shnum; i += SECTIONS_PIECE) {
		unsigned int left = f->ehdr.e_shnum - i;
		unsigned int n = left < SECTIONS_PIECE ? left : SECTIONS_PIECE;
		int err = elf_file_sections(f, i, sh, n);

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

static size_t align_up(size_t n, size_t align)
{
	return (n + align - 1) & ~(align - 1);
}

/* Notes one after the other in buf; each size is checked against what is left before it is added.
 */
static int walk_notes(const struct elf_file *f, const Elf64_Phdr *p, const uint8_t *buf, size_t len,
		      elf_note_fn fn, void *ctx)
{
	size_t align = p->p_align == 8 ? 8 : 4; /* 8: .note.gnu.property */
	size_t pos = 0;

	while (len - pos >= 12) {
		size_t namesz = elf_file_u32(f, buf + pos);
		size_t descsz = elf_file_u32(f, buf + pos + 4);
		struct elf_note note = {.type = elf_file_u32(f, buf + pos + 8)};
		size_t desc;
		int ret;

		if (namesz > len - pos - 12)
			break;
		desc = align_up(pos + 12 + namesz, align);
		if (desc > len || descsz > len - desc)
			break;
		note.name = (const char *)buf + pos + 12;
		note.namesz = namesz;
		note.desc = buf + desc;
		note.descsz = descsz;
		note.desc_vaddr = p->p_vaddr + desc;
		ret = fn(ctx, f, &note);
		if (ret)
			return ret;
		pos = align_up(desc + descsz, align);
		if (pos > len)
			break;
	}
	return 0;
}

int elf_file_notes(const struct elf_file *f, elf_note_fn fn, void *ctx)
{
	uint8_t *buf = NULL;
	int ret = 0;

	for (unsigned int i = 0; i < f->nphdr && !ret; i++) {
		const Elf64_Phdr *p = &f->phdr[i];
		size_t len = p->p_filesz < NOTES_MAX ? p->p_filesz : NOTES_MAX;

		if (p->p_type != PT_NOTE)
			continue;
		if (!buf) {
			buf = malloc(NOTES_MAX);
			if (!buf)
				return -ENOMEM;
		}
		ret = elf_file_read(f, p->p_offset, buf, len);
		if (ret == -ENODATA) /* this segment is not all there: others may be */
			ret = 0;
		else if (!ret)
			ret = walk_notes(f, p, buf, len, fn, ctx);
	}
	free(buf);
	return ret;
}
