/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "source/marked.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "resolve/elf.h"
#include "resolve/proc.h"
#include "source/find.h"

/* As a mapping tells of it: of one machine, that is enough. */
struct file_key {
	uint64_t dev, inode;
};

struct marked_file {
	struct file_key key;
	unsigned int sites;
	pid_t last; /* process that was counted with it: a file has several mappings */
	UT_hash_handle hh;
};

struct marked {
	struct marked_file *files;
};

struct counting {
	struct marked *m;
	const char *proc;
	pid_t pid;
	int sites;
};

struct marked *marked_new(void)
{
	return calloc(1, sizeof(struct marked));
}

void marked_free(struct marked **mp)
{
	struct marked_file *f, *next;

	if (!*mp)
		return;
	HASH_ITER (hh, (*mp)->files, f, next) {
		HASH_DEL((*mp)->files, f);
		free(f);
	}
	free(*mp);
	*mp = NULL;
}

static unsigned int sites_of(const struct counting *c, const struct proc_map *map)
{
	struct elf_sites sites = {.n = 0};
	char path[PATH_MAX];
	int fd;

	if (find_mapping(c->proc, c->pid, map, path))
		return 0;
	/* A device in its place must not hold us up. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return 0;
	if (elf_find_markers(fd, &sites) < 0)
		sites.n = 0;
	close(fd);
	return sites.n;
}

static int count_mapping(void *ctx, const struct proc_map *map)
{
	struct counting *c = ctx;
	struct marked_file *f;
	struct file_key key = {(uint64_t)map->dev_major << 32 | map->dev_minor, map->inode};

	if (!map->executable || !map->inode)
		return 0;
	HASH_FIND(hh, c->m->files, &key, sizeof(key), f);
	if (!f) {
		f = calloc(1, sizeof(*f));
		if (!f)
			return -ENOMEM;
		f->key = key;
		f->sites = sites_of(c, map);
		HASH_ADD(hh, c->m->files, key, sizeof(f->key), f);
		if (!f->hh.tbl) {
			free(f);
			return -ENOMEM;
		}
	}
	if (f->last != c->pid)
		c->sites += (int)f->sites;
	f->last = c->pid;
	return 0;
}

int marked_sites(struct marked *m, const char *proc, pid_t pid)
{
	struct counting c = {.m = m, .proc = proc, .pid = pid};
	int err = proc_maps_each(proc, pid, count_mapping, &c);

	return err ? err : c.sites;
}
