/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The list of what can be probed in a file, each place once. */
#include "resolve/elf.h"
#include "resolve/elf_file.h"

static int same_site(const struct elf_site *a, const struct elf_site *b)
{
	return a->kind == b->kind && a->entry == b->entry && a->nop1 == b->nop1 &&
	       a->nop5 == b->nop5 && a->nop10 == b->nop10;
}

void elf_sites_add(struct elf_sites *out, const struct elf_site *site)
{
	for (unsigned int i = 0; i < out->n; i++)
		if (same_site(&out->site[i], site))
			return;
	if (out->n == ELF_SITES_MAX) {
		out->more++;
		return;
	}
	out->site[out->n++] = *site;
}
