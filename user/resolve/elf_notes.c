/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is told by notes: our markers, and the build id. */
#include "resolve/elf.h"

#include <errno.h>
#include <string.h>

#include "resolve/elf_file.h"

/* See include/peakphase/log_rss.h for the note. */
#define MARKER_NOTE "peakphase"
#define MARKER_TYPE 1
#define MARKER_VERSION 1
#define MARKER_DESC 32

static const uint8_t nop1[] = {0x90};
static const uint8_t nop5[] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
static const uint8_t nop10[] = {0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00};
static const uint8_t nop_arm64[] = {0x1f, 0x20, 0x03, 0xd5}; /* little-endian on arm64be, too */

/*
 * Offset of the instruction that field number i of the descriptor speaks of; 0 where there is none,
 * or where the bytes are not what they should be: a probe in the midst of other code would destroy
 * it.
 */
static uint64_t site_offset(const struct elf_file *f, const struct elf_note *note, unsigned int i,
			    const uint8_t *code, size_t len)
{
	unsigned int at = 8 + 8 * i;
	uint64_t distance = elf_file_u64(f, note->desc + at), off;
	uint8_t found[sizeof(nop10)];

	if (!distance)
		return 0;
	if (elf_file_offset(f, note->desc_vaddr + at + distance, len, PF_X | PF_R, &off))
		return 0;
	if (elf_file_read(f, off, found, len) || memcmp(found, code, len))
		return 0;
	return off;
}

static int marker_note(void *ctx, const struct elf_file *f, const struct elf_note *note)
{
	struct elf_sites *out = ctx;
	struct elf_site site = {.kind = ELF_SITE_MARKER};
	uint32_t machine;

	if (note->type != MARKER_TYPE || note->namesz != sizeof(MARKER_NOTE) ||
	    memcmp(note->name, MARKER_NOTE, sizeof(MARKER_NOTE)) || note->descsz < MARKER_DESC)
		return 0;
	machine = elf_file_u32(f, note->desc + 4);
	if (elf_file_u32(f, note->desc) != MARKER_VERSION || machine != f->ehdr.e_machine)
		return 0;
	if (machine == EM_X86_64) {
		site.nop1 = site_offset(f, note, 0, nop1, sizeof(nop1));
		site.nop5 = site_offset(f, note, 1, nop5, sizeof(nop5));
		site.nop10 = site_offset(f, note, 2, nop10, sizeof(nop10));
	} else if (machine == EM_AARCH64) {
		site.nop1 = site_offset(f, note, 0, nop_arm64, sizeof(nop_arm64));
	}
	site.entry = site.nop1 ? site.nop1 : site.nop5 ? site.nop5 : site.nop10;
	if (site.entry)
		elf_sites_add(out, &site);
	return 0;
}

int elf_find_markers(int fd, struct elf_sites *out)
{
	struct elf_file f;
	int err;

	memset(out, 0, sizeof(*out));
	err = elf_file_init(&f, fd);
	if (err)
		return err;
	err = elf_file_notes(&f, marker_note, out);
	if (!err && !out->n)
		err = elf_symbols_find(&f, out);
	return err ? err : (int)out->n;
}

int elf_is_elf(int fd)
{
	struct elf_file f;

	return !elf_file_init(&f, fd);
}

struct build_id {
	uint8_t *buf;
	size_t cap;
};

static int build_id_note(void *ctx, const struct elf_file *f, const struct elf_note *note)
{
	const struct build_id *id = ctx;
	size_t len = note->descsz < id->cap ? note->descsz : id->cap;

	(void)f;
	if (note->type != NT_GNU_BUILD_ID || note->namesz != 4 || memcmp(note->name, "GNU", 4))
		return 0;
	memcpy(id->buf, note->desc, len);
	return (int)len;
}

int elf_build_id(int fd, uint8_t *buf, size_t cap)
{
	struct build_id id = {buf, cap};
	struct elf_file f;
	int err = elf_file_init(&f, fd);

	return err ? err : elf_file_notes(&f, build_id_note, &id);
}
