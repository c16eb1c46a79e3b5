/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Prints what user/resolve/elf.h finds in a file: "marker NOP1 NOP5 NOP10" as distances from the
 * first site, "function ENTRY" as an offset; "more N" when the list was cut.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "resolve/elf.h"

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	struct elf_sites sites;
	int n = fd < 0 ? -1 : elf_find_markers(fd, &sites);

	if (n < 0) {
		fprintf(stderr, "%s: %s\n", argv[argc - 1], strerror(-n));
		return 1;
	}
	for (unsigned int i = 0; i < sites.n; i++) {
		const struct elf_site *s = &sites.site[i];

		if (s->kind == ELF_SITE_MARKER)
			printf("marker %ld %ld %ld\n", (long)(s->nop1 - s->entry),
			       (long)(s->nop5 - s->entry), (long)(s->nop10 - s->entry));
		else
			printf("function 0x%lx\n", (unsigned long)s->entry);
	}
	if (sites.more)
		printf("more %u\n", sites.more);
	return 0;
}
