/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the loader will put where: of an open ELF file, for functions.c only. */
#ifndef PEAKPHASE_RESOLVE_RELOCATIONS_H
#define PEAKPHASE_RESOLVE_RELOCATIONS_H

#include "resolve/elf_file.h"
#include "resolve/functions.h"

struct relocation;

struct relocations {
	struct relocation *v; /* by word; to be freed */
	size_t n;
};

/* All of them, up to a bound of two million. 0 or -ENOMEM. */
int relocations_read(struct relocations *r, const struct elf_file *f);
/* As functions_slot(). */
int relocations_slot(const struct relocations *r, const struct elf_file *f, uint64_t word,
		     struct functions_slot *out);

#endif
