/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Any bytes as an executable of a traced program: what user/resolve finds in it. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "resolve/demangle.h"
#include "resolve/elf.h"
#include "resolve/exits.h"
#include "resolve/functions.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int count(void *ctx, enum elf_dynamic what, const char *string)
{
	unsigned int *n = ctx;

	(void)what;
	*n += string[0] != 0;
	return 0;
}

#define LOOKED_AT 16 /* functions of a file */

static void functions(int fd, size_t size)
{
	static struct exits e;
	char name[DEMANGLED_MAX];
	const struct function *fn;
	struct functions *f;
	size_t n;

	if (functions_open(&f, fd))
		return;
	fn = functions_list(f, &n);
	for (size_t i = 0; i < n && i < LOOKED_AT; i++) {
		demangle(fn[i].name, true, name);
		functions_is_go(f, fn[i].at);
		if (exits_find(f, &fn[i], &e))
			continue;
		if (functions_offset(f, e.entry) >= size)
			abort(); /* a probe outside the file */
		for (unsigned int k = 0; k < e.n; k++)
			if (!functions_offset(f, e.site[k].at))
				abort();
	}
	functions_free(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct elf_script script;
	struct elf_sites sites;
	unsigned int strings = 0;
	char path[64];
	uint8_t id[20];
	int n;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	n = elf_find_markers(fd, &sites);
	if (n > (int)ELF_SITES_MAX || (n >= 0 && (unsigned int)n != sites.n))
		abort();
	for (int i = 0; i < n; i++)
		if (!sites.site[i].entry || sites.site[i].entry >= size)
			abort(); /* a probe outside the file */
	n = elf_build_id(fd, id, sizeof(id));
	if (n > (int)sizeof(id))
		abort();
	n = elf_interp(fd, path, sizeof(path));
	if (n >= (int)sizeof(path))
		abort();
	elf_dynamic_strings(fd, count, &strings);
	elf_script_interpreter(fd, &script);
	elf_find_unwinding(fd, &sites);
	functions(fd, size);
	close(fd);
	return 0;
}
