/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "resolve/held.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "resolve/proc.h"

struct word {
	const char *v1, *v2;
	size_t offset;
};

/* v1 tells the cgroup's own numbers first; total_ are those that its limit is about. */
static const struct word words[] = {
    {"total_cache", "file", offsetof(struct cgroup_held, cache)},
    {"total_mapped_file", "file_mapped", offsetof(struct cgroup_held, mapped)},
    {"total_shmem", "shmem", offsetof(struct cgroup_held, shmem)},
    {NULL, "kernel", offsetof(struct cgroup_held, kernel)},
};

static void take(struct cgroup_held *out, bool v1, const char *name, uint64_t bytes)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const char *want = v1 ? words[i].v1 : words[i].v2;

		if (want && !strcmp(want, name))
			memcpy((char *)out + words[i].offset, &bytes, sizeof(bytes));
	}
}

int cgroup_held(const struct cgroup_mount *m, const char *path, struct cgroup_held *out)
{
	bool v1 = m->version == CGROUP_V1;
	char dir[PATH_MAX], buf[16384];
	int err = cgroup_dir(m, path, dir);

	memset(out, 0xff, sizeof(*out));
	if (!err)
		err = proc_file_in(dir, "memory.stat", buf, sizeof(buf));
	if (err)
		return err;
	for (char *save, *line = strtok_r(buf, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		uint64_t bytes;
		char name[64];

		if (sscanf(line, "%63s %" SCNu64, name, &bytes) == 2)
			take(out, v1, name, bytes);
	}
	/* v1 has a file of its own for it, where the kernel still has it. */
	if (v1 && !proc_file_in(dir, "memory.kmem.usage_in_bytes", buf, sizeof(buf)) &&
	    sscanf(buf, "%" SCNu64, &out->kernel) != 1)
		out->kernel = CGROUP_UNKNOWN;
	return 0;
}
